import BlockingCalls
import Glibc
import Synchronization
import Testing

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
