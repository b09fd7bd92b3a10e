import Ledger
import LedgerTestSupport
import Testing

/// One event of every type and version, with fixed ids: the content of the golden files.
enum Examples {
    private static func id<Kind>(_ number: UInt128) -> EntityID<Kind> {
        EntityID(bits: 0x0190_A1B2_C3D4_7000_8000_0000_0000_0000 | number)
    }

    private static let account: AccountID = id(1)
    private static let holder: AccountID = id(2)
    private static let identity: IdentityID = id(3)
    private static let session: SessionID = id(4)
    private static let google = provider("google")
    private static let supporter = Principal(staff: id(19), role: .support)

    private static let factors = [
        MergedFactor(id: id(16), kind: .totp, account: holder, position: LogPosition(19)),
        MergedFactor(id: id(17), kind: .recoveryCodes, account: holder, position: LogPosition(20)),
    ]

    /// A type of event in one of its versions.
    struct Kind: Hashable, Sendable, CustomTestStringConvertible {
        let name: Event.Name
        let version: Int

        /// The name of its golden file.
        var testDescription: String { "\(name.rawValue).v\(version)" }
    }

    /// Every version of every type that was ever written.
    static let kinds = Event.Name.allCases.flatMap { name in
        (1...name.newestVersion).map { Kind(name: name, version: $0) }
    }

