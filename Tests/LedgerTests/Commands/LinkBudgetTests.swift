import Ledger
import LedgerTestSupport
import Testing

/// Limits on the growth of the log: every appended refusal counts against a budget.
@Suite struct LinkBudgetTests {
    private var policy: TenantPolicy {
        TenantPolicy(providers: Set(RandomCommands.providers), severalPerProvider: true)
    }

    @Test func `one token refused in two ways alternately is two attempts and two events`()
        throws
    {
        var model = ModelLedger(policy: policy)
        _ = try model.signIn(subject("google", "held"))
        let caller = try model.signIn(subject("apple", "a"))
        var results: [Result<Reply, Refusal>] = []
        for _ in 0..<20 {
            let held = proof(subject("google", "held"))
            results.append(try model.link(caller, .success(held), token: 1))
            results.append(try model.link(caller, .failure(.invalid), token: 1))
        }
        #expect(results.allSatisfy { $0.isRefused })
        #expect(model.events.count { $0.name == .conflictRejected } == 1)
        #expect(model.events.count { $0.name == .linkRejected } == 1)
    }

    @Test func `linking and unlinking repeatedly with one token exhausts the budget`() throws {
        var model = ModelLedger(policy: policy)
        let caller = try model.signIn(subject("apple", "a"))
        var linked = 0
        for _ in 0..<20 {
            let google = proof(subject("google", "a"))
            if case .success = try model.link(caller, .success(google), token: 1) { linked += 1 }
            _ = try model.unlink(caller, "google")
        }
        #expect(linked == 5)
    }

    @Test func `the same refusal of the same token is appended once and counts once`() throws {
        var model = ModelLedger(policy: policy)
        let caller = try model.signIn(subject("apple", "a"))
        for _ in 0..<20 {
            #expect(
                try model.link(caller, .failure(.invalid), token: 1)
                    == .failure(.invalidProviderToken))
        }
        for token in 2..<6 {
            #expect(
                try model.link(caller, .failure(.invalid), token: token)
                    == .failure(.invalidProviderToken))
        }
        guard
            case .failure(.rateLimited(let wait)) = try model.link(
                caller, .failure(.invalid), token: 6)
        else {
            Issue.record("the sixth attempt is not limited")
            return
        }
        #expect(wait > 3590 && wait <= 3600)
        #expect(model.events.count { $0.name == .linkRejected } == 5)
        #expect(
            try model.link(caller, .failure(.invalid), token: 1)
                == .failure(.invalidProviderToken),
            "a repeated token is answered as before, budget or not")
    }

    @Test func `repeated refused unlinks of several identities are appended once each`() throws {
        var rules = policy
        rules.reauthenticationSeconds = -1
        var model = ModelLedger(policy: rules)
        let caller = try model.signIn(subject("apple", "a"))
        for name in ["g1", "g2"] {
            let google = proof(subject("google", name))
            _ = try model.link(caller, .success(google), token: name == "g1" ? 1 : 2)
        }
        let identities = model.identities(of: caller, "google")
        for _ in 0..<20 {
            for identity in identities {
                #expect(
                    try model.unlink(caller, "google", identity: identity)
                        == .failure(.reauthenticationRequired))
            }
        }
        #expect(model.events.count { $0.name == .unlinkRejected } == 2)
    }
}

extension Result<Reply, Refusal> {
    fileprivate var isRefused: Bool {
        if case .failure = self { true } else { false }
    }
}
