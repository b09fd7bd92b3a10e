import JSON
import Ledger
import LedgerTestSupport
import Testing

/// Accounts that support disables, enables and signs out.
@Suite(.overBothTransports) struct AccessTests {
    private let service: TestService
    private let ada: Person

    init() async throws {
        service = try TestService()
        ada = try await service.signIn("google", "ada")
    }

    private func change(
        _ word: String, by role: Role = .support, body: String? = "{\"case\":\"T-6\"}"
    ) async throws -> Answer {
        try await service.send(
            "POST", "/v1/accounts/\(ada.userID)/\(word)", body, token: try service.audit.key(role),
            headers: [("Ledger-Reason", "stolen phone")])
    }

    private func signIn() async throws -> Answer {
        try await service.send(
            "POST", "/v1/auth/sign-in/google",
            "{\"id_token\":\"\(service.idToken("google", "ada"))\"}")
    }

    private func account() async throws -> Answer {
        try await service.send(
            "GET", "/v1/accounts/\(ada.userID)", token: try service.audit.key(.auditor))
    }

    @Test func `nothing signs in to a disabled account until it is enabled`() async throws {
        let shown = try await change("disable/preview", body: nil)
        #expect(shown.json["disabled"] == .bool(false) && shown.json["event"] == nil)
        let disabled = try await change("disable")
        #expect(disabled.status == 200 && disabled.text("event") != nil, "\(disabled.body)")
        #expect(disabled.json["disabled"] == .bool(true))
        #expect(try await change("disable").json["event"] == nil)
        #expect(try await signIn().summary == "403 ACCOUNT_DISABLED")
        #expect(try await service.account(ada.accessToken).status == 401)
        let state = try await account()
        #expect(state.text("status") == "disabled")
        #expect(state.json["ways_to_sign_in"]?.number == 0)
        #expect(state.json["session_count"]?.number == 0)
        #expect(try await change("enable").json["disabled"] == .bool(false))
        #expect(try await signIn().status == 200)
        #expect(try await account().text("status") == "open")
    }

    @Test func `a stranger does not learn that an account is disabled`() async throws {
        #expect(try await change("disable").status == 200)
        let wrong = try await service.send(
            "POST", "/v1/auth/sign-in/google", "{\"id_token\":\"x\"}")
        #expect(wrong.summary == "401 INVALID_PROVIDER_TOKEN")
        let bob = try await service.signIn("apple", "bob")
        let link = try await service.link("google", subject: "ada", by: bob)
        #expect(link.summary == "409 PROVIDER_CONFLICT")
    }

    @Test func `support signs an account out everywhere`() async throws {
        #expect(try await change("end-sessions").text("event") != nil)
        #expect(try await service.account(ada.accessToken).status == 401)
        #expect(try await signIn().status == 200)
    }

    @Test(arguments: ["disable", "enable", "end-sessions"])
    func `only support and administrators change access, with a reason and a case`(
        word: String
    ) async throws {
        #expect(try await change(word, by: .auditor).summary == "403 FORBIDDEN")
        #expect(try await change(word, body: "{}").summary == "400 INVALID_REQUEST")
        let silent = try await service.send(
            "POST", "/v1/accounts/\(ada.userID)/\(word)", "{\"case\":\"T-6\"}",
            token: try service.audit.key(.admin))
        #expect(silent.summary == "400 INVALID_REQUEST")
        #expect(try await change(word, by: .admin).status == 200)
    }
}