    private static func event(_ kind: Kind) -> Event {
        let isFirst = kind.version == 1
        return switch kind.name {
        case .ledgerOpened:
            .ledgerOpened(
                LedgerOpened(
                    mode: .development, encryptionKey: "0123456789abcdef",
                    macKey: isFirst ? nil : "m-1", tokenKey: "t-1"))
        case .keyRotated:
            .keyRotated(
                isFirst
                    ? KeyRotated(kind: .encryption, key: "fedcba9876543210", former: "01234567")
                    : kind.version == 2
                        ? KeyRotated(
                            macKey: "fedcba98", former: nil,
                            after: KeyRotated.Prefix(
                                root: digest(Array(repeating: 4, count: 32)), size: 1041))
                        : KeyRotated(
                            kind: .pepper, key: "0011223344556677",
                            former: KeyRotated.noFormerKey))
        case .accountOpened:
            .accountOpened(
                AccountOpened(account: account, cause: isFirst ? .signUp : .anonymous))
        case .providerLinked:
            .providerLinked(
                ProviderLinked(
                    account: account, identity: identity, provider: google,
                    cause: isFirst ? .link : .anonymous))
        case .providerUnlinked:
            .providerUnlinked(
                ProviderUnlinked(
                    account: account, identity: identity, provider: google,
                    cause: isFirst
                        ? .asked
                        : kind.version == 3
                            ? .support
                            : .upgraded(
                                ProviderUnlinked.Upgrade(
                                    successor: id(14), session: session,
                                    authenticatedAt: Timestamp(seconds: 1_790_000_000),
                                    methods: AuthenticationMethods.federated)),
                    effect: .confirmed(asker: supporter)))
        case .conflictRejected:
            .conflictRejected(
                ConflictRejected(
                    account: account, holder: holder, identity: identity, provider: google,
                    reason: .heldByOther))
        case .linkRejected:
            .linkRejected(
                LinkRejected(account: account, provider: google, reason: .invalidIDToken))
        case .unlinkRejected:
            .unlinkRejected(
                UnlinkRejected(
                    account: account, identity: identity, provider: google, reason: .onlyProvider))
        case .signedIn:
            .signedIn(
                SignedIn(
                    account: account, authenticatedAt: Timestamp(seconds: 1_790_000_000),
                    identity: identity,
                    methods: isFirst ? nil : AuthenticationMethods("otp pwd"), provider: google,
                    session: session))
        case .signedOut:
            .signedOut(SignedOut(account: account, scope: .everywhere, session: session))
        case .sessionRevoked:
            .sessionRevoked(
                SessionRevoked(account: account, reason: .refreshTokenReused, session: session))
        case .accountErased:
            .accountErased(
                AccountErased(
                    account: account, basis: .dataSubjectRequest, survivor: isFirst ? nil : holder,
                    asker: kind.version < 3 ? nil : Principal(staff: id(19), role: .admin)))
        case .legalHoldSet:
            .legalHoldSet(LegalHoldSet(account: account, hold: id(8)))
        case .legalHoldLifted:
            .legalHoldLifted(LegalHoldLifted(account: account, hold: id(8)))
        case .ledgerRestored:
            .ledgerRestored(
                LedgerRestored(
                    origin: 2, root: digest(Array(repeating: 9, count: 32)), size: 1_790_000))
        case .accountsMerged:
            .accountsMerged(
                AccountsMerged(
                    survivor: account, absorbed: holder, cause: .support,
                    moved: [link(10, "apple", 17)], dropped: [link(11, "google", 18)],
                    replaced: [], links: [link(12, "google", 12), link(10, "apple", 17)],
                    factors: isFirst ? [] : factors, plan: digest(Array(repeating: 3, count: 32)),
                    asker: isFirst ? nil : supporter))
        case .rulesSet: .rulesSet(rules(version: kind.version))
        case .addressClaimed:
            .addressClaimed(
                AddressClaimed(
                    account: account, address: id(15), kind: .email,
                    cause: isFirst ? .claimed : .imported))
        case .addressConfirmed:
            .addressConfirmed(AddressConfirmed(account: account, address: id(15), kind: .email))
        case .passwordSet:
            .passwordSet(PasswordSet(account: account, identity: identity, cause: .change))
        case .addressReleased:
            .addressReleased(AddressReleased(account: account, address: id(15), cause: .proved))
        case .addressChanged:
            .addressChanged(
                AddressChanged(
                    account: account, survivor: holder, address: id(15), former: id(18),
                    kind: .phone, cause: .change))
        case .accountNamed:
            .accountNamed(AccountNamed(account: account, source: externalName("ada").source))
        case .accountDisabled: .accountDisabled(AccountDisabled(account: account))
        case .accountEnabled: .accountEnabled(AccountEnabled(account: account))
        case .sessionsEnded: .sessionsEnded(SessionsEnded(account: account))
        case .secondFactorEnrolled:
            .secondFactorEnrolled(
                SecondFactorEnrolled(
                    account: account, factor: id(16), kind: .recoveryCodes, isFirst: false,
                    replaced: id(17)))
        case .secondFactorRemoved:
            .secondFactorRemoved(
                SecondFactorRemoved(
                    account: account, cause: isFirst ? .holder : .support, factor: id(16),
                    kind: .totp, effect: .confirmed(asker: supporter)))
        case .secondFactorRemovalPlanned:
            .secondFactorRemovalPlanned(
                SecondFactorRemovalPlanned(
                    account: account, due: Timestamp(seconds: 1_790_086_400), factor: id(16),
                    kind: .phone))
        case .secondFactorRemovalStopped:
            .secondFactorRemovalStopped(
                SecondFactorRemovalStopped(
                    account: account, cause: isFirst ? .used : .sameKind, factor: id(16)))
        case .providerUnlinkPlanned:
            .providerUnlinkPlanned(
                ProviderUnlinkPlanned(
                    account: account, due: Timestamp(seconds: 1_790_086_400), identity: identity,
                    provider: google))
        case .providerUnlinkStopped:
            .providerUnlinkStopped(
                ProviderUnlinkStopped(
                    account: account, cause: .onlyProvider, identity: identity, provider: google))
        case .passkeyRegistered:
            .passkeyRegistered(PasskeyRegistered(account: account, identity: identity))
        case .signInThrottled:
            .signInThrottled(
                SignInThrottled(account: account, identity: identity, provider: google))
        case .secondFactorRefused:
            .secondFactorRefused(
                SecondFactorRefused(account: account, identity: identity, provider: google))
        case .recoveryCodeUsed:
            .recoveryCodeUsed(RecoveryCodeUsed(account: account, code: 7, factor: id(16)))
        case .accountsUnmerged:
            .accountsUnmerged(
                AccountsUnmerged(
                    survivor: account, absorbed: holder, merge: id(13),
                    returned: [link(10, "apple", 17), link(11, "google", 18)], restored: [],
                    links: [link(12, "google", 12)], factors: kind.version < 3 ? [] : factors,
                    asker: isFirst ? nil : supporter))
        }
    }

