/// Imports an account of another system, with its id there, its identities and its addresses.
///
/// An account that has the id already is left as it is, so an import can be repeated. It opens no session, and
/// takes nothing from an account of the ledger.
package struct ImportAccount: Sendable {
    /// An identity at a provider that names subjects itself.
    package struct Identity: Sendable {
        package let subject: Subject
        package let email: Email?
        package let newID: IdentityID

        /// Describes an identity.
        package init(_ subject: Subject, email: Email?, newID: IdentityID) {
            self.subject = subject
            self.email = email
            self.newID = newID
        }
    }

    /// A way to sign in with an address.
    package struct Way: Sendable {
        package let provider: ProviderName
        package let newID: IdentityID
        /// For a provider of type `password`, which has no way without one.
        package let password: NewPassword?

        /// Describes a way.
        package init(_ provider: ProviderName, newID: IdentityID, password: NewPassword? = nil) {
            self.provider = provider
            self.newID = newID
            self.password = password
        }
    }

    /// An address, and the ways to sign in with it.
    package struct Address: Sendable {
        package let address: ProvedAddress
        package let ways: [Way]
        /// Whether it was not proved to the other system: the account claims it, by its password.
        package let isClaimed: Bool

        /// Describes an address.
        package init(_ address: ProvedAddress, ways: [Way], isClaimed: Bool = false) {
            self.address = address
            self.ways = ways
            self.isClaimed = isClaimed
        }
    }

    package let name: ExternalName
    package let identities: [Identity]
    package let addresses: [Address]
    package let actor: Actor
    /// The id of the new account.
    package let newAccount: AccountID
    /// The reason to disclose for an account that the other system had disabled, and that comes disabled; nil
    /// for others.
    package let disabledReason: String?
    /// Whether nothing is changed.
    package let isPreview: Bool

    /// Requests an import.
    package init(
        _ name: ExternalName, identities: [Identity], addresses: [Address], actor: Actor,
        newAccount: AccountID, disabledReason: String? = nil, isPreview: Bool = false
    ) {
        self.name = name
        self.identities = identities
        self.addresses = addresses
        self.actor = actor
        self.newAccount = newAccount
        self.disabledReason = disabledReason
        self.isPreview = isPreview
    }

    func decide(
        given state: DecisionState, at now: Timestamp, under policy: TenantPolicy
    ) -> Decision {
        if let position = state.names[name] {
            return Decision(
                .success(
                    .accountImported(
                        Success(
                            .kept, position: position,
                            account: state.ledger.names[position]?.account))))
        }
        let standings = standings(given: state, at: now, under: policy)
        let importing = Importing(self, standings, policy)
        guard importing.isSupported else { return .refused(.unsupportedProvider) }
        var success = importing.success
        if isPreview { success.standings = standings }
        guard success.effect == .opened, !isPreview else {
            return Decision(.success(.accountImported(success)))
        }
        let opened = AccountOpened(account: newAccount, cause: .imported)
        let named = AccountNamed(account: newAccount, source: name.source)
        return Decision(
            .success(.accountImported(success)),
            drafts: [
                .init(.accountOpened(opened), actor: actor),
                .init(
                    .accountNamed(named), actor: actor,
                    disclosures: [Disclosure(.externalID, name.id)]),
            ] + importing.drafts + disabling,
            effects: [.accountNamed(name, nil)] + importing.effects)
    }

    /// Decides a preview again, as if accounts that are not in the ledger had parts of the account.
    ///
    /// - Parameters:
    ///   - standings: Those that the preview found, with changes.
    ///   - policy: The tenant's rules.
    /// - Returns: The result, the linked subjects, and the addresses that the account would get.
    package func preview(
        of standings: Standings, under policy: TenantPolicy
    ) -> (success: Success, subjects: Set<Subject>, addresses: [ProvedAddress]) {
        let importing = Importing(self, standings, policy)
        var success = importing.success
        success.standings = standings
        return (success, importing.subjects, importing.held)
    }

    private func standings(
        given state: DecisionState, at now: Timestamp, under policy: TenantPolicy
    ) -> Standings {
        Standings(
            identities: identities.map {
                guard let known = state.directory[$0.subject] else { return .free }
                return state.ledger.identities[known]?.account.map { .held(by: $0) } ?? .givenUp
            },
            addresses: addresses.map {
                switch state.standing(of: $0.address, at: now, under: policy) {
                case .held(_, let holder): .held(by: holder.id)
                // An import proves no address, so it takes none from an account that no longer uses it, unless
                // that account had only claimed it.
                case .free(let former?): former.isClaimed ? .unproved(former) : .givenUp
                case .free(formerHolder: nil): .free
                }
            })
    }

    /// The event after which nothing signs in to the account, as it was in the other system.
    private var disabling: [Decision.Draft] {
        guard let disabledReason else { return [] }
        return [
            .init(
                .accountDisabled(AccountDisabled(account: newAccount)), actor: actor,
                disclosures: [
                    Disclosure(.caseReference, "import of \(name.source)"),
                    Disclosure(.reason, disabledReason),
                ], disclosesRequest: false)
        ]
    }
}

