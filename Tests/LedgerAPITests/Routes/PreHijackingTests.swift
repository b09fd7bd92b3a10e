import JSON
import Ledger
import LedgerTestSupport
import Passwords
import Testing

/// The five classes of account pre-hijacking of Sudhodanan and Paverd (2022): an attacker who knows the victim's
/// address prepares an account, and the victim signs up or recovers it later.
@Suite(.overBothTransports) struct PreHijackingTests {
    private static let victim = "victim@example.com"
    private static let theirs = "the password of the attacker"
    private static let own = "the password of the victim"

    private let service: TestService

    init() throws {
        service = try TestService {
            $0.passwords = PasswordRule(lengthMin: 8, blocklist: PasswordBlocklist(lines: []))
            $0.codes = [.email]
        }
    }

    private func post(
        _ path: String, _ body: String, token: String? = nil
    ) async throws -> Answer {
        try await service.send("POST", path, body, token: token)
    }

    private func credential(_ password: String) -> String {
        "{\"email\":\"\(Self.victim)\",\"password\":\"\(password)\"}"
    }

    /// Returns the body that answers a challenge with the last code, which only the mailbox has.
    private func mailed(_ answer: Answer, _ rest: String = "") throws -> String {
        let challenge = try #require(answer.text("challenge_id"))
        let code = try #require(service.challenges.sent.last).message.code
        return "{\"challenge_id\":\"\(challenge)\",\"code\":\"\(code)\"\(rest)}"
    }

    private func signUp(_ password: String) async throws -> Person {
        let begun = try await post("/v1/auth/sign-up/password", credential(password))
        return try Person(await post("/v1/auth/sign-in/password", mailed(begun)))
    }

    private func signIn(_ password: String) async throws -> Answer {
        try await post("/v1/auth/sign-in/password", credential(password))
    }

    private func federated(_ subject: String, provider: String = "google") async throws -> Person {
        let token = service.idToken(
            provider, subject,
            claims: ["email": "\"\(Self.victim)\"", "email_verified": "true"])
        return try Person(
            await post("/v1/auth/sign-in/\(provider)", "{\"id_token\":\"\(token)\"}"))
    }

    @Test func `classic-federated merge: a federated sign-in joins no account by its e-mail`()
        async throws
    {
        // Without the mailbox, the attacker's sign-up opens nothing.
        _ = try await post("/v1/auth/sign-up/password", credential(Self.theirs))
        let victim = try await federated("victim")
        #expect(victim.isNew && victim.providers == ["google"])
        #expect(try await signIn(Self.theirs).summary == "401 INVALID_PASSWORD")
        // Nor does the victim's later sign-up with the address find the attacker's password.
        _ = try await signUp(Self.own)
        #expect(try await signIn(Self.theirs).summary == "401 INVALID_PASSWORD")
    }

    @Test func `unexpired session: a reset of the password ends all sessions of the account`()
        async throws
    {
        // The attacker once read the mailbox.
        let attacker = try await signUp(Self.theirs)
        let begun = try await post(
            "/v1/auth/password-resets/password", "{\"email\":\"\(Self.victim)\"}")
        let reset = try await post(
            "/v1/auth/password-resets/password/complete",
            mailed(begun, ",\"password\":\"\(Self.own)\""))
        #expect(reset.status == 200, "\(reset.body)")
        #expect(try await service.account(attacker.accessToken).status == 401)
        let refreshed = try await post(
            "/v1/auth/refresh", "{\"refresh_token\":\"\(attacker.refreshToken)\"}")
        #expect(refreshed.summary == "401 INVALID_REFRESH_TOKEN")
        #expect(try await signIn(Self.theirs).summary == "401 INVALID_PASSWORD")
        #expect(try await signIn(Self.own).status == 200)
    }

    @Test func `trojan identifier: a reset names the identities that still open the account`()
        async throws
    {
        let attacker = try await signUp(Self.theirs)
        _ = try await service.link("apple", subject: "trojan", by: attacker)
        let begun = try await post(
            "/v1/auth/password-resets/password", "{\"email\":\"\(Self.victim)\"}")
        let reset = try await post(
            "/v1/auth/password-resets/password/complete",
            mailed(begun, ",\"password\":\"\(Self.own)\""))
        #expect(reset.providers == ["password", "apple"], "\(reset.body)")
        let victim = try Person(await signIn(Self.own))
        #expect(try await service.unlink("apple", by: victim).status == 200)
        let trojan = try await federated("trojan", provider: "apple")
        #expect(trojan.isNew && trojan.userID != victim.userID)
    }

    @Test func `unexpired change of address: a code sent to the victim links nothing later`()
        async throws
    {
        let attacker = try await service.signIn("apple", "attacker")
        let asked = try await post(
            "/v1/account/codes/email",
            "{\"address\":\"\(Self.victim)\"}", token: attacker.accessToken)
        #expect(asked.status == 200, "\(asked.body)")
        let body = try mailed(asked)
        let victim = try await signUp(Self.own)
        // Even with the code, which stood in the victim's mailbox.
        let linked = try await post(
            "/v1/auth/link/email", body, token: attacker.accessToken)
        #expect(linked.status != 200, "\(linked.body)")
        #expect(try await service.account(attacker.accessToken).providers == ["apple"])
        #expect(try Person(await signIn(Self.own)).userID == victim.userID)
    }

    @Test(arguments: ["true", "false"])
    func `non-verifying provider: its word about an e-mail finds no account`(
        verified: String
    ) async throws {
        let victim = try await signUp(Self.own)
        let token = service.idToken(
            "google", "attacker",
            claims: ["email": "\"\(Self.victim)\"", "email_verified": verified])
        let attacker = try Person(
            await post("/v1/auth/sign-in/google", "{\"id_token\":\"\(token)\"}"))
        #expect(attacker.isNew && attacker.userID != victim.userID)
        let reset = try await post(
            "/v1/auth/password-resets/password", "{\"email\":\"\(Self.victim)\"}")
        #expect(reset.status == 200)
        #expect(try await service.account(victim.accessToken).providers == ["password"])
    }
}
