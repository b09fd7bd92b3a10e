import Ledger
import Synchronization

@testable import LedgerEngine

/// The whole of a simulation: the database, the processes, the network and the faults.
final class World: Sendable {
    private struct State {
        var slots: [SimulatedProcess?]
        var processes: [SimulatedProcess] = []
        var poisoned: Set<CommandID> = []
        var faultsAreOn = false
        var isOver = false
        var faultCounts: [Fault: Int] = [:]
        var reports: [String] = []
        var lines: [String] = []
    }

    let parameters: Parameters
    let policies: [TenantID: TenantPolicy]
    let bug: PlantedBug?
    let scheduler: Scheduler
    let dice: Dice
    let database: MemoryDatabase
    let projections: MemoryProjections
    let seals = MemorySeals()
    let endpoints = MemoryEndpoints()
    let history = History()
    let decider: BatchDecider
    /// The clock with which processes measure durations.
    let clock: @Sendable () -> ContinuousClock.Instant
    private let keepsTrace: Bool
    private let state: Mutex<State>

    init(_ parameters: Parameters, bug: PlantedBug?, keepsTrace: Bool) {
        self.parameters = parameters
        self.bug = bug
        self.keepsTrace = keepsTrace
        let policies = parameters.policies
        let dice = Dice(seed: parameters.seed ^ 0xD1CE)
        self.policies = policies
        self.dice = dice
        let scheduler = Scheduler(seed: parameters.seed)
        self.scheduler = scheduler
        let beginning = ContinuousClock.now
        clock = { beginning + .microseconds(scheduler.now) }
        database = MemoryDatabase(
            tenants: policies.keys.sorted(), scheduler: scheduler, bug: bug)
        projections = MemoryProjections(
            tenants: policies.keys.sorted(), scheduler: scheduler)
        decider = BatchDecider(policy: { policies[$0] }, random: { dice.bytes($0) })
        state = Mutex(State(slots: Array(repeating: nil, count: parameters.processes)))
    }

    var tenants: [TenantID] { policies.keys.sorted() }
    var processes: [SimulatedProcess] { state.withLock(\.processes) }
    var faultCounts: [Fault: Int] { state.withLock(\.faultCounts) }
    /// The failures that sequencers and projectors reported.
    var reports: [String] { state.withLock(\.reports) }
    var lines: [String] { state.withLock(\.lines) }

    // MARK: - Processes

    /// Returns the process in a slot, or nil.
    func process(at slot: Int) -> SimulatedProcess? {
        state.withLock { $0.slots[slot] }
    }

    /// Starts a process in a slot.
    func start(at slot: Int) {
        guard !isOver else { return }
        let process = state.withLock { state in
            let process = SimulatedProcess(
                number: state.processes.count, slot: slot, lane: scheduler.makeLane())
            state.processes.append(process)
            state.slots[slot] = process
            return process
        }
        process.start(self)
        trace("starts", in: process)
    }

    /// Kills a process in the middle of its work.
    func crash(_ process: SimulatedProcess) {
        guard process.isAlive else { return }
        trace("crashes", in: process)
        scheduler.kill(process.lane)
        let pending = process.die()
        state.withLock { $0.slots[process.slot] = nil }
        // The database notices at once or a little later, and holds the locks until then.
        scheduler.after(microseconds: dice.microseconds(0...200_000)) { [self] in
            database.disconnect(process.number)
            projections.disconnect(process.number)
        }
        scheduler.after(microseconds: dice.microseconds(1000...50_000)) {
            for call in pending { call.conclude(.lost) }
        }
        scheduler.after(microseconds: dice.microseconds(100_000...3_000_000)) { [self] in
            start(at: process.slot)
        }
    }

    /// Whether the loops of all processes have to end.
    var isOver: Bool { state.withLock(\.isOver) }

    /// Ends everything that still runs, so that its memory is freed.
    func end() {
        state.withLock { state in
            state.isOver = true
            state.faultsAreOn = false
        }
        database.close()
        projections.close()
        seals.close()
        endpoints.close()
        scheduler.runRemaining()
        for process in processes {
            process.sequencer?.close()
        }
        while scheduler.step() {}
        for process in processes {
            process.release()
        }
    }

    // MARK: - Faults

    func startFaults() {
        state.withLock { $0.faultsAreOn = true }
    }

    func stopFaults() {
        state.withLock { $0.faultsAreOn = false }
    }

    /// Whether a fault happens now.
    func strikes(_ fault: Fault) -> Bool {
        let isPossible = state.withLock { $0.faultsAreOn } && parameters.faults.contains(fault)
        guard isPossible, dice.chance(fault.probability * parameters.severity) else { return false }
        state.withLock { $0.faultCounts[fault, default: 0] += 1 }
        trace("fault: \(fault)")
        return true
    }

    /// A point where a process waits for the store: it may be paused or killed here.
    func faultPoint(_ name: String, in process: SimulatedProcess) async {
        trace(name, in: process)
        if strikes(.crash) {
            crash(process)
        } else if strikes(.pause) {
            scheduler.pause(process.lane, microseconds: dice.microseconds(50_000...9_000_000))
        }
        if strikes(.clockStep) { stepClock() }
        await scheduler.sleep(microseconds: dice.microseconds(100...3000))
    }

