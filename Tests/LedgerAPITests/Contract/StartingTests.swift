import HTTP
import LedgerAPI
import Testing

/// The response to requests that arrive before the server has its port and so its services.
@Suite struct StartingTests {
    @Test func `a server that is starting answers 503 and when to retry`() {
        let response = API.starting
        #expect(response.status == 503)
        #expect(
            String(decoding: response.body, as: UTF8.self)
                == #"{"error":{"code":"UNAVAILABLE","message":"The service is starting"}}"#)
        let headers = response.headers.map { "\($0.name): \($0.value)" }.sorted()
        #expect(
            headers == [
                "Cache-Control: no-store", "Content-Type: application/json", "Retry-After: 1",
            ])
    }
}
