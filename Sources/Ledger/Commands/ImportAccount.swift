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

    /// An address that was proved to the other system, and the ways to sign in with it.
    package struct Address: Sendable {
        package let address: ProvedAddress
        package let ways: [Way]

        /// Describes an address.
        package init(_ address: ProvedAddress, ways: [Way]) {
            self.address = address
            self.ways = ways
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
            return Decision(.success(.accountImported(Success(.kept, position: position))))
        }
        var importing = Importing(self, state, policy)
        for identity in identities { importing.add(identity) }
        for address in addresses { importing.add(address, at: now) }
        guard importing.isSupported else { return .refused(.unsupportedProvider) }
        let success = importing.success
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
    private let state: DecisionState
    private let policy: TenantPolicy
    private(set) var drafts: [Decision.Draft] = []
    private(set) var effects: [Decision.Effect] = []
    private var linked: [ProviderName] = []
    private var addressCount = 0
    private var passwordCount = 0
    private var problems: [ImportAccount.Problem] = []

    init(_ command: ImportAccount, _ state: DecisionState, _ policy: TenantPolicy) {
        self.command = command
        self.state = state
        self.policy = policy
    }

    /// Whether the tenant has a provider of the account.
    var isSupported: Bool {
        !linked.isEmpty || problems.contains { $0.obstacle != .unsupportedProvider }
    }

    /// An account without a way to sign in is not opened.
    var success: ImportAccount.Success {
        ImportAccount.Success(
            linked.isEmpty ? .refused : .opened, identities: linked.count,
            addresses: addressCount, passwords: passwordCount, problems: problems)
    }

    mutating func add(_ identity: ImportAccount.Identity) {
        let provider = identity.subject.provider
        guard let type = policy.providers[provider]?.type, [.oidc, .oauth2].contains(type) else {
            return fail(.unsupportedProvider, provider)
        }
        if let known = state.directory[identity.subject] {
            let holder = state.ledger.identities[known]?.account
            return fail(
                holder == nil ? .identityGivenUp : .identityHeld, provider,
                heldSince: holder.flatMap { state.ledger.accounts[$0] }?.openedPosition)
        }
        // The same subject twice, or another one where the tenant has one of each provider.
        guard policy.severalPerProvider || !linked.contains(provider),
            !effects.contains(where: { $0.names(identity.subject) })
        else { return fail(.providerTaken, provider) }
        link(
            identity.subject, identity.newID,
            [Disclosure(.providerID, identity.subject.providerID)]
                + (identity.email?.disclosures ?? []))
    }

    mutating func add(_ address: ImportAccount.Address, at now: Timestamp) {
        let proved = address.address
        switch state.standing(of: proved, at: now, under: policy) {
        case .held(_, let holder):
            return fail(
                .addressHeld, address.ways.first?.provider, heldSince: holder.openedPosition)
        // An import proves no address, so it takes none from an account that no longer uses it.
        case .free(formerHolder: _?): return fail(.addressGivenUp, address.ways.first?.provider)
        case .free(formerHolder: nil): break
        }
        let before = linked.count
        var passwords: [(IdentityID, NewPassword)] = []
        for way in address.ways {
            let type = policy.providers[way.provider]?.type
            guard type?.addressKind == proved.kind,
                (type == .password) == (way.password != nil),
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
        confirm(proved)
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
        linked.append(subject.provider)
    }

    private mutating func confirm(_ address: ProvedAddress) {
        addressCount += 1
        let fact = AddressConfirmed(
            account: command.newAccount, address: address.newID, kind: address.kind,
            cause: .imported)
        drafts.append(
            .init(
                .addressConfirmed(fact), actor: command.actor,
                disclosures: [Disclosure(address.kind.disclosure, address.text)]))
        effects.append(.addressNamed(address.newName, address.newID))
    }

    private mutating func fail(
        _ obstacle: ImportAccount.Obstacle, _ provider: ProviderName?,
        heldSince position: LogPosition? = nil
    ) {
        problems.append(
            ImportAccount.Problem(obstacle, provider: provider, heldSince: position))
    }
}

extension Decision.Effect {
    fileprivate func names(_ subject: Subject) -> Bool {
        if case .identityNamed(subject, _) = self { true } else { false }
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
        /// The position at which the account that holds the identity or the address was opened.
        package let heldSince: LogPosition?

        init(_ obstacle: Obstacle, provider: ProviderName?, heldSince: LogPosition?) {
            self.obstacle = obstacle
            self.provider = provider
            self.heldSince = heldSince
        }
    }

    /// The result of the import of an account.
    package struct Success: Hashable, Sendable {
        package let effect: Effect
        /// The numbers of linked identities, confirmed addresses and passwords.
        package let identities: Int
        package let addresses: Int
        package let passwords: Int
        package let problems: [Problem]
        /// The position of the `AccountNamed` of an account that has the external id already.
        package let position: LogPosition?

        /// Describes a result; without an account there is nothing to count.
        package init(
            _ effect: Effect, identities: Int = 0, addresses: Int = 0, passwords: Int = 0,
            problems: [Problem] = [], position: LogPosition? = nil
        ) {
            self.effect = effect
            self.identities = effect == .opened ? identities : 0
            self.addresses = effect == .opened ? addresses : 0
            self.passwords = effect == .opened ? passwords : 0
            self.problems = problems
            self.position = position
        }
    }

    package var intent: Command.Intent { .importAccount(self) }

    /// Returns what was made of the account in a reply to the command.
    package static func success(in reply: Reply) -> Success? {
        guard case .accountImported(let success) = reply else { return nil }
        return success
    }
}
