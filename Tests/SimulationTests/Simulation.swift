import Ledger
import Synchronization

@testable import LedgerEngine

/// The result of one simulation.
struct SimulationReport: Sendable {
    let parameters: Parameters
    let contradictions: [String]
    let steps: Int
    let commands: Int
    let events: [Event.Name: Int]
    /// The number of answers of each kind.
    let answers: [String: Int]
    let faults: [Fault: Int]
    /// The number of commits with two commands or more.
    let sharedBatches: Int
    /// A hash of the logs and the number of steps: the same in every process.
    let fingerprint: UInt64
    /// The trace, when requested.
    let lines: [String]
}

/// One simulation from its first step to its verdict.
final class Simulation: Sendable {
    /// The number of steps after which faults end, whatever clients still do.
    private static let faultStepsMax = 150_000
    /// The number of steps after the last fault in which everything has to be answered and folded.
    private static let calmStepsMax = 150_000

    private enum Phase {
        case faults, calm, closing, over
    }

    private let world: World
    private let phase = Mutex(Phase.faults)

    private init(_ world: World) {
        self.world = world
    }

    /// Runs a simulation on the calling thread; the same parameters give the same report.
    static func run(
        _ parameters: Parameters, bug: PlantedBug? = nil, keepsTrace: Bool = false
    ) -> SimulationReport {
        let world = World(parameters, bug: bug, keepsTrace: keepsTrace)
        var contradictions = Simulation(world).run()
        var oracle = Oracle(world)
        contradictions = oracle.contradictions() + contradictions
        var answers = counts(world.history.all.compactMap(\.answer).map(\.kind))
        answers["waited too long"] = lateCount(world)
        let report = SimulationReport(
            parameters: parameters, contradictions: contradictions, steps: world.scheduler.steps,
            commands: world.history.all.count,
            events: counts(
                world.tenants.flatMap { world.database.log(of: $0) }.map(\.recorded.event.name)),
            answers: answers,
            faults: world.faultCounts,
            sharedBatches: world.database.journal.filter { $0.arrivals.count > 1 }.count,
            fingerprint: fingerprint(
                world.tenants.flatMap { world.database.log(of: $0) }.flatMap(\.leaf.bytes)
                    + Array("\(world.scheduler.steps)".utf8)),
            lines: world.lines)
        world.end()
        return report
    }

    /// Returns the number of queued commands that were refused because they waited too long.
    private static func lateCount(_ world: World) -> Int {
        let deliveries = world.history.all
        return world.processes.flatMap(\.arrivals).count {
            deliveries[$0].answer?.isOverload == true
        }
    }

    /// Runs until everything is answered and folded; returns what remains.
    private func run() -> [String] {
        for slot in 0..<world.parameters.processes {
            world.start(at: slot)
        }
        Task(executorPreference: world.scheduler.makeLane()) { [self] in await drive() }
        var calmSince: Int?
        while phase.withLock(\.self) != .over {
            guard world.scheduler.step() else { return ["nothing can run, but a task waits"] }
            let steps = world.scheduler.steps
            if steps == Self.faultStepsMax { world.stopFaults() }
            if calmSince == nil, phase.withLock(\.self) != .faults || steps > Self.faultStepsMax {
                calmSince = steps
            }
            if let calmSince, steps > calmSince + Self.calmStepsMax {
                return ["phase \(phase.withLock(\.self)) does not end after the last fault"]
            }
        }
        return []
    }

    private func drive() async {
        await open()
        world.startFaults()
        world.injectRandomFault()
        let clients = (0..<world.parameters.clients).map { _ in Client(world) }
        await withDiscardingTaskGroup { group in
            for client in clients {
                group.addTask {
                    var client = client
                    await client.run()
                }
            }
        }
        world.stopFaults()
        move(to: .calm)
        var client = Client(world)
        for _ in 0..<3 {
            await client.probe()
        }
        let slots = 0..<world.parameters.processes
        await wait { [self] in
            isCaughtUp && slots.allSatisfy { world.process(at: $0) != nil }
        }
        move(to: .closing)
        for process in world.processes where process.isAlive {
            process.sequencer?.close()
        }
        await wait { [self] in
            world.processes.allSatisfy { !$0.isAlive || $0.hasStopped }
        }
        // A process that was paused may have had commands left to decide.
        await wait { [self] in isCaughtUp }
        move(to: .over)
    }

    private func move(to next: Phase) {
        world.trace("phase \(next)")
        phase.withLock { $0 = next }
    }

    /// Opens the tenants' ledgers before any fault can happen.
    private func open() async {
        for tenant in world.tenants {
            let call = await world.call(.open, tenant: tenant, slot: 0)
            if case .lost = call { world.report("\(tenant) could not be opened") }
        }
    }

    /// Whether every event is folded, sealed and delivered.
    private var isCaughtUp: Bool { isFolded && isSealed && isDelivered }

    private var isFolded: Bool {
        world.tenants.allSatisfy { tenant in
            let head = Int64(world.database.logCount(of: tenant))
            return MemoryProjections.tables.allSatisfy {
                let partition = world.projections.partition(tenant, $0)
                return partition.position.value == head || partition.failure != nil
            }
        }
    }

    private var isSealed: Bool {
        world.tenants.allSatisfy { tenant in
            let signed = world.seals.partition(tenant).checkpoints.last?.size ?? 0
            return Int(signed) == world.database.logCount(of: tenant)
                || !world.seals.refusals.isEmpty
        }
    }

    private var isDelivered: Bool {
        !world.parameters.deliversWebhooks
            || world.tenants.allSatisfy { tenant in
                let endpoint = world.endpoints.endpoint(tenant)
                return endpoint.pending.isEmpty
                    && Int(endpoint.next.value) == world.database.logCount(of: tenant)
            }
    }

    private func wait(until condition: @Sendable () -> Bool) async {
        while !condition(), !world.isOver {
            await world.scheduler.sleep(microseconds: 20_000)
        }
    }
}

/// FNV-1a of bytes: the same in every process, unlike `Hasher`.
func fingerprint(_ bytes: some Sequence<UInt8>) -> UInt64 {
    bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
}

/// Counts equal elements.
func counts<Element: Hashable>(_ elements: [Element]) -> [Element: Int] {
    elements.reduce(into: [:]) { $0[$1, default: 0] += 1 }
}

extension Sequencer.Answer {
    /// The kind of the answer, without its details.
    var kind: String {
        switch self {
        case .failure(let fault): "\(fault)"
        case .success(.success(.refreshed(_, .fresh))): "refreshed"
        case .success(.success(.refreshed(_, .repeated))): "refreshed again"
        case .success(.success(.unlinkPlanEnded(.unlinked))): "unlinked by support"
        case .success(.success(let reply)): "\(reply)".prefix { $0.isLetter }.description
        case .success(.failure(.providerConflict(let reason))): "conflict \(reason)"
        case .success(.failure(let refusal)): "\(refusal)".prefix { $0.isLetter }.description
        }
    }
}
