import Foundation
import LoopbackServers
import Testing

@testable import OpenID

/// The environment belongs to the whole process, so each test sets it in a process of its own.
@Suite(.timeLimit(.minutes(10))) struct JWKSProxyTests {
    @Test func `another machine is reached through the proxy of the environment`() async {
        await #expect(processExitsWith: .success) {
            let proxy = try ProxyInEnvironment()
            await #expect(throws: JWKSFetchFault.unreachable) {
                try await JWKSFetcher().fetch("https://issuer.example/keys")
            }
            let head = try #require(proxy.server.requestHeads.first)
            try #require(head.hasPrefix("CONNECT issuer.example:443 HTTP/1.1\r\n"))
            try #require(!head.contains("/keys"))
        }
    }

    @Test func `requests to this machine ignore the proxy of the environment`() async {
        await #expect(processExitsWith: .success) {
            let proxy = try ProxyInEnvironment()
            let text = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
            let provider = try LoopbackServer(answer: Array(text.utf8))
            for host in ["127.0.0.1", "localhost"] {
                let url = "http://\(host):\(provider.port)/keys"
                try #require(try await JWKSFetcher().fetch(url).body == Array("{}".utf8))
            }
            // It does not support TLS, so there is no answer; only the requested host matters.
            await #expect(throws: JWKSFetchFault.unreachable) {
                try await JWKSFetcher().fetch("https://127.0.0.1:\(provider.port)/keys")
            }
            try #require(provider.requests == 3)
            try #require(proxy.server.requests == 0)
        }
    }
}

/// A proxy that refuses everything, named by every variable that can name one.
private struct ProxyInEnvironment {
    let server: LoopbackServer

    init() throws {
        let refusal = "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"
        server = try LoopbackServer(answer: Array(refusal.utf8))
        for name in ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] {
            unsafe setenv(name, "http://127.0.0.1:\(server.port)", 1)
        }
        unsafe unsetenv("no_proxy")
        unsafe unsetenv("NO_PROXY")
    }
}
