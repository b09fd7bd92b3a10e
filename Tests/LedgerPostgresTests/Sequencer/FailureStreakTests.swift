import Testing

@testable import LedgerPostgres

@Suite struct FailureStreakTests {
    private let start = ContinuousClock.now

    @Test func `one failure is no streak, and neither are several at once`() {
        var streak = FailureStreak()
        #expect(!streak.isLasting(at: start))
        streak.add(at: start)
        streak.add(at: start + .milliseconds(100))
        #expect(!streak.isLasting(at: start + .milliseconds(100)))
        #expect(!streak.isLasting(at: start + .seconds(3)))
    }

    @Test func `failures for a while are one until a batch is committed`() {
        var streak = FailureStreak()
        streak.add(at: start)
        streak.add(at: start + .seconds(1))
        #expect(streak.isLasting(at: start + .seconds(1)))
        streak.end()
        #expect(!streak.isLasting(at: start + .seconds(1)))
        streak.add(at: start + .seconds(2))
        #expect(!streak.isLasting(at: start + .seconds(2)))
    }

    @Test func `a streak is forgotten when nobody comes, and known again with the next failure`() {
        var streak = FailureStreak()
        streak.add(at: start)
        streak.add(at: start + .seconds(2))
        #expect(streak.isLasting(at: start + .seconds(7)))
        #expect(!streak.isLasting(at: start + .seconds(8)))
        streak.add(at: start + .seconds(60))
        #expect(streak.isLasting(at: start + .seconds(60)))
    }
}
