/// Destroys the personal data of an account; its events stay in the log.
package struct EraseAccount: Sendable {
    /// The accounts whose erasure was agreed to.
    package enum Agreement: Sendable {
        /// None yet: only the plan is requested.
        case preview
        /// The named account, if it is not merged with another one.
        case named
        /// The accounts of the plan with this digest.
        case plan(Digest, HashFunction)
        /// The named account and those that it absorbed, if it is still anonymous and was not used since
        /// that time: retention.
        case unused(since: Timestamp)
        /// All accounts merged with the named one; for callers that agreed earlier, such as a
        /// restore.
        case family
    }

    package let account: AccountID
    package let basis: AccountErased.Basis
    package let agreement: Agreement
    package let step: Step
    package let actor: Actor

    /// Requests an erasure or its plan.
    package init(
        account: AccountID, basis: AccountErased.Basis, agreement: Agreement = .family,
        step: Step = .alone, actor: Actor
    ) {
        self.account = account
        self.basis = basis
        self.agreement = agreement
        self.step = step
        self.actor = actor
    }

    /// Erases every account merged with the account, if that was agreed to.
    ///
    /// For an erased account it answers so, whatever was agreed to, and appends nothing.
    func decide(
        given state: DecisionState, at now: Timestamp, under policy: TenantPolicy
    ) -> Decision {
        guard let known = state.ledger.accounts[account] else { return .refused(.unknownAccount) }
        if let position = known.erasedPosition {
            if case .preview = agreement { return .refused(.accountErased) }
            if case .withdraw = step { return .refused(.accountErased) }
            return Decision(.success(.erased(at: position, isNew: false, covering: [account])))
        }
        if case .withdraw(let request) = step { return withdraw(request, in: state, at: now) }
        let plan = ErasurePlan(of: account, in: state.ledger)
        if case .preview = agreement {
            let losses = ErasureLosses(of: plan, in: state.ledger)
            return Decision(.success(.erasurePlanned(plan, losses)))
        }
        if let refusal = refusal(of: plan, known, in: state, policy) { return .refused(refusal) }
        guard plan.holds.isEmpty else { return .refused(.legalHold) }
        let basis: AccountErased.Basis
        let asker: Principal?
        switch permission(for: plan, in: state, at: now, under: policy) {
        case .erase(let ground, let other): (basis, asker) = (ground, other)
        case .done(let decision): return decision
        }
        let index = Int64(plan.covers.firstIndex(of: account) ?? 0)
        return Decision(
            .success(
                .erased(
                    at: LogPosition(state.ledger.nextPosition.value + index), isNew: true,
                    covering: plan.covers)),
            drafts: plan.covers.map {
                .administered(
                    .accountErased(
                        AccountErased(
                            account: $0, basis: basis, survivor: plan.survivor, asker: asker)),
                    by: actor)
            },
            effects: plan.covers.map(Decision.Effect.forgotten))
    }

    /// Returns the refusal of a plan that was not agreed to.
    private func refusal(
        of plan: ErasurePlan, _ known: Account, in state: DecisionState, _ policy: TenantPolicy
    ) -> Refusal? {
        switch agreement {
        case .preview, .family: nil
        case .plan(let agreed, let digest): agreed == digest(plan.bytes) ? nil : .erasurePlanChanged
        case .unused(let time):
            known.links.allSatisfy { state.isAnonymous($0.provider, under: policy) }
                && plan.survivor == account && state.isUnused(known, since: time)
                ? nil : .erasurePlanChanged
        case .named:
            if plan.survivor != account {
                .accountMerged(into: plan.survivor)
            } else {
                plan.covers.count == 1 ? nil : .erasurePlanChanged
            }
        }
    }
}

extension DecisionState {
    /// Whether an account was not used since a time, neither before this batch nor in it.
    fileprivate func isUnused(_ account: Account, since time: Timestamp) -> Bool {
        guard let last = lastUses[account.id], last.position == account.lastPosition,
            last.time < time
        else { return false }
        // A refresh is no event.
        return ledger.sessions.values.allSatisfy { session in
            session.account != account.id
                || refreshTokens[session.id]?.preceding.map { $0.exchangedAt < time } ?? true
        }
    }
}

extension LedgerState {
    /// Returns the survivor of an account: itself, unless it was merged into another one.
    func root(of account: AccountID) -> AccountID {
        var root = account
        while let survivor = accounts[root]?.mergedInto { root = survivor }
        return root
    }

    /// Returns the accounts merged into an account, each before the one that absorbed it, itself
    /// last.
    func absorbed(by account: AccountID) -> [AccountID] {
        (accounts[account]?.merges ?? []).flatMap { absorbed(by: $0.absorbed) } + [account]
    }

}

extension EraseAccount: LedgerRequest {
    /// An account that is erased, by this command or an earlier one, or the request to confirm its erasure.
    package enum Success: Hashable, Sendable {
        case erased(Erased)
        case asked(ErasureRequest)
    }

    /// An account that is erased, by this command or an earlier one.
    package struct Erased: Hashable, Sendable {
        /// The position of its `AccountErased`.
        package let position: LogPosition
        /// Whether this command erased it.
        package let isNew: Bool
        /// Every account that this command erased; after an earlier erasure, the account itself.
        package let covering: [AccountID]
    }

    /// Requests the plan alone.
    package struct Preview: LedgerRequest {
        /// The accounts that an erasure would cover, and the data that it would destroy.
        package struct Success: Hashable, Sendable {
            package let plan: ErasurePlan
            package let losses: ErasureLosses
        }

        private let command: EraseAccount

        /// Requests the plan of an erasure.
        package init(account: AccountID, actor: Actor) {
            command = EraseAccount(
                account: account, basis: .dataSubjectRequest, agreement: .preview, actor: actor)
        }

        package var intent: Command.Intent { .eraseAccount(command) }

        /// Returns the plan in a reply to the preview.
        package static func success(in reply: Reply) -> Success? {
            guard case .erasurePlanned(let plan, let losses) = reply else { return nil }
            return Success(plan: plan, losses: losses)
        }
    }

    package var intent: Command.Intent { .eraseAccount(self) }

    /// Returns the result in a reply to the command.
    package static func success(in reply: Reply) -> Success? {
        switch reply {
        case .erased(let position, let isNew, let covering):
            .erased(Erased(position: position, isNew: isNew, covering: covering))
        case .erasureAsked(let request): .asked(request)
        default: nil
        }
    }
}
