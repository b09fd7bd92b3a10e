import Ledger
import LedgerTestSupport
import Testing

@testable import LedgerEngine

/// The order in which the events of one endpoint are sent.
@Suite struct DeliveryQueueTests {
    private static let ada = AccountID(bits: 1)
    private static let bob = AccountID(bits: 2)
    private static let now = Timestamp(seconds: 1_000)

    private func item(
        _ position: Int64, _ accounts: [AccountID], _ type: Event.Name = .signedIn
    ) -> DeliveryQueue.Item {
        DeliveryQueue.Item(
            position: LogPosition(position), event: EventID(bits: UInt128(position)),
            type: type.rawValue, accounts: accounts, next: Self.now)
    }

    private func positions(_ items: [DeliveryQueue.Item]) -> [Int64] {
        items.map(\.position.value)
    }

    @Test func `an account's events wait for each other, and a merge for both accounts`() {
        var queue = DeliveryQueue(pauseMax: .seconds(3_600))
        queue.add([
            item(1, [Self.ada]), item(2, [Self.bob]), item(3, [Self.ada]),
            item(4, [Self.ada, Self.bob]), item(5, [Self.bob]), item(6, []),
        ])
        #expect(queue.next(9, at: Self.now) == Self.now)
        #expect(positions(queue.start(2, at: Self.now)) == [1, 2])
        #expect(queue.next(2, at: Self.now) == nil, "only a finished event frees a slot")
        #expect(queue.next(3, at: Self.now) == Self.now)
        #expect(positions(queue.start(7, at: Self.now)) == [6])
        queue.remove(LogPosition(2))
        #expect(queue.start(9, at: Self.now) == [])
        queue.remove(LogPosition(1))
        #expect(positions(queue.start(9, at: Self.now)) == [3])
        queue.remove(LogPosition(3))
        #expect(positions(queue.start(9, at: Self.now)) == [4])
        #expect(queue.next(9, at: Self.now) == nil)
        queue.remove(LogPosition(4))
        #expect(positions(queue.start(9, at: Self.now)) == [5])
    }

    @Test func `a restore waits for everything earlier, and everything later waits for it`() {
        var queue = DeliveryQueue(pauseMax: .seconds(3_600))
        queue.add([
            item(1, [Self.ada]), item(2, []), item(3, [], .ledgerRestored), item(4, [Self.bob]),
            item(5, [], .keyRotated), item(6, [], .ledgerRestored), item(7, [Self.ada]),
        ])
        #expect(queue.hasBarrier && queue.count == 7)
        #expect(positions(queue.start(9, at: Self.now)) == [1, 2])
        queue.remove(LogPosition(2))
        #expect(queue.start(9, at: Self.now) == [])
        queue.remove(LogPosition(1))
        var restore = queue.start(9, at: Self.now)
        #expect(positions(restore) == [3])
        restore[0].next = Self.now.adding(seconds: 5)
        queue.requeue(restore[0])
        #expect(queue.next(9, at: Self.now) == Self.now.adding(seconds: 5))
        #expect(queue.start(9, at: Self.now) == [], "it was refused, and all wait")
        #expect(positions(queue.start(9, at: Self.now.adding(seconds: 5))) == [3])
        queue.add([item(8, [Self.bob])])
        queue.remove(LogPosition(3))
        #expect(positions(queue.start(9, at: Self.now)) == [4, 5])
        for position: Int64 in [5, 4] { queue.remove(LogPosition(position)) }
        #expect(positions(queue.start(9, at: Self.now)) == [6])
        queue.remove(LogPosition(6))
        #expect(!queue.hasBarrier)
        #expect(positions(queue.start(9, at: Self.now)) == [7, 8])
    }

    @Test func `thousands of events behind a refused one keep no other account waiting`() {
        var queue = DeliveryQueue(pauseMax: .seconds(3_600))
        queue.add((0..<20_000).map { item($0, [Self.ada]) })
        var refused = queue.start(9, at: Self.now)
        #expect(positions(refused) == [0])
        refused[0].next = Self.now.adding(seconds: 5)
        queue.requeue(refused[0])
        for position in 20_000..<25_000 as Range<Int64> {
            let other = AccountID(bits: UInt128(position))
            queue.add([item(position, [other])])
            #expect(queue.isBusy(other) && queue.behindCount == 19_999 && queue.firstCount == 2)
            #expect(positions(queue.start(9, at: Self.now)) == [position])
            queue.remove(LogPosition(position))
            #expect(!queue.isBusy(other))
        }
        let later = Self.now.adding(seconds: 5)
        for position in 0..<20_000 as Range<Int64> {
            #expect(positions(queue.start(9, at: later)) == [position])
            queue.remove(LogPosition(position))
        }
        #expect(queue.count == 0)
    }

    @Test func `an event that is returned waits for its time and delays others`() {
        var queue = DeliveryQueue(pauseMax: .seconds(3_600))
        queue.add([item(1, [Self.ada]), item(2, [Self.ada]), item(3, [Self.bob])])
        var first = queue.start(1, at: Self.now)[0]
        first.next = Self.now.adding(seconds: 5)
        queue.requeue(first)
        #expect(positions(queue.start(9, at: Self.now)) == [3])
        #expect(queue.next(9, at: Self.now) == Self.now.adding(seconds: 5))
        #expect(queue.start(9, at: Self.now.adding(seconds: 4)) == [])
        #expect(positions(queue.start(9, at: Self.now.adding(seconds: 5))) == [1])
    }