/// The parts of an account that can be imported, while it is decided.
private struct Importing {
    private let command: ImportAccount
    private let policy: TenantPolicy
    private(set) var drafts: [Decision.Draft] = []
    private(set) var effects: [Decision.Effect] = []
    private var linked: [ProviderName] = []
    private(set) var subjects: Set<Subject> = []
    private(set) var held: [ProvedAddress] = []
    private var passwordCount = 0
    private var problems: [ImportAccount.Problem] = []

    init(
        _ command: ImportAccount, _ standings: ImportAccount.Standings, _ policy: TenantPolicy
    ) {
        self.command = command
        self.policy = policy
        for (identity, standing) in zip(command.identities, standings.identities) {
            add(identity, standing)
        }
        for (address, standing) in zip(command.addresses, standings.addresses) {
            add(address, standing)
        }
    }

    /// Whether the tenant has a provider of the account.
    var isSupported: Bool {
        !linked.isEmpty || problems.contains { $0.obstacle != .unsupportedProvider }
    }

    /// An account without a way to sign in is not opened.
    var success: ImportAccount.Success {
        ImportAccount.Success(
            linked.isEmpty ? .refused : .opened, identities: linked.count,
            addresses: held.count, passwords: passwordCount, problems: problems)
    }

    private mutating func add(
        _ identity: ImportAccount.Identity, _ standing: ImportAccount.Standing
    ) {
        let provider = identity.subject.provider
        guard policy.providers[provider]?.type.isFederated == true else {
            return fail(.unsupportedProvider, provider)
        }
        switch standing {
        case .held(let holder): return fail(.identityHeld, provider, holder: holder)
        case .givenUp: return fail(.identityGivenUp, provider)
        case .free, .unproved: break
        }
        // The same subject twice, or another one where the tenant has one of each provider.
        guard policy.severalPerProvider || !linked.contains(provider),
            !subjects.contains(identity.subject)
        else { return fail(.providerTaken, provider) }
        link(
            identity.subject, identity.newID,
            [Disclosure(.providerID, identity.subject.providerID)]
                + (identity.email?.disclosures ?? []))
    }

    private mutating func add(
        _ address: ImportAccount.Address, _ standing: ImportAccount.Standing
    ) {
        let proved = address.address
        guard policy.confirmLater || !address.isClaimed else {
            return fail(.unsupportedProvider, address.ways.first?.provider)
        }
        var claim: HeldAddress?
        switch standing {
        case .held(let holder):
            return fail(.addressHeld, address.ways.first?.provider, holder: holder)
        case .givenUp: return fail(.addressGivenUp, address.ways.first?.provider)
        // A claim prevents other claims, also while its account does not use it.
        case .unproved where address.isClaimed:
            return fail(.addressGivenUp, address.ways.first?.provider)
        case .unproved(let former): claim = former
        case .free: break
        }
        let before = linked.count
        var passwords: [(IdentityID, NewPassword)] = []
        for way in address.ways {
            let type = policy.providers[way.provider]?.type
            guard type?.addressKind == proved.kind,
                (type == .password) == (way.password != nil),
                type == .password || !address.isClaimed,
                let subject = Subject(
                    provider: way.provider, providerID: proved.newID.description)
            else {
                fail(.unsupportedProvider, way.provider)
                continue
            }
            guard !linked.contains(way.provider) else {
                fail(.providerTaken, way.provider)
                continue
            }
            link(subject, way.newID, [Disclosure(.providerID, subject.providerID)])
            if let password = way.password { passwords.append((way.newID, password)) }
        }
        guard linked.count > before else { return }
        if let claim { drafts.append(claim.release(by: command.actor)) }
        hold(proved, isClaimed: address.isClaimed)
        for (identity, password) in passwords {
            passwordCount += 1
            let fact = PasswordSet(
                account: command.newAccount, identity: identity, cause: .imported)
            drafts.append(.init(.passwordSet(fact), actor: command.actor))
            effects.append(.passwordStored(identity, password))
        }
    }

