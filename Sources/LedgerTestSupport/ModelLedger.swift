package import Ledger

/// The pure model with nothing around it: decides, records and keeps everything in memory.
package struct ModelLedger {
    private let policy: TenantPolicy
    private var state: DecisionState
    private var generator = SeededGenerator(seed: 1)
    private var now = Timestamp(seconds: 1_790_000_000)
    /// Everything that was appended.
    package private(set) var events: [Event] = []

    /// Starts an empty ledger.
    package init(policy: TenantPolicy) {
        self.policy = policy
        state = DecisionState(ledger: LedgerState(tenant: .default))
    }

    /// Carries out a command; each one comes a millisecond after the one before it.
    ///
    /// - Throws: `FoldFault` when decision and fold disagree.
    package mutating func carryOut(_ command: Command) throws -> Result<Reply, Refusal> {
        now = Timestamp(microseconds: now.microseconds + 1000)
        let decision = command.decide(given: state, at: now, under: policy)
        let bytes = generator.bytes(256)
        let recorder = Recorder(
            leafHash: leafHash, digest: sha256, random: { Array(bytes.prefix($0)) })
        let recordings = try recorder.record(decision, of: command, into: &state, at: now)
        events += recordings.map(\.recorded.event)
        return decision.result
    }
}

extension Event {
    /// The event without what depends on the clock.
    package var comparable: Event {
        guard case .signedIn(let fact) = self else { return self }
        return .signedIn(
            SignedIn(
                account: fact.account, authenticatedAt: Timestamp(seconds: 0),
                identity: fact.identity, provider: fact.provider, session: fact.session))
    }
}

extension Result<Reply, Refusal> {
    /// The result without what depends on the clock.
    package var comparable: Self {
        switch self {
        case .success(.signedIn(let grant, let isNewUser)):
            .success(.signedIn(grant.comparable, isNewUser: isNewUser))
        case .success(.refreshed(let grant, let exchange)):
            .success(.refreshed(grant.comparable, exchange))
        case .success, .failure: self
        }
    }
}

extension Grant {
    fileprivate var comparable: Grant {
        Grant(
            account: account, session: session, authenticatedAt: Timestamp(seconds: 0),
            linkedProviders: linkedProviders)
    }
}
