import Dispatch
import Glibc
import Synchronization
import Testing

@testable import BlockingCalls

/// A pool runs few bodies at a time, and refuses callers instead of queuing without bound.
@Suite struct BlockingPoolTests {
    @Test func `a caller beyond threads and waiting places is refused before it runs`() async throws
    {
        let pool = BlockingPool(label: "test", threads: 2, waitingMax: 1)
        let first = try pool.admit()
        let second = try pool.admit()
        let third = try pool.admit()
        #expect(throws: BlockingPool.Full.self) { _ = try pool.admit() }
        #expect(pool.admittedCount == 3)
        await first.run {}
        #expect(pool.admittedCount == 2)
        await second.run {}
        await third.run {}
        #expect(pool.admittedCount == 0)
    }

    @Test func `each client has a share, and known ones have places of their own`() throws {
        let pool = BlockingPool(
            label: "test", threads: 1, waitingMax: 3, waitingMaxPerClient: 1, keptForKnown: 1)
        let (ada, bob) = (BlockingPool.Client("ada"), BlockingPool.Client("bob"))
        let known = BlockingPool.Client("ada", isKnown: true)
        do {
            let first = try pool.admit(for: ada)
            let second = try pool.admit(for: ada)
            #expect(throws: BlockingPool.Full.self) { _ = try pool.admit(for: ada) }
            let third = try pool.admit(for: bob)
            #expect(throws: BlockingPool.Full.self) { _ = try pool.admit(for: bob) }
            let fourth = try pool.admit(for: known)
            #expect(throws: BlockingPool.Full.self) { _ = try pool.admit(for: known) }
            #expect(throws: BlockingPool.Full.self) { _ = try pool.admit() }
            _ = consume first
            _ = consume second
            _ = consume third
            _ = consume fourth
        }
        #expect(pool.admittedCount == 0)
        _ = try pool.admit(for: ada)
    }

    @Test func `an admission that is not used is given back`() throws {
        let pool = BlockingPool(label: "test", threads: 1, waitingMax: 0)
        do {
            _ = try pool.admit()
        }
        _ = try pool.admit()
        #expect(pool.admittedCount == 0)
    }

    @Test func `no more bodies run at a time than there are threads`() async throws {
        let pool = BlockingPool(label: "test", threads: 2, waitingMax: 100)
        let running = Running()
        try await withThrowingTaskGroup { group in
            for _ in 0..<100 {
                group.addTask {
                    try await pool.admit().run {
                        running.begin()
                        running.end()
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(running.most <= 2)
        #expect(pool.admittedCount == 0)
    }

    @Test func `results are handed over together while many bodies wait, but not all at the end`()
        async throws
    {
        // Of 16 waiting bodies, the first three have their results handed over together.
        let (count, group) = (16, 3)
        let pool = BlockingPool(label: "test", threads: 1, waitingMax: count)
        let handovers = Handovers()
        try await withThrowingTaskGroup { tasks in
            tasks.addTask {
                try await pool.admit().run {
                    handovers.isHeld.withLock { $0 = true }
                    handovers.allWait.wait()
                }
            }
            while !handovers.isHeld.withLock(\.self) { await Task.yield() }
            for _ in 0..<count {
                tasks.addTask {
                    let isInTime = try await pool.admit().run {
                        let number = handovers.begin()
                        // The result of the first body is kept while the second one runs.
                        if number == 2 { return !handovers.waits(forResult: .milliseconds(250)) }
                        // A thread that kept all results would wait here for ever.
                        return number != group + 2 || handovers.waits(forResult: .seconds(120))
                    }
                    #expect(isInTime)
                    handovers.noteResult()
                }
            }
            while pool.waitingCount < count { await Task.yield() }
            handovers.allWait.signal()
            try await tasks.waitForAll()
        }
        #expect(pool.admittedCount == 0)
    }

    @Test func `bodies run at a low priority`() async throws {
        let pool = BlockingPool(label: "test", threads: 1, waitingMax: 0)
        let nice = try await pool.admit().run { getpriority(Int32(PRIO_PROCESS.rawValue), 0) }
        #expect(nice == getpriority(Int32(PRIO_PROCESS.rawValue), 0) + 15 || nice == 19)
    }

    @Test func `the error of a body is thrown, and its place is free again`() async throws {
        struct Broken: Error {}
        let pool = BlockingPool(label: "test", threads: 1, waitingMax: 0)
        await #expect(throws: Broken.self) {
            try await pool.admit().run { throw Broken() }
        }
        #expect(pool.admittedCount == 0)
    }
}

/// The number of bodies that run, and the most that ran at a time.
private final class Running: Sendable {
    private struct Counts {
        var now = 0
        var most = 0
    }

    private let counts = Mutex(Counts())

    func begin() {
        counts.withLock {
            $0.now += 1
            $0.most = max($0.most, $0.now)
        }
    }

    func end() { counts.withLock { $0.now -= 1 } }

    var most: Int { counts.withLock(\.most) }
}

/// The beginnings and the results of bodies.
private final class Handovers: Sendable {
    let isHeld = Mutex(false)
    let allWait = DispatchSemaphore(value: 0)
    private let begun = Mutex(0)
    private let results = DispatchSemaphore(value: 0)

    func begin() -> Int {
        begun.withLock { count in
            count += 1
            return count
        }
    }

    /// Waits for the next result; returns false at the timeout.
    func waits(forResult limit: DispatchTimeInterval) -> Bool {
        results.wait(timeout: .now() + limit) == .success
    }

    func noteResult() {
        results.signal()
    }
}
