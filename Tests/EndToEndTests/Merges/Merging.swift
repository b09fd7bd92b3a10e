import Cryptography
import LedgerTestSupport
import Testing

extension Device {
    /// Requests a preview of absorbing the account of an identity.
    func previewMerge(
        of subject: String, at provider: TestIdentityProvider
    ) async throws -> WireClient.Answer {
        try await client.call(
            "POST", "/v1/account/merge/preview",
            ["provider": provider.name, "id_token": provider.token(subject: subject)],
            token: accessToken)
    }

    /// Absorbs the account of an identity as it was shown, through this device's server or another one.
    func merge(
        _ plan: WireClient.Answer, of subject: String, at provider: TestIdentityProvider,
        through other: WireClient? = nil
    ) async throws -> WireClient.Answer {
        let digest = plan.text("plan_digest") ?? "none"
        // Apple's tokens carry the hash of what the client sends.
        let nonce = provider.name == "apple" ? hex(SHA256.hash(Array(digest.utf8))) : digest
        return try await (other ?? client).call(
            "POST", "/v1/account/merge",
            [
                "provider": provider.name, "plan_digest": digest,
                "id_token": provider.token(subject: subject, nonce: nonce),
            ], token: accessToken)
    }

    private func hex(_ bytes: [UInt8]) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}

/// A support agent with an API key.
struct CaseWorker: Sendable {
    let client: WireClient
    let key: String

    init(_ client: WireClient, key: String) {
        self.client = client
        self.key = key
    }

    /// The same at another server.
    func at(_ server: ServerProcess) -> CaseWorker { CaseWorker(server.client, key: key) }

    func get(_ path: String) async throws -> WireClient.Answer {
        try await client.call(
            "GET", path, token: key, headers: ["Ledger-Reason": "a person asked"])
    }

    func post(
        _ path: String, _ members: [String: any Sendable] = [:], key idempotency: String? = nil
    ) async throws -> WireClient.Answer {
        try await client.call(
            "POST", path, members, token: key, key: idempotency,
            headers: ["Ledger-Reason": "a person asked"])
    }

    func erase(_ account: String, plan: String? = nil) async throws -> WireClient.Answer {
        try await client.call(
            "DELETE", "/v1/accounts/\(account)\(plan.map { "?plan_digest=\($0)" } ?? "")",
            token: key, headers: ["Ledger-Reason": "a person asked"])
    }

    /// The digest of what an erasure would cover.
    func erasurePlan(of account: String) async throws -> String {
        let plan = try await post("/v1/accounts/\(account)/erasure/preview")
        return try #require(plan.text("plan_digest"), "\(plan.json)")
    }

    /// The digest of the plan by which one account absorbs another.
    func plan(of absorbed: String, into survivor: String) async throws -> String {
        let plan = try await post(
            "/v1/accounts/\(survivor)/merge/preview", ["absorb": absorbed])
        return try #require(plan.text("plan_digest"), "\(plan.json)")
    }

    func merge(
        _ absorbed: String, into survivor: String, plan: String, key: String? = nil
    ) async throws -> WireClient.Answer {
        try await post(
            "/v1/accounts/\(survivor)/merge",
            ["absorb": absorbed, "plan_digest": plan, "case": "T-100"], key: key)
    }

    func undo(_ merge: String, key: String? = nil) async throws -> WireClient.Answer {
        try await post("/v1/merges/\(merge)/undo", ["case": "T-101"], key: key)
    }
}
