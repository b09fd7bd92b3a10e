import Ledger
import LedgerTestSupport
import Testing

@testable import LedgerEngine

/// The order in which a projector's lane folds the tenants that are named, with times that the tests choose.
@Suite struct TenantQueueTests {
    private static let start = ContinuousClock.now
    private static let pause = Duration.milliseconds(500)
    private static let search = Duration.seconds(5)

    private let queue = TenantQueue(pause: pause, search: search, now: start)

    private func events(_ name: String, _ from: Int64 = 0) -> NewEvents {
        NewEvents(tenant: tenant(name), from: LogPosition(from))
    }

    private func at(_ milliseconds: Int) -> ContinuousClock.Instant {
        Self.start + .milliseconds(milliseconds)
    }

    /// Runs a round at a time, which takes none.
    private func round(
        at milliseconds: Int, _ result: ProjectionFolder.Round = ProjectionFolder.Round()
    ) -> [NewEvents]? {
        let named = queue.next(at: at(milliseconds))
        queue.conclude(result, of: named, at: at(milliseconds))
        return named
    }

    @Test func `begins with a look, and looks again after a time`() {
        #expect(queue.pause(at: at(0)) == .zero)
        #expect(round(at: 0) == nil)
        #expect(queue.pause(at: at(0)) == Self.search)
        #expect(round(at: 4_999) == [])
        #expect(round(at: 5_000) == nil)
    }

    @Test func `lets commits gather, from the first of their positions`() {
        #expect(round(at: 0) == nil)
        queue.add(events("acme", 7), isUrgent: false)
        queue.add(events("acme", 9), isUrgent: false)
        #expect(queue.pause(at: at(100)) == .milliseconds(400))
        #expect(round(at: 100) == [])
        #expect(round(at: 500) == [events("acme", 7)])
        #expect(queue.isEmpty)
        #expect(queue.pause(at: at(500)) == .milliseconds(4_500))
        // The next commit after a pause does not wait.
        queue.add(events("acme", 10), isUrgent: false)
        #expect(queue.pause(at: at(1_000)) == .zero)
        #expect(round(at: 1_000) == [events("acme", 10)])
    }

    @Test func `a request ends the wait of its tenant only`() {
        #expect(round(at: 0) == nil)
        queue.add(events("acme", 7), isUrgent: false)
        queue.add(events("beta", 3), isUrgent: false)
        queue.add(events("beta", 4), isUrgent: true)
        #expect(queue.pause(at: at(100)) == .zero)
        #expect(round(at: 100) == [events("beta", 3)])
        #expect(queue.pause(at: at(100)) == .milliseconds(400))
        #expect(round(at: 500) == [events("acme", 7)])
    }

    @Test func `many tenants take several rounds, and a request is in the next one`() {
        #expect(round(at: 0) == nil)
        let names = (10..<30).map { "tenant-\($0)" }
        for name in names { queue.add(events(name), isUrgent: false) }
        let first = round(at: 500)
        #expect(first == names.prefix(TenantQueue.roundMax).map { events($0) })
        queue.add(events("zeta"), isUrgent: true)
        queue.add(events("alpha"), isUrgent: false)
        #expect(queue.pause(at: at(700)) == .zero)
        let second = round(at: 700)
        #expect(second?.first == events("zeta"))
        #expect(second?.count == TenantQueue.roundMax)
        #expect(round(at: 1_200)?.count == names.count + 1 - 2 * TenantQueue.roundMax)
        // The next pause is as long as these rounds were.
        #expect(queue.pause(at: at(1_200)) == .milliseconds(700))
        #expect(round(at: 1_899) == [])
        #expect(round(at: 1_900) == [events("alpha")])
    }

    @Test func `tenants beyond the limit become a look`() {
        #expect(round(at: 0) == nil)
        for number in 0...TenantQueue.countMax {
            queue.add(events("tenant-\(number)"), isUrgent: false)
        }
        #expect(queue.pause(at: at(1)) == .zero)
        #expect(round(at: 1) == nil)
        #expect(round(at: 600) == [])
    }

    @Test func `the tenant whose request waits longest is folded first, whatever its name`() {
        #expect(round(at: 0) == nil)
        let names = (0..<TenantQueue.roundMax).map { "tenant-\($0)" }
        queue.add(events("zeta"), isUrgent: true)
        for name in names { queue.add(events(name), isUrgent: true) }
        #expect(round(at: 1)?.first == events("zeta"))
        // The others are named again before the next round.
        for name in names.dropLast() { queue.add(events(name, 1), isUrgent: true) }
        #expect(round(at: 2)?.first == names.last.map { events($0) })
    }

    @Test func `a request waits for no look`() {
        #expect(queue.next(at: at(0)) == nil)
        queue.add(events("acme", 7), isUrgent: false)
        queue.add(events("beta", 3), isUrgent: true)
        #expect(queue.nextUrgent() == [events("beta", 3)])
        #expect(queue.nextUrgent().isEmpty)
        queue.conclude(ProjectionFolder.Round(), of: nil, at: at(900))
        #expect(round(at: 1_800) == [events("acme", 7)])
    }

    @Test func `a look follows what only a look can find`() {
        #expect(round(at: 0) == nil)
        queue.lookAtAll()
        var faulty = ProjectionFolder.Round()
        faulty.hasFaults = true
        #expect(round(at: 1, faulty) == nil)
        var full = ProjectionFolder.Round()
        full.hasFullPage = true
        #expect(round(at: 2, full) == nil)
        #expect(round(at: 3) == nil)
        #expect(round(at: 4) == [])
    }

    @Test func `a named tenant causes a look after the pause, however often it is named`() {
        #expect(round(at: 0) == nil)
        var left = ProjectionFolder.Round()
        left.needsLook = true
        for time in [100, 200, 300] {
            queue.add(events("acme"), isUrgent: true)
            #expect(round(at: time, left) == [events("acme")])
        }
        #expect(queue.pause(at: at(300)) == .milliseconds(300))
        #expect(round(at: 600) == nil)
        #expect(queue.pause(at: at(600)) == Self.search)
    }

    @Test func `a tenant that another process holds is tried after the pause`() {
        #expect(round(at: 0) == nil)
        queue.add(events("acme", 7), isUrgent: true)
        var contended = ProjectionFolder.Round()
        contended.contended = [events("acme", 7)]
        #expect(round(at: 100, contended) == [events("acme", 7)])
        #expect(queue.pause(at: at(100)) == .milliseconds(400))
        #expect(round(at: 500, contended) == [events("acme", 7)])
        #expect(queue.pause(at: at(500)) == Self.pause)
    }

    @Test func `without names each round is a look`() {
        let queue = TenantQueue(pause: Self.pause, search: .zero, now: Self.start)
        queue.add(events("acme"), isUrgent: true)
        for time in 0..<3 {
            #expect(queue.next(at: at(time)) == nil)
            queue.conclude(ProjectionFolder.Round(), of: nil, at: at(time))
        }
        #expect(queue.isEmpty)
    }
}
