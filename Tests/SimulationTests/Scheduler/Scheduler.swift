import LedgerTestSupport
import Synchronization

/// Runs every task of a simulation on one thread, one job at a time, in an order determined by a seed.
///
/// A job runs between two awaits, so every interleaving of awaits can happen, and the same seed gives the
/// same one. Time is a number that advances with each job; when nothing can run, it jumps to the next timer.
final class Scheduler: Sendable {
    private struct Timer {
        let due: Int64
        let action: TimerAction
    }

    private final class TimerAction: Sendable {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) {
            self.run = run
        }
    }

    /// The runnable jobs of one simulated process.
    private struct LaneState {
        let executor: Lane
        var ready: [UnownedJob] = []
        /// The time before which no job runs; nil for a lane that runs.
        var pausedUntil: Int64?
        var isDead = false

        var canRun: Bool { !isDead && pausedUntil == nil && !ready.isEmpty }
    }

    private struct State {
        var generator: SeededGenerator
        var lanes: [LaneState] = []
        /// Sorted so that the next one is last.
        var timers: [Timer] = []
        var now: Int64 = 0
        var steps = 0
    }

    private enum Step {
        case job(UnownedJob, Lane)
        case timer(TimerAction)
        case nothing
    }

    private let state: Mutex<State>

    init(seed: UInt64) {
        state = Mutex(State(generator: SeededGenerator(seed: seed)))
    }

    /// The microseconds since the simulation began.
    var now: Int64 { state.withLock(\.now) }

    /// The number of jobs and timers that have run.
    var steps: Int { state.withLock(\.steps) }

    /// Creates an executor whose jobs can be paused and lost together.
    func makeLane() -> Lane {
        state.withLock { state in
            let lane = Lane(number: state.lanes.count, scheduler: self)
            state.lanes.append(LaneState(executor: lane))
            return lane
        }
    }

    /// Runs no job of a lane for a time: the process is paused, everything outside it continues.
    func pause(_ lane: Lane, microseconds: Int64) {
        let until = state.withLock { state in
            let until = state.now + microseconds
            state.lanes[lane.number].pausedUntil = until
            return until
        }
        after(microseconds: microseconds) { [self] in
            state.withLock { state in
                guard state.lanes[lane.number].pausedUntil == until else { return }
                state.lanes[lane.number].pausedUntil = nil
            }
        }
    }

    /// Runs no job of a lane any more: the process has died.
    func kill(_ lane: Lane) {
        state.withLock { $0.lanes[lane.number].isDead = true }
    }

    /// Finishes the jobs of killed and paused lanes after the simulation.
    ///
    /// The memory of an unfinished task would never be freed.
    func runRemaining() {
        state.withLock { state in
            for index in state.lanes.indices {
                state.lanes[index].isDead = false
                state.lanes[index].pausedUntil = nil
            }
        }
    }

    /// Calls an action after a time.
    func after(microseconds: Int64, _ action: @escaping @Sendable () -> Void) {
        let action = TimerAction(action)
        state.withLock { state in
            let due = state.now + max(0, microseconds)
            // After the timers that are due at the same time.
            let index = state.timers.lastIndex { $0.due > due } ?? -1
            state.timers.insert(Timer(due: due, action: action), at: index + 1)
        }
    }

    /// Suspends the task for a simulated time; does not end early.
    func sleep(microseconds: Int64) async {
        await withCheckedContinuation { continuation in
            after(microseconds: microseconds) { continuation.resume() }
        }
    }

    /// Runs one job or one timer; returns false when nothing can run any more.
    func step() -> Bool {
        switch state.withLock({ Self.next(&$0) }) {
        case .job(let job, let lane): unsafe job.runSynchronously(on: lane.asUnownedTaskExecutor())
        case .timer(let action): action.run()
        case .nothing: return false
        }
        return true
    }

    fileprivate func add(_ job: UnownedJob, to lane: Lane) {
        state.withLock { $0.lanes[lane.number].ready.append(job) }
    }

    private static func next(_ state: inout State) -> Step {
        state.steps += 1
        if let timer = state.timers.last, timer.due <= state.now {
            state.timers.removeLast()
            return .timer(timer.action)
        }
        let count = state.lanes.reduce(0) { $0 + ($1.canRun ? $1.ready.count : 0) }
        guard count > 0 else {
            guard let timer = state.timers.popLast() else { return .nothing }
            state.now = timer.due
            return .timer(timer.action)
        }
        state.now += Int64.random(in: 1...200, using: &state.generator)
        var index = Int.random(in: 0..<count, using: &state.generator)
        for lane in state.lanes.indices where state.lanes[lane].canRun {
            guard index >= state.lanes[lane].ready.count else {
                return .job(state.lanes[lane].ready.remove(at: index), state.lanes[lane].executor)
            }
            index -= state.lanes[lane].ready.count
        }
        return .nothing
    }
}

/// The executor of the tasks of one simulated process.
final class Lane: TaskExecutor {
    let number: Int
    private let scheduler: Scheduler

    fileprivate init(number: Int, scheduler: Scheduler) {
        self.number = number
        self.scheduler = scheduler
    }

    func enqueue(_ job: consuming ExecutorJob) {
        scheduler.add(UnownedJob(job), to: self)
    }
}
