import Testing

@testable import LedgerEngine

@Suite struct BatchQueueTests {
    private let clock = ManualClock()
    private let queue: BatchQueue<Int>

    init() {
        queue = BatchQueue(limit: 8, waitMax: .seconds(5), now: { [clock] in clock.now })
    }

    private func take(max: Int) -> (batch: [Int], late: [Int]) {
        let dequeued = queue.take(max: max)
        return (batch: dequeued.batch.map(\.element), late: dequeued.late.map(\.element))
    }

    @Test func `elements are returned in order, up to the requested number`() {
        for number in 1...5 { #expect(queue.add(number)) }
        #expect(take(max: 3) == (batch: [1, 2, 3], late: []))
        #expect(take(max: 3) == (batch: [4, 5], late: []))
        #expect(take(max: 3) == (batch: [], late: []))
    }

    @Test func `elements like the first one are returned together, the others later in order`() {
        for number in [1, 2, 11, 3, 21, 12] { #expect(queue.add(number)) }
        func take() -> [Int] {
            queue.take(max: 2) { $0 / 10 == $1 / 10 }.batch.map(\.element)
        }
        #expect(take() == [1, 2])
        #expect(queue.add(4))
        #expect(take() == [11, 12])
        #expect(take() == [3, 4])
        #expect(take() == [21])
        #expect(take().isEmpty)
    }

    @Test func `all late elements are returned at once, however few are requested`() {
        for number in 1...6 { #expect(queue.add(number)) }
        clock.advance(by: .seconds(4))
        for number in 7...8 { #expect(queue.add(number)) }
        #expect(!queue.add(9))
        clock.advance(by: .seconds(1))
        #expect(take(max: 1) == (batch: [1], late: []))
        clock.advance(by: .milliseconds(1))
        #expect(take(max: 1) == (batch: [7], late: [2, 3, 4, 5, 6]))
        // Their slots are free.
        for number in 9...15 { #expect(queue.add(number)) }
        #expect(!queue.add(16))
    }

    @Test func `elements that are added together are returned together, if there is room`() async {
        async let waiting = queue.wait()
        #expect(queue.add(contentsOf: [1, 2, 3]) == 3)
        let isWoken = await waiting
        #expect(isWoken)
        #expect(take(max: 8) == (batch: [1, 2, 3], late: []))
        #expect(queue.add(1))
        #expect(queue.add(contentsOf: Array(2...10)) == 7)
        #expect(queue.add(contentsOf: [9]) == 0)
        #expect(take(max: 9) == (batch: Array(1...8), late: []))
        queue.close()
        #expect(queue.add(contentsOf: [1]) == 0)
    }

    @Test func `a returned element has waited since it was first added`() {
        let first = clock.now
        clock.advance(by: .seconds(3))
        #expect(queue.add(1))
        #expect(queue.add(2, since: first))
        clock.advance(by: .seconds(3))
        #expect(take(max: 1) == (batch: [1], late: [2]))
    }

    @Test func `an element that was removed may also become late`() {
        for number in 1...2 { #expect(queue.add(number)) }
        let taken = queue.take(max: 2).batch
        #expect(queue.separatingLate(taken).batch.map(\.element) == [1, 2])
        clock.advance(by: .seconds(6))
        #expect(queue.separatingLate(taken).late.map(\.element) == [1, 2])
    }
}
