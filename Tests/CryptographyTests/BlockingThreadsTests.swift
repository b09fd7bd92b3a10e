import Foundation
import Synchronization
import Testing

@testable import Cryptography

@Suite(.timeLimit(.minutes(10))) struct BlockingThreadsTests {
    @Test func `as much work as allowed runs at a time, and the rest after it in order`()
        async throws
    {
        let threads = BlockingThreads(countMax: 3)
        let gate = DispatchSemaphore(value: 0)
        let begun = Mutex<[Int]>([])
        for number in 0..<7 {
            threads.run(for: "\(number)") {
                begun.withLock { $0.append(number) }
                gate.wait()
            }
        }
        try await eventually("three have begun") { begun.withLock(\.count) == 3 }
        for count in 4...7 {
            gate.signal()
            try await eventually("\(count) have begun") { begun.withLock(\.count) == count }
            #expect(begun.withLock(\.last) == count - 1)
        }
        for _ in 0..<3 {
            gate.signal()
        }
        // Threads begin again after all have ended.
        threads.run(for: "7") { begun.withLock { $0.append(7) } }
        try await eventually("the last has begun") { begun.withLock(\.last) == 7 }
    }

    @Test func `work for one name runs one at a time and holds up no other name`() async throws {
        let threads = BlockingThreads(countMax: 3)
        let gates = ["slow": DispatchSemaphore(value: 0), "other": DispatchSemaphore(value: 0)]
        let begun = Mutex<[String]>([])
        for name in ["slow", "slow", "slow", "slow", "other", "other"] {
            threads.run(for: name) {
                begun.withLock { $0.append(name) }
                gates[name]?.wait()
            }
        }
        try await eventually("one of each has begun") {
            begun.withLock { $0.sorted() } == ["other", "slow"]
        }
        gates["other"]?.signal()
        try await eventually("the second other has begun") {
            begun.withLock { $0.sorted() } == ["other", "other", "slow"]
        }
        gates["other"]?.signal()
        for count in 4...6 {
            gates["slow"]?.signal()
            try await eventually("\(count) have begun") { begun.withLock(\.count) == count }
            #expect(begun.withLock(\.last) == "slow")
        }
        gates["slow"]?.signal()
    }
}