    /// Rules in which every value differs from its default and from the others.
    static var rules: RulesSet { rules(version: 1) }

    private static func rules(version: Int) -> RulesSet {
        var policy = TenantPolicy(
            providers: [
                google: ProviderPin(
                    type: .oidc, issuers: ["https://accounts.google.com", "accounts.google.com"]),
                provider("corp"): ProviderPin(
                    type: .oidc, issuers: ["https://idp.example/a;b \"ö%"]),
            ], severalPerProvider: true)
        policy.singleUseIDTokens = true
        policy.eraseNeedsTwo = version == 2
        policy.confirmLater = version == 3
        policy.phoneUnusedDays = version == 4 ? 0 : 180
        policy.supportDelayHours = version == 5 ? 48 : 24
        policy.supportNeedsTwo = version == 5
        if version == 6 {
            policy.secondFactorMethods = [provider("corp"): "hwk mfa", google: "mfa"]
                .compactMapValues { AuthenticationMethods($0) }
            policy.counterRollbackProviders = [provider("keys"), provider("again")]
        }
        policy.linkBudget = Budget(limit: 6, windowSeconds: 3601)
        policy.signInBudget = Budget(limit: 61, windowSeconds: 3602)
        policy.reauthenticationSeconds = 601
        policy.refreshGraceSeconds = 11
        policy.sessionIdleSeconds = 2_592_001
        policy.sessionLifetimeSeconds = 31_536_001
        let former = [
            provider("apple"): ProviderPin(type: .oidc, issuers: ["https://appleid.apple.com"])
        ]
        guard let rules = RulesSet(version: 7, policy: policy, formerProviders: former) else {
            preconditionFailure("the rules fit")
        }
        return rules
    }

    private static func link(
        _ identity: UInt128, _ name: String, _ position: Int64
    ) -> Account.Link {
        Account.Link(
            identity: id(identity), provider: provider(name),
            linkedAt: Timestamp(seconds: 1_789_000_000), position: LogPosition(position))
    }

    /// Returns the actor of an event type.
    private static func actor(_ name: Event.Name, isSystem: Bool) -> Actor {
        switch name {
        case .accountErased, .legalHoldSet, .legalHoldLifted:
            .principal(Principal(key: id(9), role: .admin))
        case .accountDisabled, .accountEnabled, .sessionsEnded:
            .principal(Principal(key: id(9), role: .support))
        default:
            isSystem ? .system : .account(account, session: session)
        }
    }

    static func recorded(_ name: Event.Name) -> RecordedEvent {
        recorded(Kind(name: name, version: 1))
    }

    static func recorded(_ kind: Kind) -> RecordedEvent {
        let (name, event) = (kind.name, event(kind))
        let isSystem = event.fact.accounts.isEmpty || name == .sessionRevoked
        let isAdministered = [.accountErased, .legalHoldSet, .legalHoldLifted].contains(name)
        return RecordedEvent(
            tenant: .default, position: LogPosition(isSystem ? 0 : 1041), id: id(5),
            recordedAt: Timestamp(microseconds: 1_790_000_000_123_456),
            actor: actor(name, isSystem: isSystem), command: id(6),
            request: isSystem ? nil : id(7),
            accounts: event.fact.accounts.enumerated().map { index, account in
                AccountReference(
                    id: account,
                    previous: name == .accountOpened ? nil : digest(Array(repeating: 7, count: 32)),
                    sequence: name == .accountOpened ? 0 : Int64(index) + 3)
            },
            disclosureDigests: isSystem || isAdministered
                ? []
                : [
                    digest(Array(repeating: 1, count: 32)), digest(Array(repeating: 2, count: 32)),
                ], event: event)
    }
}
