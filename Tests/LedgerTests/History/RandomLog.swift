import Ledger
import LedgerTestSupport

/// The log of a random history with merges and undone merges, and its state at each position.
struct RandomLog {
    struct Step {
        let recorded: RecordedEvent
        let leaf: Digest
        /// The names of its disclosures.
        let disclosed: [Disclosure.Name]
        /// After the event.
        let state: LedgerState
        /// The absorbers by account, after the event; an erasure does not change them.
        let absorbing: [AccountID: AccountID]
    }

    let steps: [Step]

    init(
        seed: UInt64, commands count: Int, subjectsPerProvider: Int = 4, hasEveryType: Bool = false
    ) throws {
        var commands = RandomCommands(
            seed: seed, subjectsPerProvider: subjectsPerProvider, hasEveryType: hasEveryType)
        var model = ModelLedger(
            policy: RandomCommands.policy(hasEveryType: hasEveryType), seed: seed)
        var replayed = LedgerState(tenant: .default)
        var steps: [Step] = []
        var absorbing: [AccountID: AccountID] = [:]
        for step in 0..<count {
            let now = Timestamp(seconds: 1_790_000_000 + Int64(step))
            let size = model.log.count
            let decision = try model.execute(commands.next(), at: now)
            for recording in model.log[size...] {
                let recorded = try EntryEncoding.decode(recording.entry)
                let leaf = leafHash(recording.entry)
                try replayed.apply(recorded, leaf: leaf)
                switch recorded.event {
                case .accountsMerged(let fact): absorbing[fact.absorbed] = fact.survivor
                case .accountsUnmerged(let fact): absorbing[fact.absorbed] = nil
                default: break
                }
                steps.append(
                    Step(
                        recorded: recorded, leaf: leaf, disclosed: recording.disclosed.map(\.name),
                        state: replayed, absorbing: absorbing))
            }
            commands.learn(decision.result)
        }
        self.steps = steps
    }

    /// The state before any events.
    static let nothing = LedgerState(tenant: .default)

    /// Returns the state before an event.
    func state(before index: Int) -> LedgerState {
        index == 0 ? Self.nothing : steps[index - 1].state
    }

    /// Returns the survivor of an account as of a step.
    func survivor(of account: AccountID, at index: Int) -> AccountID {
        var last = account
        while let next = steps[index].absorbing[last] { last = next }
        return last
    }
}
