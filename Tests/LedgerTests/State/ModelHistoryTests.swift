import Ledger
import LedgerTestSupport
import Testing

/// Random histories through the pure model: invariants at every position of every history.
@Suite struct ModelHistoryTests {
    static let seeds = Array(UInt64(1)...40)

    @Test(arguments: seeds)
    func `every prefix folds, and every command leaves the invariants`(seed: UInt64) throws {
        let hasEveryType = seed.isMultiple(of: 2)
        var policy = RandomCommands.policy(hasEveryType: hasEveryType)
        policy.linkBudget = Budget(limit: 1000, windowSeconds: 3600)
        policy.signInBudget = Budget(limit: 1000, windowSeconds: 3600)
        var commands = RandomCommands(seed: seed, hasEveryType: hasEveryType)
        var model = ModelLedger(policy: policy, seed: seed)
        var generator = SeededGenerator(seed: seed)
        var replayed = LedgerState(tenant: .default)
        for step in 0..<400 {
            let command =
                step % 9 == 8 ? relink(in: replayed, model.log, &generator) : commands.next()
            let now = Timestamp(seconds: 1_790_000_000 + Int64(step))
            let size = model.log.count
            let decision = try model.execute(command, at: now)
            for recording in model.log[size...] {
                try replayed.apply(
                    EntryEncoding.decode(recording.entry), leaf: leafHash(recording.entry))
            }
            if case .relinkProvider = command.intent {
                expectRelinked(decision, in: replayed)
            } else {
                commands.learn(decision.result)
            }
            try expectInvariants(of: replayed)
            #expect(replayed.accounts == model.state.ledger.accounts)
            #expect(replayed.identities == model.state.ledger.identities)
            #expect(replayed.sessions == model.state.ledger.sessions)
        }
        #expect(replayed.nextPosition.value > 100, "the history is long enough to mean something")
    }

    /// Tries to undo an unlink.
    private func relink(
        in state: LedgerState, _ log: [Recording], _ generator: inout SeededGenerator
    ) -> Command {
        let known = state.identities.values.sorted { $0.id < $1.id }
        let free = known.filter { $0.account == nil }
        let wanted = (free.isEmpty ? known : free).randomElement(using: &generator)
        let identity = wanted?.id ?? generator.id()
        return Command(
            id: generator.id(), tenant: .default,
            origin: Command.Origin(request: nil, clientIP: nil, userAgent: nil),
            intent: .relinkProvider(
                RelinkProvider(
                    account: wanted?.lastAccount ?? generator.id(), identity: identity,
                    former: FormerLink(of: identity, in: log), actor: .system,
                    reason: "by mistake", caseReference: "9", isPreview: false)))
    }

    private func expectRelinked(_ decision: Decision, in state: LedgerState) {
        guard case .success(.relinked(let plan, _)) = decision.result else { return }
        #expect(state.identities[plan.identity]?.account == plan.account)
        #expect(state.accounts[plan.account]?.linkedProviders == plan.linkedProviders)
    }

    /// Checks whether an active survivor absorbed another account.
    private func standsAtTheEnd(of account: Account, in state: LedgerState) -> Bool {
        var last = account
        for _ in 0..<MergeAccounts.familyMax {
            guard let next = last.mergedInto else { return last.erasedPosition == nil }
            guard let known = state.accounts[next] else { return false }
            last = known
        }
        return false
    }

    private func expectInvariants(of state: LedgerState) throws {
        var owners: [IdentityID: AccountID] = [:]
        for account in state.accounts.values {
            if account.erasedPosition != nil {
                #expect(account.links.isEmpty && account.holds.isEmpty)
                continue
            }
            if let survivor = account.mergedInto {
                #expect(account.links.isEmpty, "an absorbed account has no links")
                let merge = state.accounts[survivor]?.merges.last { $0.absorbed == account.id }
                #expect(merge != nil, "account \(account.id) has no survivor")
                #expect(standsAtTheEnd(of: account, in: state), "account \(account.id) is lost")
                continue
            }
            #expect(!account.links.isEmpty, "account \(account.id) is locked out")
            let anonymous = account.links.filter { $0.provider == RandomCommands.anonymous }
            #expect(anonymous.isEmpty || account.links.count == 1)
            for link in account.links {
                #expect(owners.updateValue(account.id, forKey: link.identity) == nil)
                #expect(state.identities[link.identity]?.account == account.id)
            }
        }
        for session in state.sessions.values where session.endedPosition == nil {
            #expect(
                owners[session.identity] == session.account,
                "a session lives whose identity is gone")
        }
    }
}
