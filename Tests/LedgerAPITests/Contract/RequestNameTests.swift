import Cryptography
import Ledger
import LedgerTestSupport
import Testing

@Suite(.overBothTransports) struct RequestNameTests {
    @Test func `a UUID is returned and is in the entry`() async throws {
        let service = try TestService()
        let name = "0197A3B2-1111-7abc-8def-0123456789ab"
        let answer = try await service.postSignIn(
            "apple", service.idToken("apple", "ada"), headers: [("x-request-id", name)])
        #expect(answer["X-Request-Id"] == name)
        let requests = service.ledger.recordings().map(\.recorded.request)
        #expect(requests.count == 3)
        #expect(requests.allSatisfy { $0 == RequestID(name) })
    }

    @Test func `another name is in the entry as a UUIDv8 of its digest`() async throws {
        let service = try TestService()
        let name = "Trace:1.2_3-x"
        let answer = try await service.postSignIn(
            "apple", service.idToken("apple", "ada"), headers: [("X-Request-Id", name)])
        #expect(answer["X-Request-Id"] == name)
        var bytes = Array(SHA256.hash(Array(name.utf8)).prefix(16))
        bytes[6] = bytes[6] & 0x0F | 0x80
        bytes[8] = bytes[8] & 0x3F | 0x80
        let expected = RequestID(bits: bytes.reduce(0) { $0 << 8 | UInt128($1) })
        #expect(service.ledger.recordings().first?.recorded.request == expected)
    }

    @Test(arguments: [
        [], [""], ["a b"], ["é"], ["a\"b"], ["a/b"], [String(repeating: "a", count: 129)],
        ["a", "b"],
    ])
    func `a bad name is replaced by a UUID`(names: [String]) async throws {
        let service = try TestService()
        let fields = names.map { (name: "X-Request-Id", value: $0) }
        for path in ["/healthz", "/v1/account", "/nothing"] {
            let answer = try await service.send("GET", path, headers: fields)
            let name = try #require(answer["X-Request-Id"])
            #expect(!names.contains(name))
            #expect(RequestID(name) != nil)
        }
    }

    @Test func `the longest name is accepted`() async throws {
        let name = String(repeating: "a", count: 128)
        let answer = try await TestService().send(
            "GET", "/healthz", headers: [("X-Request-Id", name)])
        #expect(answer["X-Request-Id"] == name)
    }
}
