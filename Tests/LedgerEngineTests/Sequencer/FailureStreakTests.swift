import Testing

@testable import LedgerEngine

@Suite struct FailureStreakTests {
    private let start = ContinuousClock.now

    @Test func `neither one failure nor several at once are a streak`() {
        var streak = FailureStreak()
        #expect(!streak.isLasting(at: start))
        streak.add(at: start)
        streak.add(at: start + .milliseconds(100))
        #expect(!streak.isLasting(at: start + .milliseconds(100)))
        #expect(!streak.isLasting(at: start + .seconds(3)))
    }

    @Test func `failures over a time are a streak until a batch is committed`() {
        var streak = FailureStreak()
        streak.add(at: start)
        streak.add(at: start + .seconds(1))
        #expect(streak.isLasting(at: start + .seconds(1)))
        streak.end()
        #expect(!streak.isLasting(at: start + .seconds(1)))
        streak.add(at: start + .seconds(2))
        #expect(!streak.isLasting(at: start + .seconds(2)))
    }

    @Test func `a streak ends without commands, and resumes with the next failure`() {
        var streak = FailureStreak()
        streak.add(at: start)
        streak.add(at: start + .seconds(2))
        #expect(streak.isLasting(at: start + .seconds(7)))
        #expect(!streak.isLasting(at: start + .seconds(8)))
        streak.add(at: start + .seconds(60))
        #expect(streak.isLasting(at: start + .seconds(60)))
    }
}
