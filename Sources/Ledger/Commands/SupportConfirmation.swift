/// The agreement of two persons to what support planned for a person, which then takes effect at once.
///
/// The first person's request is stored nowhere: it is the digest of the plan and of that person, which the second one
/// presents. Only a new plan has one, so that the person is the one of its event.
struct SupportConfirmation {
    /// The planned effect in words and ids, which differ for any other plan.
    let effect: String
    let actor: Actor
    let step: UnmergeAccounts.Step
    let policy: TenantPolicy

    /// Returns the digest of the caller's request, which another person may confirm; nil if the rules have no second
    /// person.
    func request(due: Timestamp) -> Digest? {
        guard policy.supportNeedsTwo, case .ask(let hash) = step,
            case .principal(let caller) = actor
        else { return nil }
        return hash(bytes(due: due, asker: caller))
    }

    /// Returns the reason why another person's request has no effect; nil if the plan takes effect.
    ///
    /// The request is nil if the ledger did not issue it, or it has expired; the time is nil without a plan.
    func refusal(
        of request: UnmergeAccounts.Request?, by hash: HashFunction, due: Timestamp?,
        _ account: Account
    ) -> Refusal? {
        // The holder can't stop it.
        guard account.disabledPosition == nil else { return .accountDisabled }
        guard policy.supportNeedsTwo, let due, let request, case .principal(let caller) = actor
        else { return .mergePlanChanged }
        guard !caller.isSame(as: request.asker) else { return .secondPersonRequired }
        return request.digest == hash(bytes(due: due, asker: request.asker))
            ? nil : .mergePlanChanged
    }

    private func bytes(due: Timestamp, asker: Principal) -> [UInt8] {
        Array(
            """
            account-ledger support plan 1
            \(effect) at \(due)
            asker \(asker)
            """.utf8)
    }
}
