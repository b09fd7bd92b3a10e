package import Ledger

extension MergeAccounts {
    /// Returns the merge of a plan that was shown; by support, as another person who confirms it.
    package func agreed(
        to plan: MergePlan, _ agreed: Digest, idempotency: IdempotencyKey? = nil
    ) -> MergeAccounts {
        MergeAccounts(
            authority: authority.confirmed(plan), keepsAbsorbed: keepsAbsorbed, agreed: agreed,
            digest: digest, idempotency: idempotency)
    }
}

extension MergeAccounts.Authority {
    fileprivate func confirmed(_ plan: MergePlan) -> Self {
        guard case .support(let actor, let named) = self, plan.touchesFactors else { return self }
        let asker = Principal(key: EntityID(bits: 7), role: .support)
        let request = TwoPersonStep.Request(
            asker: asker, digest: sha256(plan.bytes(asker: asker)))
        return .support(
            actor,
            MergeAccounts.Case(
                survivor: named.survivor, absorbed: named.absorbed, reason: named.reason,
                reference: named.reference, step: .confirm(request, sha256)))
    }
}
