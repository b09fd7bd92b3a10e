import JSON
import Ledger
import LedgerSignIn
import LedgerTestSupport
import Passwords
import SoftwareAuthenticators
import Testing

@testable import LedgerAPI

/// The example of an operation, with live values in place of those of the document.
struct ExampleRun {
    var service: TestService
    let operation: DescribedOperation
    /// The access token for an operation of account holders.
    var accessToken = ""
    let ada: Person
    let bob: Person
    /// The live values by those of the document.
    var values: [String: String]

    /// The operations that an erasure by one administrator leaves nothing to do.
    private static let ofRequests = [
        "confirm_erasure", "withdraw_erasure", "list_erasure_requests",
    ]

    /// Prepares a ledger of Ada with Google and Bob with Apple, in which the example succeeds unless
    /// it is not prepared.
    init(
        _ operation: DescribedOperation, isPrepared: Bool = true,
        _ change: (inout TestService.Options) -> Void = { _ in }
    ) async throws {
        self.operation = operation
        let passkeys = PasskeySettings(
            relyingParty: try #require(SoftwareAuthenticator.relyingParty))
        service = try TestService {
            $0.codes = [.email, .phone]
            $0.passwords = PasswordRule(lengthMin: 8)
            $0.passkeys = passkeys
            $0.eraseNeedsTwo = Self.ofRequests.contains(operation.id)
            change(&$0)
        }
        ada = try await service.signIn("google", "ada")
        bob = try await service.signIn("apple", "bob")
        let event = service.ledger.recordings(of: .default)[2].recorded.id
        values = [
            ExampleValue.account: ada.userID, ExampleValue.otherAccount: bob.userID,
            ExampleValue.event: "\(event)", ExampleValue.refreshToken: ada.refreshToken,
            ExampleValue.hold: "\(HoldID(at: service.clock.now, random: 2))",
            ExampleValue.idToken: service.idToken("google", "new"),
        ]
        accessToken = ada.accessToken
        if isPrepared { try await prepare() }
    }

    private var signedUp: Person?
    /// The account holder with the access token.
    var caller: Person {
        if let signedUp, signedUp.accessToken == accessToken { return signedUp }
        return accessToken == bob.accessToken ? bob : ada
    }

    /// Merges an account into another one, for support.
    func merge(_ absorbed: Person, into survivor: Person) async throws {
        let path = "/v1/accounts/\(survivor.userID)/merge"
        let absorb = "\"absorb\":\"\(absorbed.userID)\""
        let plan = try await support(path + "/preview", "{\(absorb)}")
        let digest = try #require(plan.text("plan_digest"))
        _ = try await support(path, "{\(absorb),\"plan_digest\":\"\(digest)\",\"case\":\"T-1\"}")
    }

    /// Links Apple to Ada's account, the identity of the example.
    private mutating func linkApple() async throws {
        _ = try await service.link("apple", subject: "ada-a", by: ada)
        let account = try await service.account(ada.accessToken)
        let linked = account.json["identities"]?.array?.last?.members?["identity_id"]
        values[ExampleValue.identity] = linked?.string
    }

    private mutating func prepare() async throws {
        switch operation.id {
        case "link": accessToken = bob.accessToken
        case "complete_password_reset":
            _ = try await signUp()
            let sent = try await service.send(
                "POST", "/v1/auth/password-resets/password", "{\"email\":\"ada@example.com\"}")
            values[ExampleValue.challenge] = sent.text("challenge_id")
            values["270831"] = service.challenges.sent.last?.message.code
        case "change_address", "complete_address_return": try await beginChange()
        case "change_password":
            let person = try await signUp()
            signedUp = person
            accessToken = person.accessToken
        case "enrol_factor": try await beginEnrolment()
        case "send_second_factor_code": try await enrolPhone()
        case "begin_passkey_second_step":
            var passkey = TestPasskey("factor")
            let enrolled = try await service.enrol(&passkey, by: ada)
            values[ExampleValue.factor] = enrolled.text("factor_id")
            let refused = try await service.postSignIn("google", service.idToken("google", "ada"))
            values[ExampleValue.signInToken] = refused.detail("sign_in_token")?.string
        case "preview_factor_removal", "plan_factor_removal", "stop_factor_removal":
            try await enrol()
        case "keep_factor":
            try await enrol()
            let factor = values[ExampleValue.factor] ?? ""
            _ = try await support(
                "/v1/accounts/\(ada.userID)/factors/\(factor)/removal", "{\"case\":\"T-1\"}")
        case "list_factors", "remove_factor", "renew_recovery_codes", "finish_sign_in":
            try await enrol()
        case "unlink":
            let linked = try await service.link("apple", subject: "ada-a", by: ada)
            #expect(linked.status == 200)
        case "preview_merge", "merge":
            accessToken = bob.accessToken
            values[ExampleValue.idToken] = service.idToken("google", "ada")
            let plan = try await preview("/v1/account/merge/preview", by: bob.accessToken)
            let digest = try #require(plan.text("plan_digest"))
            guard operation.id == "merge" else { return }
            values[ExampleValue.planDigest] = digest
            values[ExampleValue.idToken] = service.idToken(
                "google", "ada", claims: ["nonce": "\"\(digest)\""])
        case "merge_by_support", "preview_undo_of_merge", "undo_merge":
            let path = "/v1/accounts/\(ada.userID)/merge"
            let plan = try await support(path + "/preview", "{\"absorb\":\"\(bob.userID)\"}")
            let digest = try #require(plan.text("plan_digest"))
            values[ExampleValue.planDigest] = digest
            guard operation.id != "merge_by_support" else { return }
            let merged = try await support(
                path,
                "{\"absorb\":\"\(bob.userID)\",\"plan_digest\":\"\(digest)\",\"case\":\"T-1\"}")
            values[ExampleValue.event] = merged.text("merge")
        case "confirm_erasure", "withdraw_erasure", "list_erasure_requests": try await askErasure()
        case "export_bundle": service.audit.proofs.seal(at: service.clock.now)
        case "list_identity_owners": try await linkApple()
        case "get_account_by_external_id":
            try await service.importAccount(named: ExampleValue.externalID)
        case "list_legal_holds": _ = try await support("/v1/accounts/\(ada.userID)/holds", nil)
        case "preview_relink", "relink":
            try await linkApple()
            #expect(try await service.unlink("apple", by: ada).status == 200)
        case "preview_unlink", "plan_unlink", "stop_unlink", "keep_identity":
            try await linkApple()
            let identity = values[ExampleValue.identity] ?? ""
            guard operation.id == "keep_identity" else { return }
            _ = try await support(
                "/v1/accounts/\(ada.userID)/identities/\(identity)/unlink", "{\"case\":\"T-1\"}")
        case "name_identity":
            var passkey = TestPasskey()
            let person = try await service.signUp(&passkey)
            signedUp = person
            accessToken = person.accessToken
            let account = try await service.account(person.accessToken)
            let linked = account.json["identities"]?.array?.first?.members?["identity_id"]
            values[ExampleValue.identity] = linked?.string
        case "enable_account":
            _ = try await support("/v1/accounts/\(ada.userID)/disable", "{\"case\":\"T-1\"}")
        case "lift_legal_hold":
            let held = try await support("/v1/accounts/\(ada.userID)/holds", nil)
            values[ExampleValue.hold] = held.text("hold")
        case "get_checkpoint", "list_checkpoints", "prove_inclusion", "prove_consistency",
            "get_event", "list_log_keys":
            service.audit.proofs.seal(at: service.clock.now)
            values["old=4"] = "old=\(service.ledger.recordings(of: .default).count)"
            _ = try await service.signIn("google", "ada")
            service.audit.proofs.seal(at: service.clock.now)
        case "list_conflicts", "get_conflict", "review_conflict", "unreview_conflict":
            _ = try await service.link("apple", subject: "bob", by: ada)
            let refused = service.ledger.recordings(of: .default).last?.recorded
            values[ExampleValue.event] = refused?.id.description
            if operation.id != "review_conflict" { try await review() }
        default: break
        }
    }

    /// Notes that the conflict was looked at.
    private func review() async throws {
        let event = values[ExampleValue.event] ?? ""
        let answer = try await service.send(
            "PUT", "/v1/conflicts/\(event)/review", #"{"note":"looked at"}"#,
            token: try service.audit.key(.support))
        #expect(answer.status == 200, "\(answer.body)")
    }

    /// Asks for the erasure of Ada's account, by another key than that of the example.
    mutating func askErasure(by key: String? = nil) async throws {
        let asked = try await service.send(
            "DELETE", "/v1/accounts/\(ada.userID)", token: try key ?? service.audit.key(.admin),
            headers: [("Ledger-Reason", "case 1")])
        #expect(asked.status == 202, "\(asked.body)")
        values[ExampleValue.erasureRequest] = asked.text("request_id")
        let plan = try await support("/v1/accounts/\(ada.userID)/erasure/preview", nil)
        values[ExampleValue.planDigest] = plan.text("plan_digest")
    }

    /// Sends the code of a change of the address of the document, or the one that takes it back after the change.
    private mutating func beginChange() async throws {
        let asked = try await service.send(
            "POST", "/v1/auth/codes/email", "{\"address\":\"ada@example.com\"}")
        let person = try Person(
            await service.send("POST", "/v1/auth/sign-in/email", answer(to: asked)))
        signedUp = person
        accessToken = person.accessToken
        try await sendChange(to: "new@example.com", by: person)
        guard operation.id == "complete_address_return" else { return }
        let challenge = try #require(values[ExampleValue.challenge])
        let code = try #require(values["270831"])
        _ = try await service.send(
            "POST", "/v1/account/addresses/email",
            """
            {"challenge_id":"\(challenge)","code":"\(code)","current_address":"ada@example.com"}
            """, token: accessToken)
        let begun = try await service.send(
            "POST", "/v1/auth/address-returns/email", "{\"address\":\"ada@example.com\"}")
        values[ExampleValue.challenge] = begun.text("challenge_id")
        values["270831"] = service.challenges.sent.last?.message.code
    }

    /// Returns the body that answers a challenge with the last code.
    func answer(to sent: Answer) throws -> String {
        let challenge = try #require(sent.text("challenge_id"))
        let code = try #require(service.challenges.sent.last).message.code
        return "{\"challenge_id\":\"\(challenge)\",\"code\":\"\(code)\"}"
    }

    /// Makes a secret for an authenticator app of the caller, and its first code.
    mutating func beginEnrolment() async throws {
        let begun = try await service.send(
            "POST", "/v1/account/factor-enrolments", "{\"type\":\"totp\"}", token: accessToken)
        values[ExampleValue.enrolmentToken] = begun.text("enrolment_token")
        let app = try #require(begun.text("secret").flatMap { AuthenticatorApp(base32: $0) })
        values[ExampleValue.factorCode] = app.code(at: service.clock.now.seconds)
    }

    /// Enrols a phone for the caller, and refuses a sign-in without it.
    private mutating func enrolPhone() async throws {
        let begun = try await service.send(
            "POST", "/v1/account/factor-enrolments",
            "{\"type\":\"phone\",\"phone\":\"+4915123456789\"}", token: accessToken)
        let challenge = try #require(begun.text("challenge_id"))
        let code = try #require(service.challenges.sent.last).message.code
        let enrolled = try await service.send(
            "POST", "/v1/account/factors",
            "{\"challenge_id\":\"\(challenge)\",\"code\":\"\(code)\"}", token: accessToken)
        values[ExampleValue.factor] = enrolled.text("factor_id")
        let refused = try await service.postSignIn("google", service.idToken("google", "ada"))
        values[ExampleValue.signInToken] = refused.detail("sign_in_token")?.string
    }

    /// Enrols an authenticator app for the caller, and refuses a sign-in without it.
    mutating func enrol() async throws {
        let (provider, subject) =
            accessToken == bob.accessToken ? ("apple", "bob") : ("google", "ada")
        let holder = try await service.enrol(caller)
        adopt(
            holder,
            refused: try await service.postSignIn(provider, service.idToken(provider, subject)))
    }

    /// Makes a person with a second factor the caller, and their refused sign-in the one to finish.
    mutating func adopt(_ holder: FactorHolder, refused: Answer? = nil) {
        signedUp = holder.person
        accessToken = holder.person.accessToken
        values[ExampleValue.factor] = holder.factor
        values[ExampleValue.refreshToken] = holder.person.refreshToken
        values[ExampleValue.signInToken] = refused?.detail("sign_in_token")?.string
        values[ExampleValue.factorCode] = holder.app.code(at: service.clock.now.seconds)
    }

    /// Signs up with the e-mail address and the password of the document.
    func signUp() async throws -> Person {
        let sent = try await service.send(
            "POST", "/v1/auth/sign-up/password",
            "{\"email\":\"ada@example.com\",\"password\":\"\(ExampleValue.password)\"}")
        return try Person(
            await service.send("POST", "/v1/auth/sign-in/password", answer(to: sent)))
    }

    private func preview(_ path: String, by token: String) async throws -> Answer {
        let idToken = values[ExampleValue.idToken] ?? ""
        return try await service.send(
            "POST", path, "{\"provider\":\"google\",\"id_token\":\"\(idToken)\"}", token: token)
    }

    func support(_ path: String, _ body: String?) async throws -> Answer {
        let answer = try await service.send(
            "POST", path, body, token: try service.audit.key(.admin),
            headers: [("Ledger-Reason", "case 1")])
        #expect(answer.status == 200, "\(answer.body)")
        return answer
    }

    /// Replaces the document's values by live ones.
    func live(_ text: String) -> String {
        values.reduce(text) { $0.replacing($1.key, with: $1.value) }
    }

    /// Returns the path of the example, with a further parameter.
    func target(adding parameter: String) -> String {
        target + (target.contains("?") ? "&" : "?") + parameter
    }

    /// The path of the example, with its query.
    var target: String {
        var path = operation.path
        var query: [String] = []
        for parameter in operation.parameters {
            guard let name = parameter["name"]?.string, let text = text(of: parameter) else {
                continue
            }
            switch parameter["in"]?.string {
            case "path": path = path.replacing("{\(name)}", with: text)
            case "query": query.append("\(name)=\(text)")
            default: break
            }
        }
        return live(path + (query.isEmpty ? "" : "?" + query.joined(separator: "&")))
    }

    var headers: [(name: String, value: String)] {
        operation.parameters.filter { $0["in"]?.string == "header" }.compactMap { parameter in
            guard let name = parameter["name"]?.string, let text = text(of: parameter) else {
                return nil
            }
            return (name: name, value: text)
        }
    }

    private func text(of parameter: JSONMembers) -> String? {
        guard let example = parameter["example"] else { return nil }
        return example.string ?? example.number.map { "\(Int64($0))" }
    }

    var body: String? {
        operation.body?["example"].map { live(Self.text($0)) }
    }

    /// Returns the access token, or a new key with a role, as the operation requires.
    func token(of role: Role = .admin) throws -> String? {
        switch operation.securityScheme {
        case "apiKey": try service.audit.key(role)
        case "accessToken": accessToken
        default: nil
        }
    }

    /// Sends the example, by the holder of a new key with a role or by the account holder.
    func send(
        as role: Role = .admin, token: String? = nil, body: String? = nil,
        headers: [(name: String, value: String)]? = nil,
        target: String? = nil
    ) async throws -> Answer {
        try await service.send(
            operation.method, target ?? self.target, body ?? self.body,
            token: try token ?? self.token(of: role), headers: headers ?? self.headers)
    }

    /// Returns a value as JSON.
    static func text(_ value: JSONValue) -> String {
        var writer = JSONWriter()
        write(value, to: &writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private static func write(_ value: JSONValue, to writer: inout JSONWriter) {
        switch value {
        case .null: writer.null()
        case .bool(let flag): writer.flag(flag)
        case .number(let number): writer.number(Int64(number))
        case .string(let text): writer.text(text)
        case .array(let elements):
            writer.array { writer in
                for element in elements { write(element, to: &writer) }
            }
        case .object(let members):
            writer.object { writer in
                for (name, value) in members {
                    writer.name(name)
                    write(value, to: &writer)
                }
            }
        }
    }
}
