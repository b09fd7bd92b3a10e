/// Undoes an unlink, or returns the plan: an unlinked identity is linked to its last account again.
///
/// Neither the account holder nor the identity is present to prove anything, so only support may do
/// it, and it only restores a former link.
package struct RelinkProvider: Sendable {
    /// The effects of a relink.
    package struct Plan: Hashable, Sendable {
        package let account: AccountID
        package let identity: IdentityID
        package let provider: ProviderName
        /// The account's providers afterwards, in linking order.
        package let linkedProviders: [ProviderName]
    }

    /// The reasons why an identity cannot be linked again.
    package enum Obstacle: String, Hashable, Sendable, CaseIterable {
        /// It belongs to the account.
        case alreadyLinked = "already_linked"
        /// It never belonged to the account, has belonged to another one since, or does not exist.
        case notLinkedHereLast = "not_linked_here_last"
        /// The account has another identity of the provider.
        case providerTaken = "provider_taken"
        /// It is anonymous, so it ended when the account got another identity.
        case anonymous
        /// It is found by an address, which its holder has to prove again.
        case address
        /// It is a passkey, whose key was destroyed.
        case passkey
        /// It was linked before the account got another holder, who proved the address that the account had only
        /// claimed.
        case handedOver = "handed_over"
        /// The disclosures of the link were destroyed, so its subject is unknown.
        case disclosuresGone = "disclosures_gone"
        /// It was linked and unlinked concurrently: a retry may succeed.
        case identityChanged = "identity_changed"
    }

    package let account: AccountID
    package let identity: IdentityID
    /// The disclosures of the identity's last link, read before the command was queued; nil when
    /// the identity was unknown then.
    package let former: FormerLink?
    package let actor: Actor
    package let reason: String
    package let caseReference: String
    /// Whether only the plan is requested.
    package let isPreview: Bool

    /// Requests to undo an unlink.
    package init(
        account: AccountID, identity: IdentityID, former: FormerLink?, actor: Actor,
        reason: String, caseReference: String, isPreview: Bool
    ) {
        self.account = account
        self.identity = identity
        self.former = former
        self.actor = actor
        self.reason = reason
        self.caseReference = caseReference
        self.isPreview = isPreview
    }

    func decide(given state: DecisionState, under policy: TenantPolicy) -> Decision {
        guard let account = state.ledger.accounts[account] else { return .refused(.unknownAccount) }
        guard account.erasedPosition == nil else { return .refused(.accountErased) }
        if let other = account.mergedInto { return .refused(.accountMerged(into: other)) }
        guard account.disabledPosition == nil else { return .refused(.accountDisabled) }
        // An identity is loaded by its last account, so any other is absent here.
        guard let known = state.ledger.identities[identity], known.lastAccount == account.id,
            !state.ledger.isForgotten(known)
        else { return .refused(.relinkRefused(.notLinkedHereLast)) }
        if let obstacle = obstacle(to: known, account, state, policy) {
            return .refused(.relinkRefused(obstacle))
        }
        guard let former, former.position == known.linkedPosition else {
            return .refused(.relinkRefused(.identityChanged))
        }
        guard let providerID = former.providerID,
            let subject = Subject(provider: known.provider, providerID: providerID),
            state.directory[subject] == identity
        else { return .refused(.relinkRefused(.disclosuresGone)) }
        var providers = account.linkedProviders
        if !providers.contains(known.provider) { providers.append(known.provider) }
        let plan = Plan(
            account: account.id, identity: identity, provider: known.provider,
            linkedProviders: providers)
        guard !isPreview else { return Decision(.success(.relinkPlanned(plan))) }
        let fact = ProviderLinked(
            account: account.id, identity: identity, provider: known.provider, cause: .relink)
        // Disclosed again, as for any link, so that the read model shows the identity as it was
        // linked.
        let disclosures =
            [
                Disclosure(.caseReference, caseReference), Disclosure(.reason, reason),
                Disclosure(.providerID, providerID),
            ] + (former.email?.disclosures ?? [])
        return Decision(
            .success(.relinked(plan, nil)),
            drafts: [
                .init(
                    .providerLinked(fact), actor: actor, disclosures: disclosures,
                    disclosesRequest: false)
            ])
    }

    private func obstacle(
        to known: Identity, _ account: Account, _ state: DecisionState, _ policy: TenantPolicy
    ) -> Obstacle? {
        if known.account != nil { return .alreadyLinked }
        if let position = account.handedOverPosition, known.linkedPosition < position {
            return .handedOver
        }
        if state.isAnonymous(known.provider, under: policy) { return .anonymous }
        if state.type(of: known.provider, under: policy)?.addressKind != nil { return .address }
        if state.type(of: known.provider, under: policy) == .passkey { return .passkey }
        let isTaken = account.links.contains { $0.provider == known.provider }
        return isTaken && !policy.severalPerProvider ? .providerTaken : nil
    }
}

/// The disclosures of an identity's last link that have not been destroyed.
package struct FormerLink: Hashable, Sendable {
    /// The position of the `ProviderLinked`.
    package let position: LogPosition
    /// Nil when it was destroyed.
    package let providerID: String?
    package let email: Email?

    /// Describes a link.
    package init(position: LogPosition, providerID: String?, email: Email?) {
        self.position = position
        self.providerID = providerID
        self.email = email
    }
}

extension RelinkProvider: LedgerRequest {
    /// Requests the plan alone.
    package struct Preview: LedgerRequest {
        private let command: RelinkProvider

        /// Requests the plan of linking an identity to its last account again.
        package init(
            account: AccountID, identity: IdentityID, former: FormerLink?, actor: Actor
        ) {
            command = RelinkProvider(
                account: account, identity: identity, former: former, actor: actor, reason: "",
                caseReference: "", isPreview: true)
        }

        package var intent: Command.Intent { .relinkProvider(command) }

        /// Returns the plan in a reply to the preview.
        package static func success(in reply: Reply) -> Plan? {
            guard case .relinkPlanned(let plan) = reply else { return nil }
            return plan
        }
    }

    package var intent: Command.Intent { .relinkProvider(self) }

    /// Returns the result in a reply to the command.
    package static func success(in reply: Reply) -> Executed<Plan>? {
        guard case .relinked(let plan, let event) = reply else { return nil }
        return Executed(plan, event)
    }
}
