import Foundation
import LedgerClient
import LedgerTestSupport
import Testing

/// A running ledger in development mode, whose people sign in with its imitated providers.
struct DevelopmentLedger: Sendable {
    let deployment: Deployment
    let server: ServerProcess

    /// Runs a body with a ledger that is removed afterwards.
    ///
    /// One that confirms addresses later has its providers from a file: passwords and codes by e-mail.
    static func with(
        settings: [String: String] = [:], confirmsLater: Bool = false,
        _ body: @MainActor @Sendable (DevelopmentLedger) async throws -> Void
    ) async throws {
        var usual = ["LEDGER_MODE": "development"]
        if !confirmsLater { usual["LEDGER_PROVIDERS"] = "" }
        try await Deployment.with(settings: usual.merging(settings) { $1 }) { deployment in
            if confirmsLater { try deployment.confirmLater() }
            let ledger = DevelopmentLedger(
                deployment: deployment, server: try await deployment.serve())
            try await body(ledger)
            #expect(!ledger.server.log.contains("\"status\":500"))
        }
    }

    var url: URL {
        get throws { try #require(URL(string: server.client.base)) }
    }

    /// An app with its own store, whose requests go through a transport that a test can disturb.
    @MainActor func app(
        _ transport: TestTransport = TestTransport(to: URLSessionTransport()),
        store: any TokenStore = InMemoryTokenStore(), time: any TimeSource = ManualTime()
    ) throws -> AuthSession {
        AuthSession(
            try LedgerAddress(url), store: store, transport: transport, retries: .patient,
            time: time)
    }

    /// Signs in at an imitated provider, as its library in an app does.
    func proof(_ provider: String, _ name: String, nonce: String? = nil) async throws -> Proof {
        let suffix = nonce.map { "&nonce=\($0)" } ?? ""
        let answer = try await server.client.call(
            "GET", "/dev/idp/\(provider)/token?name=\(name)\(suffix)")
        return .idToken(try #require(answer.text("id_token"), "\(answer)"), nonce: nonce)
    }

    /// Plans a removal or an unlink in an account, as support does.
    func plan(_ change: String, of account: String?) async throws {
        let key = try await deployment.apiKey("support")
        let planned = try await server.client.call(
            "POST", "/v1/accounts/\(account ?? "")/\(change)", ["case": "T-1", "reason": "lost"],
            token: key)
        #expect(planned.status == 200, "\(planned)")
    }

    /// Waits for a number of codes to an address, and returns the last one.
    func code(_ address: String, number: Int = 1) async throws -> String {
        try await eventually("code \(number)") {
            let answer = try await server.client.call("GET", "/dev/outbox")
            let messages = answer.json["messages"] as? [[String: Any]] ?? []
            let codes = messages.filter { $0["to"] as? String == address }.compactMap {
                ($0["text"] as? String)?.firstMatch(of: /[0-9]{6}/)?.output
            }
            return codes.count >= number ? codes.first.map { String($0) } : nil
        }
    }

    /// Waits until the server's log has a refresh, and returns the number of refreshes there.
    func refreshCount() async throws -> Int {
        try await eventually("a refresh in the log") {
            let count = server.log.split(separator: "\n").count { $0.contains("/v1/auth/refresh") }
            return count > 0 ? count : nil
        }
    }
}
