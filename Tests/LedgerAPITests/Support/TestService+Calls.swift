import Cryptography
import Encodings
import JSON
import Ledger
import LedgerAPI
import LedgerSignIn
import LedgerTestSupport
import Testing

/// A signed-in person.
struct Person {
    let accessToken: String
    let refreshToken: String
    let userID: String
    let providers: [String]
    let isNew: Bool

    init(_ answer: Answer) throws {
        try #require(answer.status == 200, "\(answer.body)")
        try self.init(answer.json)
    }

    init(_ session: JSONMembers) throws {
        accessToken = try #require(session["access_token"]?.string)
        refreshToken = try #require(session["refresh_token"]?.string)
        userID = try #require(session["user_id"]?.string)
        let names = try #require(session["linked_providers"]?.array)
        providers = names.compactMap(\.string)
        isNew = session["is_new_user"] == .bool(true)
    }

    /// The claims of the access token.
    var claims: JSONMembers? {
        accessToken.split(separator: ".").dropFirst().first
            .flatMap { Base64URL.decode(String($0)) }
            .flatMap { JSONValue(parsing: $0)?.members }
    }

    /// The `amr` of the access token.
    var methods: [String] { claims?["amr"]?.array?.compactMap(\.string) ?? [] }
}

extension TestService {
    /// Opens the ledger and records the configured rules, as a server that starts does.
    func recordRules() async throws {
        let policy = try #require(services.configurations[.default]).policy
        let opening = SequencerFixture.opening(of: .default)
        for intent in [opening.intent, .setRules(SetRules(policy, condition: .noneRecorded))] {
            _ = try await ledger.submit(
                Command(
                    id: CommandID(bits: 1), tenant: .default, origin: opening.origin,
                    intent: intent))
        }
    }

    func provider(_ name: String) -> TestIdentityProvider { name == "apple" ? apple : google }

    /// Returns a fresh, valid ID token; two of one subject differ.
    func idToken(
        _ provider: String, _ subject: String, claims: [String: String?] = [:]
    ) -> String {
        let unique = ["jti": "\"\(SecureRandom.uint128())\"" as String?]
        return self.provider(provider).token(
            subject: subject, email: "\(subject)@example.com",
            changes: unique.merging(claims) { _, given in given }, at: clock.now.seconds)
    }

    /// Imports an account of the system `auth0` with one identity; `number` makes its ids.
    func importAccount(
        named id: String, as person: Subject = subject("google", "imported"), number: UInt128 = 71,
        in tenant: TenantID = .default
    ) async throws {
        let identity = ImportAccount.Identity(
            person, email: nil, newID: IdentityID(at: clock.now, random: number))
        let command = ImportAccount(
            externalName(id), identities: [identity], addresses: [], actor: .system,
            newAccount: AccountID(at: clock.now, random: number + 1))
        let reply = try await ledger.submit(
            Command(
                id: CommandID(at: clock.now, random: number + 2), tenant: tenant,
                origin: Command.Origin(request: nil, clientIP: nil, userAgent: nil),
                intent: command.intent))
        #expect(try ImportAccount.success(in: reply.get())?.effect == .opened)
    }

    func postSignIn(
        _ provider: String, _ idToken: String, _ rest: String = "", tenant: String = "",
        headers: [(name: String, value: String)] = []
    ) async throws -> Answer {
        try await send(
            "POST", "\(tenant)/v1/auth/sign-in/\(provider)",
            "{\"id_token\":\"\(idToken)\"\(rest)}", headers: headers)
    }

    func signIn(
        _ provider: String, _ subject: String, claims: [String: String?] = [:],
        tenant: String = ""
    ) async throws -> Person {
        let token = idToken(provider, subject, claims: claims)
        return try Person(await postSignIn(provider, token, tenant: tenant))
    }

    func link(
        _ provider: String, _ idToken: String, _ rest: String = "", by person: Person,
        key: String? = nil, tenant: String = ""
    ) async throws -> Answer {
        try await send(
            "POST", "\(tenant)/v1/auth/link/\(provider)", "{\"id_token\":\"\(idToken)\"\(rest)}",
            token: person.accessToken, headers: key.map { [("Idempotency-Key", $0)] } ?? [])
    }

    func link(_ provider: String, subject: String, by person: Person) async throws -> Answer {
        try await link(provider, idToken(provider, subject), by: person)
    }

    func unlink(
        _ provider: String, by person: Person, key: String? = nil, query: String = "",
        body: String? = nil
    ) async throws -> Answer {
        try await send(
            "DELETE", "/v1/auth/link/\(provider)\(query)", body, token: person.accessToken,
            headers: key.map { [("Idempotency-Key", $0)] } ?? [])
    }

    func refresh(_ token: String, tenant: String = "") async throws -> Answer {
        try await send(
            "POST", "\(tenant)/v1/auth/refresh", "{\"refresh_token\":\"\(token)\"}")
    }

    func account(_ token: String, tenant: String = "") async throws -> Answer {
        try await send("GET", "\(tenant)/v1/account", token: token)
    }

    /// The names of a tenant's events, in order.
    func log(_ tenant: TenantID = .default) -> [String] {
        ledger.events(of: tenant).map(\.name.rawValue)
    }
}

/// A person with a second factor.
struct FactorHolder {
    var person: Person
    let factor: String
    let app: AuthenticatorApp
    let codes: [String]
}

extension TestService {
    /// Enrols an authenticator app; the clock moves on to the next code.
    func enrol(_ person: Person) async throws -> FactorHolder {
        let begun = try await send(
            "POST", "/v1/account/factor-enrolments", "{\"type\":\"totp\"}",
            token: person.accessToken)
        let app = try #require(begun.text("secret").flatMap { AuthenticatorApp(base32: $0) })
        let token = try #require(begun.text("enrolment_token"))
        let answer = try await send(
            "POST", "/v1/account/factors",
            "{\"enrolment_token\":\"\(token)\",\"code\":\"\(app.code(at: clock.now.seconds))\"}",
            token: person.accessToken)
        clock.advance(seconds: 30)
        var person = person
        if let session = answer.json["session"]?.members {
            person = try Person(session)
        }
        return FactorHolder(
            person: person, factor: try #require(answer.text("factor_id")), app: app,
            codes: answer.json["recovery_codes"]?.array?.compactMap(\.string) ?? [])
    }

    /// Finishes a refused sign-in.
    func finish(
        _ refused: Answer, _ factor: String, _ code: String, _ rest: String = "",
        tenant: String = "", headers: [(name: String, value: String)] = []
    ) async throws -> Answer {
        let token = try #require(refused.detail("sign_in_token")?.string, "\(refused.body)")
        return try await send(
            "POST", "\(tenant)/v1/auth/second-factor",
            "{\"sign_in_token\":\"\(token)\",\"factor_id\":\"\(factor)\",\"code\":\"\(code)\"\(rest)}",
            headers: headers)
    }
}
