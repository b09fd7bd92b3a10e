/// Lets one account absorb another one, or says what that would come to.
package struct MergeAccounts: Sendable {
    /// Who wants it, and by what right.
    package enum Authority: Sendable {
        /// Somebody who is signed in to the survivor; what checking an ID token of the other account gave.
        case accountHolder(Caller, LinkProvider.Credential)
        /// Support, for a case.
        case support(Actor, Case)
    }

    /// What support names.
    package struct Case: Sendable {
        /// The account that stays.
        package let survivor: AccountID
        /// The account that the survivor will stand for.
        package let absorbed: AccountID
        package let reason: String
        package let reference: String

        /// Describes a case.
        package init(
            survivor: AccountID, absorbed: AccountID, reason: String, reference: String
        ) {
            self.survivor = survivor
            self.absorbed = absorbed
            self.reason = reason
            self.reference = reference
        }
    }

    /// The most accounts that one may stand for, those included that were merged into them before.
    package static let familyMax = 64

    package let authority: Authority
    /// The providers of which the absorbed account's identity stays where only one may.
    package let keepsAbsorbed: Set<ProviderName>
    /// The digest of the plan that was agreed to; nil asks for the plan and changes nothing.
    package let agreed: Digest?
    /// Plain SHA-256.
    package let digest: HashFunction

    /// Asks for a merge or for its plan.
    package init(
        authority: Authority, keepsAbsorbed: Set<ProviderName>, agreed: Digest?,
        digest: @escaping HashFunction
    ) {
        self.authority = authority
        self.keepsAbsorbed = keepsAbsorbed
        self.agreed = agreed
        self.digest = digest
    }

    func decide(
        given state: DecisionState, at now: Timestamp, under policy: TenantPolicy
    ) -> Decision {
        let survivor: Account
        let absorbed: Account
        do throws(Refusal) {
            (survivor, absorbed) = try accounts(in: state, at: now, under: policy)
            try check(survivor, absorbed, in: state)
        } catch {
            return .refused(error)
        }
        let plan = MergePlan(
            of: absorbed, into: survivor, keepsAbsorbed: keepsAbsorbed, under: policy)
        let choices = Set(plan.choices.map(\.provider))
        // The first by name, so that the same request is always answered the same.
        if let surplus = keepsAbsorbed.subtracting(choices).min(by: {
            $0.description < $1.description
        }) {
            return .refused(.nothingToChoose(surplus))
        }
        guard plan.linkCount <= EntryDetails.linksMax else { return .refused(.tooMuchToMerge) }
        guard plan.linkedProviders.contains(where: policy.providers.contains) else {
            return .refused(.onlyProvider)
        }
        let digest = digest(plan.bytes)
        guard let agreed else { return Decision(.success(.mergePlanned(plan, digest))) }
        guard agreed == digest else { return .refused(.mergePlanChanged) }
        return Decision(.success(.merged(plan, nil)), drafts: [draft(plan, digest)])
    }

    private func check(
        _ survivor: Account, _ absorbed: Account, in state: DecisionState
    ) throws(Refusal) {
        for account in [survivor, absorbed] {
            guard account.erasedPosition == nil else { throw .accountErased }
            if let other = account.mergedInto { throw .accountMerged(into: other) }
        }
        guard survivor.id != absorbed.id else { throw .sameAccount }
        let family = [survivor, absorbed].flatMap { state.ledger.absorbed(by: $0.id) }
        guard family.count <= Self.familyMax else { throw .tooMuchToMerge }
    }

    private func draft(_ plan: MergePlan, _ digest: Digest) -> Decision.Draft {
        func event(_ cause: AccountsMerged.Cause) -> Event {
            .accountsMerged(
                AccountsMerged(
                    survivor: plan.survivor, absorbed: plan.absorbed, cause: cause,
                    moved: plan.moved, dropped: plan.dropped, replaced: plan.replaced,
                    links: plan.links, plan: digest))
        }
        switch authority {
        case .accountHolder(let caller, _):
            return .init(
                event(.accountHolder), actor: .account(caller.account, session: caller.session))
        case .support(let actor, let named):
            return .init(
                event(.support), actor: actor,
                disclosures: [
                    Disclosure(.caseReference, named.reference),
                    Disclosure(.reason, named.reason),
                ], disclosesRequest: false)
        }
    }

    /// The accounts that are meant: of an account holder, who has to prove both, in the contract's order
    /// (session, provider, re-authentication, ID token); of support, which has proved itself by its key.
    private func accounts(
        in state: DecisionState, at now: Timestamp, under policy: TenantPolicy
    ) throws(Refusal) -> (Account, Account) {
        switch authority {
        case .support(_, let named):
            guard let survivor = state.ledger.accounts[named.survivor],
                let absorbed = state.ledger.accounts[named.absorbed]
            else { throw .unknownAccount }
            return (survivor, absorbed)
        case .accountHolder(let caller, let credential):
            guard let survivor = state.account(of: caller, at: now),
                let session = state.ledger.sessions[caller.session]
            else { throw .sessionEnded }
            if case .unsupported = credential { throw .unsupportedProvider }
            let oldest = now.adding(seconds: -policy.reauthenticationSeconds)
            guard session.authenticatedAt >= oldest else { throw .reauthenticationRequired }
            switch credential {
            case .unsupported: throw .unsupportedProvider
            case .unavailable: throw .providerUnavailable
            case .invalid: throw .invalidProviderToken
            case .proved(let subject, _):
                let identity = state.directory[subject].flatMap { state.ledger.identities[$0] }
                if let absorbed = identity?.account.flatMap({ state.ledger.accounts[$0] }) {
                    return (survivor, absorbed)
                }
                // A merge that is sent again, by an identity that it left behind.
                if let last = identity?.lastAccount, last != survivor.id,
                    state.ledger.root(of: last) == survivor.id
                {
                    throw .sameAccount
                }
                throw .accountNotFound
            }
        }
    }
}
