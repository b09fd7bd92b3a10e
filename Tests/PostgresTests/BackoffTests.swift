import Testing

@testable import Postgres

@Suite struct `Backing off from a server` {
    @Test func `the delay doubles up to its limit and is reset after a success`() {
        var backoff = Backoff()
        let start = ContinuousClock.now
        #expect(backoff.permits(start))
        var pause = Backoff.first
        for _ in 0..<10 {
            backoff.failed(.connectionFailed("no"), at: start)
            #expect(!backoff.permits(start + pause - .milliseconds(1)))
            #expect(backoff.permits(start + pause))
            pause = min(pause * 2, Backoff.longest)
        }
        #expect(!backoff.permits(start + Backoff.longest - .milliseconds(1)))
        #expect(backoff.reason == .connectionFailed("no"))
        backoff.succeeded()
        #expect(backoff.permits(start))
    }
}