    @Test func `a wrong clock delays nothing`() {
        var queue = DeliveryQueue(pauseMax: .seconds(3_600))
        queue.add([item(1, [Self.ada])])
        queue.hold(until: Self.now.adding(seconds: 3_601))
        var first = queue.start(1, at: Self.now)[0]
        first.next = Self.now.adding(seconds: 3_601)
        queue.requeue(first)
        #expect(queue.next(1, at: Self.now) == Self.now)
        #expect(positions(queue.start(1, at: Self.now)) == [1])
        first.next = Self.now.adding(seconds: 3_600)
        queue.requeue(first)
        #expect(queue.start(1, at: Self.now) == [])
    }

    @Test func `events that wait for their time start early one after the other`() throws {
        var queue = DeliveryQueue(pauseMax: .seconds(3_600))
        queue.add([item(1, [Self.ada]), item(2, [Self.ada]), item(3, [Self.bob])])
        for var waiting in queue.start(9, at: Self.now) {
            waiting.next = Self.now.adding(seconds: 60)
            queue.requeue(waiting)
        }
        for position in [1, 3, 1] as [Int64] {
            let started = queue.startEarly(at: Self.now)
            let early = try #require(started)
            #expect(early.isEarly && early.position.value == position)
            queue.requeue(early)
        }
        let due = queue.start(9, at: Self.now.adding(seconds: 60))
        #expect(positions(due) == [1, 3] && !due.contains(where: \.isEarly))
        #expect(queue.startEarly(at: Self.now) == nil)
        for one in due { queue.requeue(one) }
        queue.hold(until: Self.now.adding(seconds: 9))
        #expect(queue.startEarly(at: Self.now) == nil)
    }

    @Test func `no event starts while the queue is held`() {
        var queue = DeliveryQueue(pauseMax: .seconds(3_600))
        queue.add([item(1, [Self.ada])])
        queue.hold(until: Self.now.adding(seconds: 9))
        queue.hold(until: Self.now.adding(seconds: 2))
        #expect(queue.start(9, at: Self.now.adding(seconds: 8)) == [])
        #expect(queue.next(9, at: Self.now) == Self.now.adding(seconds: 9))
        #expect(positions(queue.start(9, at: Self.now.adding(seconds: 9))) == [1])
    }

    @Test(arguments: 0..<50 as Range<UInt64>)
    func `whatever is refused, all events of each account are delivered in order`(
        seed: UInt64
    ) throws {
        var generator = SeededGenerator(seed: seed)
        let accounts = (1...5).map { AccountID(bits: $0) }
        var queue = DeliveryQueue(pauseMax: .seconds(3_600))
        var now = Self.now
        var added: Int64 = 0
        var delivered: [AccountID: [LogPosition]] = [:]
        var deliveredCount = 0
        var underWay: [DeliveryQueue.Item] = []
        var waiting: Set<LogPosition> = []
        for step in 0..<20_000 where added < 200 || queue.count > 0 {
            if added < 200, Bool.random(using: &generator) {
                let isRestore = Int.random(in: 0..<20, using: &generator) == 0
                let touched = accounts.shuffled(using: &generator)
                    .prefix(isRestore ? 0 : Int.random(in: 0...2, using: &generator))
                queue.add([
                    item(added, Array(touched), isRestore ? .ledgerRestored : .signedIn)
                ])
                waiting.insert(LogPosition(added))
                added += 1
            }
            underWay += queue.start(4 - underWay.count, at: now)
            for account in accounts {
                #expect(underWay.count { $0.accounts.contains(account) } <= 1, "step \(step)")
            }
            #expect(queue.count == waiting.count && queue.firstCount >= underWay.count)
            for restore in underWay where restore.isBarrier {
                #expect(underWay.count == 1 && waiting.min() == restore.position)
            }
            guard
                let index = underWay.indices.randomElement(using: &generator)
            else {
                now = try #require(queue.next(4, at: now) ?? (added < 200 ? now : nil))
                continue
            }
            var ended = underWay.remove(at: index)
            if Int.random(in: 0..<3, using: &generator) == 0 {
                ended.next = now.adding(seconds: Int64.random(in: 0...9, using: &generator))
                queue.requeue(ended)
            } else {
                queue.remove(ended.position)
                waiting.remove(ended.position)
                deliveredCount += 1
                for account in ended.accounts {
                    delivered[account, default: []].append(ended.position)
                }
            }
        }
        #expect(deliveredCount == 200 && queue.started.isEmpty)
        for positions in delivered.values { #expect(positions == positions.sorted()) }
    }

    @Test func `the pauses grow as planned, and a receiver may ask for a longer one`() {
        let plan = RetrySchedule(delays: [5, 30], jitter: { 1 })
        func pause(_ attempts: Int, asked: Int64? = nil) -> Int64? {
            plan.next(after: attempts, at: Self.now, asked: asked).map {
                $0.seconds - Self.now.seconds
            }
        }
        #expect(pause(1) == 5 && pause(2) == 30 && pause(3) == nil)
        #expect(pause(1, asked: 2) == 5 && pause(1, asked: 60) == 60)
        #expect(pause(1, asked: .max) == 3_600 && pause(1, asked: -1) == 5)
        #expect(pause(3, asked: 60) == nil)
        let usual = RetrySchedule()
        for attempts in 1...RetrySchedule.defaultDelays.count {
            let delay = Double(RetrySchedule.defaultDelays[attempts - 1]) * 1_000_000
            let next = usual.next(after: attempts, at: Self.now, asked: nil)
            let pause = Double((next?.microseconds ?? 0) - Self.now.microseconds)
            #expect((0.89...1.11).contains(pause / delay))
        }
        #expect(usual.next(after: 10, at: Self.now, asked: nil) == nil)
    }
}
