import BlockingCalls
import Ledger
import Synchronization

/// The seeds that have not been run yet.
private final class WaitingSeeds: Sendable {
    private let seeds: Mutex<[UInt64]>

    init(_ seeds: some Sequence<UInt64>) {
        self.seeds = Mutex(seeds.reversed())
    }

    func next() -> UInt64? {
        seeds.withLock { $0.popLast() }
    }
}

/// The combined results of many simulations, several at a time.
struct SeedRun: Sendable {
    private(set) var seeds = 0
    private(set) var failures: [SimulationReport] = []
    private(set) var steps = 0
    private(set) var commands = 0
    private(set) var sharedBatches = 0
    private(set) var fingerprint: UInt64 = 0
    private(set) var events: [Event.Name: Int] = [:]
    private(set) var answers: [String: Int] = [:]
    private(set) var faults: [Fault: Int] = [:]

    /// Runs the simulations of seeds on these threads; stops after a number of failures.
    static func run(
        _ seeds: some Sequence<UInt64>, on threads: [BlockingExecutor] = [.simulations],
        failuresMax: Int = 3
    ) async -> SeedRun {
        let waiting = WaitingSeeds(seeds)
        return await withTaskGroup { group in
            for thread in threads {
                group.addTask {
                    var run = SeedRun()
                    while run.failures.count < failuresMax,
                        let seed = waiting.next()
                    {
                        run.add(await thread.run { Simulation.run(Parameters(seed: seed)) })
                    }
                    return run
                }
            }
            return await group.reduce(into: SeedRun()) { $0.add($1) }
        }
    }

    private mutating func add(_ report: SimulationReport) {
        seeds += 1
        if !report.contradictions.isEmpty { failures.append(report) }
        steps += report.steps
        commands += report.commands
        sharedBatches += report.sharedBatches
        fingerprint &+= report.fingerprint
        events.merge(report.events, uniquingKeysWith: +)
        answers.merge(report.answers, uniquingKeysWith: +)
        faults.merge(report.faults, uniquingKeysWith: +)
    }

    private mutating func add(_ other: SeedRun) {
        seeds += other.seeds
        failures += other.failures
        steps += other.steps
        commands += other.commands
        sharedBatches += other.sharedBatches
        fingerprint &+= other.fingerprint
        events.merge(other.events, uniquingKeysWith: +)
        answers.merge(other.answers, uniquingKeysWith: +)
        faults.merge(other.faults, uniquingKeysWith: +)
    }

    /// Returns counts in the order of their names, in one line.
    static func line<Name>(_ counts: [Name: Int], name: (Name) -> String) -> String {
        counts.map { "\(name($0.key)) \($0.value)" }.sorted().joined(separator: ", ")
    }
}

extension BlockingExecutor {
    /// The thread shared by the simulations of tests, which leaves most of the machine to other tests.
    static let simulations = BlockingExecutor(label: "simulations")
}