    /// Sometimes pauses or kills a process at any point, not only where it waits for the store.
    func injectRandomFault() {
        scheduler.after(microseconds: dice.microseconds(0...100_000)) { [self] in
            guard !isOver else { return }
            if let process = process(at: dice.number(0...parameters.processes - 1)) {
                if strikes(.crash) {
                    crash(process)
                } else if strikes(.pause) {
                    scheduler.pause(
                        process.lane, microseconds: dice.microseconds(50_000...9_000_000))
                }
            }
            if strikes(.databaseRestart) {
                database.restart()
                projections.restart(losing: dice.number(0...2))
            }
            injectRandomFault()
        }
    }

    /// Usually by seconds; sometimes by an hour back, or so far forward that answers lapse.
    private func stepClock() {
        let seconds =
            switch dice.number(0...9) {
            case 0: -3600
            case 1: 3600
            case 2: 90_000
            default: dice.number(-20...15)
            }
        database.moveClock(microseconds: Int64(seconds) * 1_000_000)
    }

    /// Sets the database's clock forward, if it may step at all.
    func letPass(seconds: Int64) {
        guard state.withLock({ $0.faultsAreOn }), parameters.faults.contains(.clockStep) else {
            return
        }
        database.moveClock(microseconds: seconds * 1_000_000)
    }

    func poison(_ command: CommandID) {
        _ = state.withLock { $0.poisoned.insert(command) }
    }

    /// Returns the failure of a batch that is about to commit, if any.
    func commitFailure(_ writes: [TenantWrites], in batch: CommittedBatch) -> BatchFault? {
        let poisoned = state.withLock(\.poisoned)
        let isPoisoned = writes.contains { write in
            write.recordings.contains { poisoned.contains($0.recorded.command) }
        }
        if isPoisoned || strikes(.statementRefused) {
            history.refuse(processes[batch.process].arrivals[batch.arrivals])
            return .refused
        }
        return strikes(.commitFails) ? .diskFull : nil
    }

    // MARK: - Trace

    func report(_ line: String) {
        trace("report: \(line)")
        state.withLock { $0.reports.append(line) }
    }

    func trace(_ text: @autoclosure () -> String, in process: SimulatedProcess? = nil) {
        guard keepsTrace else { return }
        let milliseconds = scheduler.now / 1000
        let who = process.map { "process \($0.number): " } ?? ""
        let line = "\(scheduler.steps) +\(milliseconds)ms \(who)\(text())"
        state.withLock { $0.lines.append(line) }
    }
}

extension SimulatedProcess {
    /// Starts a sequencer, a projector, a sealer and a dispatcher.
    fileprivate func start(_ world: World) {
        let store = MemoryBatchStore(process: self, world: world)
        let sequencer = Sequencer(
            queueLimit: world.parameters.queueLimit, batchLimit: world.parameters.batchLimit,
            now: world.clock,
            store: store, decider: world.decider,
            onCommit: { [recent] appended in
                // In the order of their names: how many are kept must not depend on a hash.
                for events in appended.sorted(by: { $0.tenant < $1.tenant }) {
                    recent.add(events)
                }
            },
            onFault: { [weak world] line in world?.report(line) })
        start(sequencer)
        Task(executorPreference: lane) { [self] in
            await sequencer.run()
            stop()
        }
        Task(executorPreference: lane) { [self] in await project(world) }
        Task(executorPreference: lane) { [self] in await seal(world) }
        if world.parameters.deliversWebhooks {
            Task(executorPreference: lane) { [self] in await dispatch(world) }
        }
    }

    /// Seals, with pauses, until the simulation is over.
    private func seal(_ world: World) async {
        var limits = SealingLimits()
        limits.pageMax = world.parameters.pageLimit
        limits.signedMax = 3 * world.parameters.pageLimit
        var sealing = LogSealing(
            store: MemorySealerStore(process: self, world: world),
            record: MemorySealerRecord(world: world), limits: limits)
        while !world.isOver {
            do {
                let round = try await sealing.round()
                for log in round.logs {
                    guard let refusal = round.refusals[log.tenant] else { continue }
                    world.seals.refuse(log.tenant, refusal)
                    world.report("\(log.tenant) is not signed any more: \(refusal)")
                }
                guard !round.hasMore else { continue }
                await world.scheduler.sleep(microseconds: 100_000)
            } catch {
                world.report("the sealer cannot reach its tables: \(error)")
                await world.scheduler.sleep(microseconds: 50_000)
            }
        }
    }

    /// Folds, with pauses as in a projector, until the simulation is over.
    private func project(_ world: World) async {
        let folder = ProjectionFolder(
            store: MemoryProjectionStore(process: self, world: world),
            batch: world.parameters.pageLimit, onAdvance: { _ in },
            onFault: { [weak world] line in world?.report(line) })
        while !world.isOver {
            do {
                let round = try await folder.round()
                let rest: Int64 = round.hasFaults ? 50_000 : round.hasFullPage ? 0 : 20_000
                await world.scheduler.sleep(microseconds: rest)
            } catch {
                world.report("the projector cannot reach its tables: \(error)")
                await world.scheduler.sleep(microseconds: 50_000)
            }
        }
    }
}
