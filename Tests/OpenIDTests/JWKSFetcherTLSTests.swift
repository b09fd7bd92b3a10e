import LoopbackServers
import Testing

@testable import OpenID

/// Fetches over real TLS from a server whose certificate only the test trusts.
@Suite(.timeLimit(.minutes(10))) struct JWKSFetcherTLSTests {
    private static let document = #"{"keys":[]}"#
    private static let answer = Array(
        "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 11\r\n\r\n\(document)".utf8
    )

    private func fetched(
        _ server: TLSServer, host: String = "localhost", trusts: Bool
    ) async throws -> FetchedKeySet {
        let trustedFile = trusts ? server.certificateFile : nil
        return try await JWKSFetcher(timeLimit: .seconds(5), trustedFile: trustedFile)
            .fetch("https://\(host):\(server.port)/keys")
    }

    @Test func `a provider with a trusted certificate is accepted`() async throws {
        let server = try TLSServer(answer: Self.answer)
        let fetched = try await fetched(server, trusts: true)
        #expect(fetched.body == Array(Self.document.utf8))
        #expect(fetched.maxAgeSeconds == 60)
    }

    @Test func `a provider with an untrusted certificate is refused`() async throws {
        let server = try TLSServer(answer: Self.answer)
        await #expect(throws: JWKSFetchFault.unreachable) {
            try await fetched(server, trusts: false)
        }
    }

    @Test func `a trusted certificate for another host is refused`() async throws {
        let server = try TLSServer(answer: Self.answer)
        await #expect(throws: JWKSFetchFault.unreachable) {
            try await fetched(server, host: "127.0.0.1", trusts: true)
        }
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nDate: today\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n{",
    ])
    func `a provider that breaks off under TLS is unreachable`(text: String) async throws {
        let server = try TLSServer(answer: Array(text.utf8))
        await #expect(throws: JWKSFetchFault.unreachable) {
            try await fetched(server, trusts: true)
        }
    }
}
