import BlockingCalls
import HTTP
import Testing

@testable import LedgerAPI

/// A request beyond the capacity for expensive work is refused like any other overload.
@Suite struct ExpensiveWorkTests {
    @Test func `a full pool is 503 with Retry-After`() async throws {
        let pool = BlockingPool(label: "test", threads: 1, waitingMax: 0)
        let admitted = try pool.admitRequest()
        let error = #expect(throws: APIError.self) { _ = try pool.admitRequest() }
        let response = ErrorAnswer(try #require(error)).response
        #expect(response.status == 503)
        #expect(response.headers.contains { $0.name == "Retry-After" })
        let value = await admitted.run { 7 }
        #expect(value == 7)
    }
}
