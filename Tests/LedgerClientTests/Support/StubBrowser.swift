import Foundation
import LedgerClient
import Testing

/// A browser that comes back at once, with a code of a made-up ledger.
struct StubBrowser: WebAuthenticator {
    let returnAddress: URL

    init() throws {
        returnAddress = try #require(URL(string: "http://127.0.0.1/cb"))
    }

    func authenticate(at address: URL) async throws(WebAuthenticationError) -> URL {
        returnAddress.appending(queryItems: [URLQueryItem(name: "flow_code", value: "x")])
    }
}
