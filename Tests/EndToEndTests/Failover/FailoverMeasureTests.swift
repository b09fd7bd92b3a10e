import LedgerTestSupport
import Testing

/// The measures of `tools/chaos --failover` detect what they are for.
@Suite struct FailoverMeasureTests {
    private static let start = ContinuousClock.now

    @Test func `the longest time without writes is that of the slower server`() {
        var pauses = TrafficPauses(from: Self.start)
        let servers = ["a", "b"]
        #expect(pauses.longest(of: servers, at: Self.start + .seconds(2)) == .seconds(2))
        pauses.acknowledge("a", at: Self.start + .seconds(3))
        pauses.acknowledge("a", at: Self.start + .seconds(4))
        pauses.acknowledge("b", at: Self.start + .seconds(5))
        #expect(pauses.longest(of: servers, at: Self.start + .seconds(6)) == .seconds(5))
        #expect(pauses.silence(of: "a", at: Self.start + .seconds(6)) == .seconds(2))
        #expect(pauses.longest(of: servers, at: Self.start + .seconds(11)) == .seconds(7))
    }

    @Test func `a server that is ready and acknowledges nothing is wrong`() {
        var record = ReadinessRecord()
        func note(_ second: Int, isReady: Bool, silence: Int) -> Bool {
            record.note(
                isReady: isReady, at: Self.start + .seconds(second), silence: .seconds(silence))
        }
        // Its commands have ended, and it has not noticed yet.
        #expect(!note(0, isReady: true, silence: 0))
        #expect(!note(10, isReady: true, silence: 10))
        #expect(note(11, isReady: true, silence: 11))
        #expect(!note(14, isReady: false, silence: 14))
        #expect(!record.isReady)
        // Ready again: the next command takes a while.
        #expect(!note(40, isReady: true, silence: 40))
        #expect(!note(43, isReady: true, silence: 43))
        #expect(note(44, isReady: true, silence: 44))
        #expect(!note(45, isReady: true, silence: 0))
        #expect(record.isReady)
    }
}
