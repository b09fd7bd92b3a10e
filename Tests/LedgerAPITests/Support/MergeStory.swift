import Cryptography
import Ledger
import OpenID
import Testing

/// Ada with Apple, and the account that she opened with Google by mistake.
struct MergeStory {
    static let reason = [(name: "Ledger-Reason", value: "one person")]

    let service: TestService
    let ada: Person
    let other: Person

    init(nonce: IDTokenPolicy.NonceMode = .raw) async throws {
        service = try TestService { $0.nonce = nonce }
        ada = try await service.signIn("apple", "ada")
        other = try await service.signIn("google", "other")
    }

    func post(
        _ path: String, _ members: [String: String], by token: String? = nil,
        headers: [(name: String, value: String)] = []
    ) async throws -> Answer {
        let body = members.map { "\"\($0)\":\($1)" }.sorted().joined(separator: ",")
        return try await service.send(
            "POST", path, "{\(body)}", token: token ?? ada.accessToken, headers: headers)
    }

    func preview(_ rest: [String: String] = [:]) async throws -> Answer {
        var members = ["provider": "\"google\"", "id_token": "\"\(token())\""]
        members.merge(rest) { _, given in given }
        return try await post("/v1/account/merge/preview", members)
    }

    func merge(
        _ digest: String, token: String? = nil, _ rest: [String: String] = [:], key: String? = nil
    ) async throws -> Answer {
        var members = [
            "provider": "\"google\"", "plan_digest": "\"\(digest)\"",
            "id_token": "\"\(token ?? self.token(nonce: digest))\"",
        ]
        members.merge(rest) { _, given in given }
        return try await post(
            "/v1/account/merge", members, headers: key.map { [("Idempotency-Key", $0)] } ?? [])
    }

    func token(nonce: String? = nil, issued seconds: Int64? = nil) -> String {
        var claims: [String: String?] = [:]
        if let nonce { claims["nonce"] = "\"\(nonce)\"" }
        if let seconds { claims["iat"] = "\(seconds)" }
        return service.idToken("google", "other", claims: claims)
    }

    func digest() async throws -> String {
        try #require(try await preview().text("plan_digest"))
    }
}
