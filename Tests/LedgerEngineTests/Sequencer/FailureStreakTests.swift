import Testing

@testable import LedgerEngine

@Suite struct FailureStreakTests {
    private let start = ContinuousClock.now

    @Test func `neither one failure nor several at once are a streak`() {
        var streak = FailureStreak()
        #expect(!streak.isLasting(at: start))
        streak.add(since: start, at: start)
        streak.add(since: start + .milliseconds(100), at: start + .milliseconds(100))
        #expect(!streak.isLasting(at: start + .milliseconds(100)))
        #expect(!streak.isLasting(at: start + .seconds(3)))
    }

    @Test func `failures over a time are a streak until a batch is committed`() {
        var streak = FailureStreak()
        streak.add(since: start, at: start)
        streak.add(since: start + .seconds(1), at: start + .seconds(1))
        #expect(streak.isLasting(at: start + .seconds(1)))
        streak.end()
        #expect(!streak.isLasting(at: start + .seconds(1)))
        streak.add(since: start + .seconds(2), at: start + .seconds(2))
        #expect(!streak.isLasting(at: start + .seconds(2)))
    }

    @Test func `a streak ends without commands, and resumes with the next failure`() {
        var streak = FailureStreak()
        streak.add(since: start, at: start)
        streak.add(since: start + .seconds(2), at: start + .seconds(2))
        #expect(streak.isLasting(at: start + .seconds(9)))
        #expect(!streak.isLasting(at: start + .seconds(10)))
        streak.add(since: start + .seconds(60), at: start + .seconds(60))
        #expect(streak.isLasting(at: start + .seconds(60)))
    }

    /// As when a commit waits for a standby that does not answer: each batch takes all of its time.
    @Test func `a batch that fails late is a streak, which lasts until the next one fails`() {
        var streak = FailureStreak()
        streak.add(since: start, at: start + .seconds(6))
        #expect(streak.isLasting(at: start + .seconds(6)))
        #expect(streak.isLasting(at: start + .seconds(12)))
        streak.add(since: start + .seconds(6), at: start + .seconds(12))
        #expect(streak.isLasting(at: start + .seconds(18)))
        streak.end()
        #expect(!streak.isLasting(at: start + .seconds(18)))
    }
}
