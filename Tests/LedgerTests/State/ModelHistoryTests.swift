import Ledger
import LedgerTestSupport
import Testing

/// Random histories through the pure model: what must hold at every position of every one of them.
@Suite struct ModelHistoryTests {
    static let seeds = Array(UInt64(1)...40)

    @Test(arguments: seeds)
    func `every prefix folds, and every command leaves the invariants`(seed: UInt64) throws {
        var policy = TenantPolicy(providers: Set(RandomCommands.providers))
        policy.linkBudget = Budget(limit: 1000, windowSeconds: 3600)
        policy.signInBudget = Budget(limit: 1000, windowSeconds: 3600)
        var commands = RandomCommands(seed: seed)
        var state = DecisionState(ledger: LedgerState(tenant: .default))
        var generator = SeededGenerator(seed: seed)
        var replayed = LedgerState(tenant: .default)
        for step in 0..<400 {
            let command = commands.next()
            let now = Timestamp(seconds: 1_790_000_000 + Int64(step))
            let decision = command.decide(given: state, at: now, under: policy)
            let bytes = generator.bytes(256)
            let recorder = Recorder(
                leafHash: leafHash, digest: sha256, random: { Array(bytes.prefix($0)) })
            let recordings = try recorder.record(decision, of: command, into: &state, at: now)
            for recording in recordings {
                try replayed.apply(
                    EntryEncoding.decode(recording.entry), leaf: leafHash(recording.entry))
            }
            commands.learn(decision.result)
            try expectInvariants(of: replayed)
            #expect(replayed.accounts == state.ledger.accounts)
            #expect(replayed.identities == state.ledger.identities)
            #expect(replayed.sessions == state.ledger.sessions)
        }
        #expect(replayed.nextPosition.value > 100, "the history is long enough to mean something")
    }

    private func expectInvariants(of state: LedgerState) throws {
        var owners: [IdentityID: AccountID] = [:]
        for account in state.accounts.values {
            if account.erasedPosition != nil {
                #expect(account.links.isEmpty && account.holds.isEmpty)
                continue
            }
            #expect(!account.links.isEmpty, "account \(account.id) is locked out")
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
