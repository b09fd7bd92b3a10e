/// Merges one account into another, or returns the plan of the merge.
package struct MergeAccounts: Sendable {
    /// The requester, and the proof that authorises the merge.
    package enum Authority: Sendable {
        /// A caller who is signed in to the survivor and proves an identity of the other account.
        case accountHolder(Caller, Credential)
        /// A caller who is signed in to both accounts, the survivor first: the proof for an account with a second
        /// factor.
        case holderOfBoth(Caller, Caller)
        /// Support, for a case.
        case support(Actor, Case)
    }

    /// The accounts that support names.
    package struct Case: Sendable {
        /// The account that remains.
        package let survivor: AccountID
        /// The account that is merged into the survivor.
        package let absorbed: AccountID
        package let reason: String
        package let reference: String
        /// The part of the caller in a merge that needs two persons, because an account has a second factor.
        let step: TwoPersonStep

        /// Describes a case.
        package init(
            survivor: AccountID, absorbed: AccountID, reason: String, reference: String,
            step: TwoPersonStep = .alone
        ) {
            self.survivor = survivor
            self.absorbed = absorbed
            self.reason = reason
            self.reference = reference
            self.step = step
        }
    }

    /// The maximum number of accounts that merges may join: the survivor and all that it absorbed.
    package static let familyMax = 64

    package let authority: Authority
    /// The providers of which the absorbed account's identity stays when only one may.
    package let keepsAbsorbed: Set<ProviderName>
    /// The digest of the plan that was agreed to; nil requests the plan and changes nothing.
    package let agreed: Digest?
    /// Plain SHA-256.
    package let digest: HashFunction
    package let idempotency: IdempotencyKey?

    /// Requests a merge or its plan.
    package init(
        authority: Authority, keepsAbsorbed: Set<ProviderName>, agreed: Digest?,
        digest: @escaping HashFunction, idempotency: IdempotencyKey? = nil
    ) {
        self.authority = authority
        self.keepsAbsorbed = keepsAbsorbed
        self.agreed = agreed
        self.digest = digest
        self.idempotency = idempotency
    }

    /// A key is looked up before the session, because a later merge may have ended the session.
    func decide(
        given state: DecisionState, at now: Timestamp, under policy: TenantPolicy
    ) -> Decision {
        if let earlier = earlierAnswer(to: idempotency, in: state) { return earlier }
        switch authority {
        case .support(let actor, let named):
            guard let survivor = state.ledger.accounts[named.survivor],
                let absorbed = state.ledger.accounts[named.absorbed]
            else { return .refused(.unknownAccount) }
            return decide(survivor, absorbed, in: state, at: nil, policy) { plan throws(Refusal) in
                try named.step.permission(
                    of: actor, isNeeded: plan.touchesFactors, isPreview: agreed == nil
                ) { plan.bytes(asker: $0) }
            }
        case .accountHolder(let caller, let credential):
            return decide(for: caller, credential, in: state, at: now, policy)
        case .holderOfBoth(let caller, let other):
            return decide(for: caller, and: other, in: state, at: now, policy)
        }
    }

    /// Checks in the contract's order: session, provider, re-authentication, budget, credential,
    /// decision.
    ///
    /// Refusals append nothing, so attempts count by what was proved, whatever the outcome: a known
    /// identity counts once for preview, merge and repetition together, and an invalid credential
    /// once.
    private func decide(
        for caller: Caller, _ credential: Credential, in state: DecisionState, at now: Timestamp,
        _ policy: TenantPolicy
    ) -> Decision {
        guard let survivor = state.account(of: caller, at: now),
            let session = state.ledger.sessions[caller.session]
        else { return .refused(.sessionEnded) }
        if case .failure(.unsupported) = credential.check { return .refused(.unsupportedProvider) }
        guard policy.isRecent(session.authenticatedAt, at: now),
            !state.lacksSecondFactor(caller, at: now, under: policy)
        else { return .refused(.reauthenticationRequired) }
        let budget = AttemptBudget(policy.linkBudget, of: caller.account, in: state, at: now)
        let attempts = attempts(credential, in: state)
        let isNew = attempts.allSatisfy { budget.recent[$0] == nil }
        if isNew, let limited = budget.exhausted { return .refused(limited) }
        switch credential.check {
        case .failure(.invalid), .success: break
        case .failure(let flaw): return .refused(flaw.refusal)
        }
        if let proof = credential.proof, !state.isCurrent(proof) {
            return .refused(proof.staleRefusal)
        }
        var decision: Decision
        do throws(Refusal) {
            let absorbed = try absorbed(by: survivor, credential, in: state)
            if let proof = credential.proof, absorbed.id != survivor.id,
                state.provesUnusedNumber(proof, of: absorbed, at: now, under: policy)
            {
                throw Refusal.addressUnused
            }
            // A proof of an identity does not include its second factor.
            if absorbed.id != survivor.id, !absorbed.secondFactors.isEmpty {
                throw Refusal.secondFactorEnrolled
            }
            decision = decide(survivor, absorbed, in: state, at: now, policy)
        } catch {
            decision = .refused(error)
        }
        if let proof = credential.proof, !decision.drafts.isEmpty {
            decision.effects += proof.used
        }
        if isNew, let attempt = attempts.first {
            decision.effects.append(.attempted(caller.account, attempt, now))
        }
        return decision
    }

    /// Decides for a caller with a session of each account, both of which began a short time ago, with a second factor
    /// where the account has one.
    private func decide(
        for caller: Caller, and other: Caller, in state: DecisionState, at now: Timestamp,
        _ policy: TenantPolicy
    ) -> Decision {
        guard let survivor = state.account(of: caller, at: now) else {
            return .refused(.sessionEnded)
        }
        guard let absorbed = state.account(of: other, at: now) else {
            // A repeated merge has ended the session.
            let isMerged = state.ledger.root(of: other.account) == survivor.id
            return .refused(isMerged ? .sameAccount : .invalidProviderToken)
        }
        for holder in [caller, other] {
            guard let session = state.ledger.sessions[holder.session],
                policy.isRecent(session.authenticatedAt, at: now),
                !state.lacksSecondFactor(holder, at: now, under: policy)
            else { return .refused(.reauthenticationRequired) }
        }
        return decide(survivor, absorbed, in: state, at: now, policy)
    }

    private func decide(
        _ survivor: Account, _ absorbed: Account, in state: DecisionState, at now: Timestamp?,
        _ policy: TenantPolicy,
        permission: (MergePlan) throws(Refusal) -> TwoPersonStep.Permission = { _ in
            .act(asker: nil)
        }
    ) -> Decision {
        do throws(Refusal) {
            try check(survivor, absorbed, in: state)
        } catch {
            return .refused(error)
        }
        let plan = MergePlan(
            of: absorbed, into: survivor, keepsAbsorbed: keepsAbsorbed,
            factors: state.moved(state.factors(of: absorbed.id), with: absorbed), under: policy,
            type: { state.type(of: $0, under: policy) })
        let choices = Set(plan.choices.map(\.provider))
        // The first by name, so that the same request always gets the same answer.
        if let surplus = keepsAbsorbed.subtracting(choices).min(by: {
            $0.description < $1.description
        }) {
            return .refused(.nothingToChoose(surplus))
        }
        guard plan.linkCount <= EntryDetails.linksMax,
            plan.secondFactors.count <= MergedFactor.countMax
        else { return .refused(.tooMuchToMerge) }
        guard state.canSignIn(to: plan.links, with: plan.secondFactors, at: now, under: policy)
        else { return .refused(.onlyProvider) }
        let asker: Principal?
        do throws(Refusal) {
            switch try permission(plan) {
            case .act(let first): asker = first
            case .ask(let request):
                guard agreed == digest(plan.bytes) else { throw .mergePlanChanged }
                return Decision(.success(.mergeAsked(request)))
            }
        } catch {
            return .refused(error)
        }
        let digest = digest(plan.bytes)
        guard let agreed else { return Decision(.success(.mergePlanned(plan, digest))) }
        guard agreed == digest else { return .refused(.mergePlanChanged) }
        return Decision(
            .success(.merged(plan, nil)), drafts: [draft(plan, digest, asker)],
            effects: state.planEnds(plan.factors)
        ).remembered(under: idempotency)
    }

    private func check(
        _ survivor: Account, _ absorbed: Account, in state: DecisionState
    ) throws(Refusal) {
        for account in [survivor, absorbed] {
            guard account.erasedPosition == nil else { throw .accountErased }
            if let other = account.mergedInto { throw .accountMerged(into: other) }
            guard account.disabledPosition == nil else { throw .accountDisabled }
        }
        guard survivor.id != absorbed.id else { throw .sameAccount }
        let family = [survivor, absorbed].flatMap { state.ledger.absorbed(by: $0.id) }
        guard family.count <= Self.familyMax else { throw .tooMuchToMerge }
    }

    private func draft(
        _ plan: MergePlan, _ digest: Digest, _ asker: Principal?
    ) -> Decision.Draft {
        func event(_ cause: AccountsMerged.Cause) -> Event {
            .accountsMerged(
                AccountsMerged(
                    survivor: plan.survivor, absorbed: plan.absorbed, cause: cause,
                    moved: plan.moved, dropped: plan.dropped, replaced: plan.replaced,
                    links: plan.links, factors: plan.factors, plan: digest, asker: asker))
        }
        switch authority {
        case .accountHolder(let caller, _), .holderOfBoth(let caller, _):
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

    /// Returns the attempt with each of its digests, first the one that is stored.
    private func attempts(
        _ credential: Credential, in state: DecisionState
    ) -> [DecisionState.Attempt] {
        if let known = credential.proof.flatMap(state.identity(provedBy:)) {
            return [
                DecisionState.Attempt(
                    action: .merge, provider: credential.provider, digest: .zero,
                    outcome: known.description)
            ]
        }
        return credential.digest.all.map {
            DecisionState.Attempt(
                action: .merge, provider: credential.provider, digest: $0.digest, key: $0.key,
                outcome: "nobody")
        }
    }

    /// Returns the account that the credential proves.
    private func absorbed(
        by survivor: Account, _ credential: Credential, in state: DecisionState
    ) throws(Refusal) -> Account {
        guard let proof = credential.proof else { throw .invalidProviderToken }
        let identity = state.identity(provedBy: proof).flatMap { state.ledger.identities[$0] }
        if let absorbed = identity?.account.flatMap({ state.ledger.accounts[$0] }) {
            return absorbed
        }
        // A repeated merge, proved by an identity that the merge left behind.
        if let last = identity?.lastAccount, last != survivor.id,
            state.ledger.root(of: last) == survivor.id
        {
            throw .sameAccount
        }
        throw .accountNotFound
    }
}

extension MergeAccounts: LedgerRequest {
    /// Requests the plan alone.
    package struct Preview: LedgerRequest {
        /// A plan, and the digest that agrees to it.
        package struct Success: Hashable, Sendable {
            package let plan: MergePlan
            package let digest: Digest
        }

        private let command: MergeAccounts

        /// Requests the plan of a merge.
        package init(
            authority: Authority, keepsAbsorbed: Set<ProviderName>, digest: @escaping HashFunction
        ) {
            command = MergeAccounts(
                authority: authority, keepsAbsorbed: keepsAbsorbed, agreed: nil, digest: digest)
        }

        package var intent: Command.Intent { .mergeAccounts(command) }

        /// Returns the plan in a reply to the preview.
        package static func success(in reply: Reply) -> Success? {
            guard case .mergePlanned(let plan, let digest) = reply else { return nil }
            return Success(plan: plan, digest: digest)
        }
    }

    /// A merge, or the digest of the plan that another person has to confirm.
    package enum Success: Hashable, Sendable {
        case merged(Executed<MergePlan>)
        case asked(Digest)

        /// The merge; nil for a request.
        package var done: Executed<MergePlan>? {
            if case .merged(let done) = self { done } else { nil }
        }
    }

    package var intent: Command.Intent { .mergeAccounts(self) }

    /// Returns the result in a reply to the command.
    package static func success(in reply: Reply) -> Success? {
        switch reply {
        case .merged(let plan, let event): Executed(plan, event).map { .merged($0) }
        case .mergeAsked(let digest): .asked(digest)
        default: nil
        }
    }
}
