import Ledger
import LedgerTestSupport
import Passwords
import Testing

/// Proofs in requests of a session that has ended.
@Suite(.overBothTransports) struct EndedSessionTests {
    private static let password = #""current_password":"incorrect horse","email":"ada@example.com""#

    @Test(arguments: [
        ("account/password", "{\"password\":\"another good password\",\(password)}"),
        (
            "account/addresses/email",
            "{\"current_address\":\"a@b.de\",\"challenge_id\":\"1\",\"code\":\"1\",\(password)}"
        ),
        ("account/factors", #"{"challenge_id":"CHALLENGE","code":"CODE"}"#),
        ("auth/link/password", #"{"email":"new@example.com","password":"another good password"}"#),
    ])
    func `a proof is not checked after the end of the session`(
        path: String, body: String
    ) async throws {
        let service = try TestService {
            $0.passwords = PasswordRule(lengthMin: 8, blocklist: .empty)
            $0.codes = [.email, .phone]
            $0.confirmLater = true
        }
        let ada = try await service.signIn("google", "ada")
        let begun = try await service.send(
            "POST", "/v1/account/factor-enrolments", #"{"type":"phone","phone":"+4915123456789"}"#,
            token: ada.accessToken)
        let challenge = try #require(begun.text("challenge_id"))
        let code = try #require(service.challenges.sent.last).message.code
        _ = try await service.send("POST", "/v1/auth/sign-out", token: ada.accessToken)
        let spent = service.challenges.spent
        let wrong = body.replacing("CHALLENGE", with: challenge)
            .replacing("CODE", with: code == "000000" ? "000001" : "000000")
        let answer = try await service.send("POST", "/v1/\(path)", wrong, token: ada.accessToken)
        #expect(answer.summary == "401 INVALID_ACCESS_TOKEN")
        #expect(service.challenges.spent == spent)
    }
}
