/// A person of support's part in an effect that is planned for another person: the plan, its stop, a preview of it or,
/// as the second person, the effect at once.
///
/// The first person's request is stored nowhere: it is the digest of the plan and of that person, which the second one
/// presents. Only a new plan has one, so that the person is the one of its event.
package struct SupportChange: Sendable {
    /// The kind of a change.
    package enum Kind: Hashable, Sendable {
        case plan
        case stop
        /// Nothing changes; the plan is returned.
        case preview
    }

    package let kind: Kind
    package let account: AccountID
    let actor: Actor
    private let disclosures: [Disclosure]
    private let step: TwoPersonStep

    /// Requests a change; `step` is the caller's part in a plan that a second person may do at once.
    package init(
        _ kind: Kind, of account: AccountID, actor: Actor, reason: String = "",
        caseReference: String = "", step: TwoPersonStep = .alone
    ) {
        self.kind = kind
        self.account = account
        self.actor = actor
        disclosures = [Disclosure(.caseReference, caseReference), Disclosure(.reason, reason)]
        self.step = step
    }

    /// Decides for an account that is neither erased nor merged.
    func decide(
        given state: DecisionState, _ body: (Account) throws(Refusal) -> Decision
    ) -> Decision {
        guard let known = state.ledger.accounts[account] else { return .refused(.unknownAccount) }
        guard known.erasedPosition == nil else { return .refused(.accountErased) }
        if let survivor = known.mergedInto { return .refused(.accountMerged(into: survivor)) }
        do throws(Refusal) {
            return try body(known)
        } catch {
            return .refused(error)
        }
    }

    /// Returns the time of a new plan.
    func due(
        given state: DecisionState, at now: Timestamp, under policy: TenantPolicy
    ) -> Timestamp {
        // The event may be dated after the clock, if that was set back.
        policy.supportDue(after: max(now, state.ledger.lastRecordedAt))
    }

    /// Returns the digest of the caller's request, which another person may confirm; nil if the rules have no second
    /// person.
    ///
    /// The effect is in words and ids, which differ for any other plan.
    func request(of effect: String, due: Timestamp, under policy: TenantPolicy) -> Digest? {
        guard kind == .plan, policy.supportNeedsTwo, case .ask(let hash) = step,
            case .principal(let caller) = actor
        else { return nil }
        return hash(Self.bytes(effect, due: due, asker: caller))
    }

    /// Returns the person whose request the caller confirms; nil if the caller confirms none.
    ///
    /// The time is nil without a plan.
    ///
    /// - Throws: the reason why the confirmation has no effect, for example a request that the ledger did not issue, or
    ///   that is of another plan.
    func asker(
        of effect: String, due: Timestamp?, _ account: Account, under policy: TenantPolicy
    ) throws(Refusal) -> Principal? {
        guard case .confirm(let request, let hash) = step else { return nil }
        // The holder can't stop it.
        guard account.disabledPosition == nil else { throw .accountDisabled }
        guard policy.supportNeedsTwo, let due, let request, case .principal(let caller) = actor
        else { throw .mergePlanChanged }
        guard !caller.isSame(as: request.asker) else { throw .secondPersonRequired }
        guard request.digest == hash(Self.bytes(effect, due: due, asker: request.asker)) else {
            throw .mergePlanChanged
        }
        return request.asker
    }

    /// Returns the event of the change; nil for a preview, and when it is so already.
    func event(isPlanned: Bool, planned: Event, stopped: Event) -> Event? {
        switch (kind, isPlanned) {
        case (.plan, false): planned
        case (.stop, true): stopped
        case (.plan, true), (.stop, false), (.preview, _): nil
        }
    }

    /// Returns an event by the caller.
    func draft(_ event: Event) -> Decision.Draft {
        Decision.Draft(event, actor: actor, disclosures: disclosures, disclosesRequest: false)
    }

    private static func bytes(_ effect: String, due: Timestamp, asker: Principal) -> [UInt8] {
        Array(
            """
            account-ledger support plan 1
            \(effect) at \(due)
            asker \(asker)
            """.utf8)
    }
}
