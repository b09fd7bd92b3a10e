import LedgerTestSupport
import Testing

/// The report of a crowd about a server that does not answer.
@Suite(.timeLimit(.minutes(10))) struct CrowdTests {
    @Test func `requests that are swallowed are counted, and how long they have waited`()
        async throws
    {
        let proxy = try await FaultyProxy(target: 1)
        proxy.hold()
        let report = try await Crowd().work(
            on: "\(proxy.port)", path: "/", bodies: ["{}"], connections: 20, seconds: 1,
            answerTimeoutSeconds: 1)
        #expect(report.outstanding == 20)
        #expect(report.outstandingLongestMilliseconds >= 1_000)
        #expect(report.accepted.count == 0)
    }
}
