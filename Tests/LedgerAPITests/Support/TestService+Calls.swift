import Cryptography
import JSON
import Ledger
import LedgerAPI
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
        accessToken = try #require(answer.text("access_token"))
        refreshToken = try #require(answer.text("refresh_token"))
        userID = try #require(answer.text("user_id"))
        providers = try #require(answer.providers)
        isNew = answer.json["is_new_user"] == .bool(true)
    }
}

extension TestService {
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
