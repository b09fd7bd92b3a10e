import Ledger
import Testing

@testable import LedgerEngine

/// The pauses between attempts.
@Suite struct RetryScheduleTests {
    private static let now = Timestamp(seconds: 2_000_000_000)
    private static let schedule = RetrySchedule(delays: [5, 30], jitter: { 1.1 })

    private func pauseEnd(after attempts: Int, next: Int64, isRefused: Bool = true) -> Int64? {
        let item = DeliveryQueue.Item(
            position: LogPosition(1), event: EventID(bits: 1), type: "", accounts: [],
            attempts: attempts, next: Self.now.adding(seconds: next),
            refusedAt: isRefused ? Self.now : nil)
        return Self.schedule.pauseEnd(after: item).map { $0.seconds - Self.now.seconds }
    }

    @Test func `a pause beyond the plan is the one that the receiver asked for`() throws {
        #expect(pauseEnd(after: 1, next: 6) == 6 && pauseEnd(after: 2, next: 60) == 60)
        #expect(pauseEnd(after: 2, next: 33) == nil)
        #expect(pauseEnd(after: 1, next: 60, isRefused: false) == nil)
        // Sent again, and of another plan.
        #expect(pauseEnd(after: 0, next: 60) == nil && pauseEnd(after: 3, next: 60) == nil)
        #expect(pauseEnd(after: 2, next: 86_400) == 3_600)
        let own = try #require(Self.schedule.next(after: 2, at: Self.now, asked: nil))
        #expect(own.microseconds - Self.now.microseconds == 33_000_000)
    }
}