    private mutating func link(
        _ subject: Subject, _ identity: IdentityID, _ disclosures: [Disclosure]
    ) {
        let fact = ProviderLinked(
            account: command.newAccount, identity: identity, provider: subject.provider,
            cause: .imported)
        drafts.append(
            .init(.providerLinked(fact), actor: command.actor, disclosures: disclosures))
        effects.append(.identityNamed(subject, identity))
        subjects.insert(subject)
        linked.append(subject.provider)
    }

    private mutating func hold(_ address: ProvedAddress, isClaimed: Bool) {
        held.append(address)
        let (account, id, kind) = (command.newAccount, address.newID, address.kind)
        let event: Event =
            isClaimed
            ? .addressClaimed(
                AddressClaimed(account: account, address: id, kind: kind, cause: .imported))
            : .addressConfirmed(
                AddressConfirmed(account: account, address: id, kind: kind, cause: .imported))
        drafts.append(
            .init(
                event, actor: command.actor,
                disclosures: [Disclosure(address.kind.disclosure, address.text)]))
        effects.append(.addressNamed(address.newName, address.newID))
    }

    private mutating func fail(
        _ obstacle: ImportAccount.Obstacle, _ provider: ProviderName?,
        holder: AccountID? = nil
    ) {
        problems.append(
            ImportAccount.Problem(obstacle, provider: provider, holder: holder))
    }
}

extension ImportAccount: LedgerRequest {
    /// The effect of an import.
    package enum Effect: String, Hashable, Sendable {
        /// A new account was opened.
        case opened
        /// An account has the external id already.
        case kept
        /// The account would have no way to sign in.
        case refused
    }

    /// The reasons why a part of an account was left out.
    package enum Obstacle: String, Hashable, Sendable, CaseIterable {
        case unsupportedProvider = "unsupported_provider"
        /// Another account has the identity.
        case identityHeld = "identity_held"
        /// An account had the identity and unlinked it.
        case identityGivenUp = "identity_given_up"
        /// The account has an identity of the provider already.
        case providerTaken = "provider_taken"
        /// Another account has the address.
        case addressHeld = "address_held"
        /// An account had the address and no longer uses it.
        case addressGivenUp = "address_given_up"
    }

    /// A part of an account that was left out.
    package struct Problem: Hashable, Sendable {
        package let obstacle: Obstacle
        package let provider: ProviderName?
        /// The account that has the identity or the address.
        package let holder: AccountID?

        init(_ obstacle: Obstacle, provider: ProviderName?, holder: AccountID?) {
            self.obstacle = obstacle
            self.provider = provider
            self.holder = holder
        }
    }

    /// The account that has an identity or an address.
    package enum Standing: Hashable, Sendable {
        case free
        case held(by: AccountID)
        /// An account had it, and no longer has or uses it.
        case givenUp
        /// An account had claimed the address, and does not use it.
        case unproved(HeldAddress)
    }

    /// The accounts that have the parts of an account, in the order of the command.
    package struct Standings: Hashable, Sendable {
        package var identities: [Standing]
        package var addresses: [Standing]
    }

    /// The result of the import of an account.
    package struct Success: Hashable, Sendable {
        package let effect: Effect
        /// The numbers of linked identities, addresses and passwords.
        package let identities: Int
        package let addresses: Int
        package let passwords: Int
        package let problems: [Problem]
        /// The position of the `AccountNamed` of an account that has the external id already.
        package let position: LogPosition?
        /// The account that got that id; merges do not change it.
        package let account: AccountID?
        /// The accounts that have its parts, in a preview.
        package fileprivate(set) var standings: Standings?

        /// Describes a result; without an account there is nothing to count.
        package init(
            _ effect: Effect, identities: Int = 0, addresses: Int = 0, passwords: Int = 0,
            problems: [Problem] = [], position: LogPosition? = nil, account: AccountID? = nil
        ) {
            self.effect = effect
            self.identities = effect == .opened ? identities : 0
            self.addresses = effect == .opened ? addresses : 0
            self.passwords = effect == .opened ? passwords : 0
            self.problems = problems
            self.position = position
            self.account = account
        }
    }

    package var intent: Command.Intent { .importAccount(self) }

    /// Returns what was made of the account in a reply to the command.
    package static func success(in reply: Reply) -> Success? {
        guard case .accountImported(let success) = reply else { return nil }
        return success
    }
}
