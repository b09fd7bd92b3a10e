import Ledger

/// Random plans of unlinks by support, and their ends.
struct RandomUnlinkPlans: Sendable {
    /// The identities that were new to their accounts, most of which still have them.
    private var identities: [(account: AccountID, identity: IdentityID)] = []
    /// The identity of the last link, and its account.
    private var lastLinked: (account: AccountID, identity: IdentityID)?
    private var planned: PlanUnlink.Plan?

    /// Notes a link before its reply is known.
    mutating func link(_ identity: IdentityID, to account: AccountID) {
        lastLinked = (account: account, identity: identity)
    }

    /// Learns from the reply to the last command.
    mutating func learn(_ result: Result<Reply, Refusal>) {
        let linked = lastLinked.take()
        switch result {
        case .success(.linked): if let linked { identities.append(linked) }
        case .success(.unlinkPlanned(let plan, _?)): planned = plan.due == nil ? nil : plan
        default: break
        }
    }

    /// Plans or stops an unlink; nil while no identity is known.
    func change(using generator: inout SeededGenerator) -> Command.Intent? {
        identities.suffix(8).randomElement(using: &generator).map { known in
            .planUnlink(
                PlanUnlink(
                    Int.random(in: 0..<4, using: &generator) > 0 ? .plan : .stop,
                    of: known.identity, of: known.account,
                    actor: .principal(Principal(key: generator.id(), role: .support)),
                    reason: "not theirs", caseReference: "case 9"))
        }
    }

    /// Ends the last plan half of the time: its holder keeps the identity, or a server finds that it is not due.
    mutating func end(
        by callers: [Caller], using generator: inout SeededGenerator
    ) -> Command.Intent? {
        guard let plan = planned.take() else { return nil }
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: return .endUnlinkPlan(EndUnlinkPlan(of: plan.identity, .due(plan.account)))
        case 1:
            return callers.last { $0.account == plan.account }.map {
                .endUnlinkPlan(EndUnlinkPlan(of: plan.identity, .kept($0)))
            }
        default: return nil
        }
    }
}
