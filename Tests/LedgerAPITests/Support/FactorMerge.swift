import JSON
import Ledger
import LedgerTestSupport
import Testing

/// Bob's account with Apple, and the one with Google and an authenticator app, which are one person's.
struct FactorMerge {
    let service: TestService
    let bob: Person
    let ada: FactorHolder

    init(_ change: (inout TestService.Options) -> Void = { _ in }) async throws {
        service = try TestService(change)
        bob = try await service.signIn("apple", "bob")
        ada = try await service.enrol(try await service.signIn("google", "ada"))
    }

    func post(
        _ path: String, _ members: [String: String], by token: String,
        headers: [(name: String, value: String)] = []
    ) async throws -> Answer {
        let body = members.map { "\"\($0)\":\"\($1)\"" }.sorted().joined(separator: ",")
        return try await service.send(
            "POST", path, "{\(body)}", token: token, headers: headers)
    }

    /// Previews the merge of the account of an access token, Ada's by default.
    func preview(_ other: String? = nil, by person: Person? = nil) async throws -> Answer {
        try await post(
            "/v1/account/merge/preview",
            ["other_access_token": other ?? ada.person.accessToken],
            by: (person ?? bob).accessToken)
    }

    func merge(
        _ digest: String, _ other: String? = nil, by person: Person? = nil, key: String? = nil
    ) async throws -> Answer {
        try await post(
            "/v1/account/merge",
            [
                "other_access_token": other ?? ada.person.accessToken,
                "plan_digest": digest,
            ], by: (person ?? bob).accessToken,
            headers: key.map { [(name: "Idempotency-Key", value: $0)] } ?? [])
    }

    func code(_ holder: FactorHolder) -> String {
        holder.app.code(at: service.clock.now.seconds)
    }

    /// The refusal of a sign-in without its second factor.
    func refused(_ provider: String, _ subject: String) async throws -> Answer {
        let answer = try await service.postSignIn(
            provider, service.idToken(provider, subject))
        #expect(answer.summary == "403 SECOND_FACTOR_REQUIRED", "\(answer.body)")
        return answer
    }

    func signIn(
        _ provider: String, _ subject: String, with factor: String, _ code: String
    ) async throws -> Answer {
        try await service.finish(try await refused(provider, subject), factor, code)
    }

    /// Requests a merge of Ada's account into Bob's by support, or with a preview.
    func support(
        _ path: String = "", _ members: [String: String] = [:], by key: String
    ) async throws -> Answer {
        var members = members
        members["absorb"] = ada.person.userID
        return try await post(
            "/v1/accounts/\(bob.userID)/merge\(path)", members, by: key,
            headers: MergeStory.reason)
    }

    /// Merges by support, with a new plan.
    func merge(_ request: String? = nil, as key: String) async throws -> Answer {
        let plan = try await support("/preview", by: key)
        var members = ["case": "T-9", "plan_digest": try #require(plan.text("plan_digest"))]
        members["merge_request"] = request
        return try await support("", members, by: key)
    }

    func ask(as key: String) async throws -> String {
        let asked = try await merge(as: key)
        #expect(asked.status == 202, "\(asked.body)")
        return try #require(asked.text("merge_request"))
    }

    var isMerged: Bool { service.log().contains("AccountsMerged") }
}

extension Answer {
    /// The factors of a merge's plan, each with its side.
    var mergedFactors: [String] {
        (json["factors"]?.array ?? []).compactMap(\.members).map {
            "\($0["factor_id"]?.string ?? "?") of \($0["of"]?.string ?? "?")"
        }
    }

    /// The sets of recovery codes of a sign-in that was refused without a second factor.
    var recoveryCodeSets: [String] {
        (detail("factors")?.array ?? []).compactMap(\.members)
            .filter { $0["type"]?.string == "recovery_codes" }
            .compactMap { $0["factor_id"]?.string }
    }
}
