import HTTP
import Ledger
import LedgerTestSupport
import Testing

struct OriginTests {
    /// Returns the disclosures of a sign-in about its request.
    private func disclosed(
        proxies: String, headers: [(name: String, value: String)]
    ) async throws -> [Disclosure.Name: String] {
        let service = try TestService { $0.proxies = proxies }
        _ = try await service.postSignIn(
            "apple", service.idToken("apple", "ada"), headers: headers)
        let last = try #require(service.ledger.recordings().last)
        let disclosures = last.disclosures.compactMap {
            Disclosure(encoded: String(decoding: $0, as: UTF8.self))
        }
        return Dictionary(disclosures.map { ($0.name, $0.value) }) { first, _ in first }
    }

    @Test func `the client's address is accepted from trusted proxies only`() async throws {
        let headers = [(name: "X-Forwarded-For", value: "203.0.113.9")]
        #expect(try await disclosed(proxies: "", headers: headers)[.clientIP] == "127.0.0.1")
        #expect(
            try await disclosed(proxies: "127.0.0.0/8", headers: headers)[.clientIP]
                == "203.0.113.9")
    }

    @Test func `the user agent is cut and cleaned`() async throws {
        let long = String(repeating: "é", count: 200)
        let cut = try await disclosed(proxies: "", headers: [("User-Agent", long)])
        #expect(cut[.userAgent] == String(repeating: "é", count: 128))
        let cleaned = try await disclosed(
            proxies: "", headers: [("User-Agent", "a\u{1B}[31m\u{85}b")])
        #expect(cleaned[.userAgent] == "a[31mb")
        #expect(
            try await disclosed(proxies: "", headers: [("User-Agent", "\t")])[.userAgent] == nil)
        #expect(try await disclosed(proxies: "", headers: [])[.userAgent] == nil)
    }
}
