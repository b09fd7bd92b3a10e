import Ledger
import LedgerSignIn
import LedgerTestSupport
import Testing

@testable import LedgerAPI

extension RefusalTests {
    /// The refusals of second factors, and those that an account with one adds to other routes.
    static let ofFactors: [String: [Attempt]] = [
        "401 INVALID_CODE": [
            Attempt { run in
                run.values[ExampleValue.factorCode] = "12345"
                return try await run.send()
            },
            Attempt { try await $0.send("x", for: ExampleValue.signInToken) },
        ],
        "400 UNSUPPORTED_PROVIDER": [
            Attempt { run in
                run.service = try run.service.restarted { $0.passkeys = nil }
                return try await run.send(
                    body: run.operation.id == "enrol_factor"
                        ? #"{"challenge_id":"x","credential":{}}"# : nil)
            },
            Attempt { run in
                run.service = try run.service.restarted { $0.codes = [.email] }
                return try await run.send(
                    body: run.operation.id == "begin_factor"
                        ? "{\"type\":\"phone\",\"phone\":\"+4915123456789\"}" : nil)
            },
        ],
        "401 INVALID_PASSWORD": [
            Attempt(isPrepared: false) { run in
                let person = try await run.signUp()
                let holder = try await run.service.enrol(person)
                let refused = try await run.service.send(
                    "POST", "/v1/auth/sign-in/password",
                    "{\"email\":\"ada@example.com\",\"password\":\"\(ExampleValue.password)\"}")
                run.adopt(holder, refused: refused)
                let changed = try await run.service.send(
                    "POST", "/v1/account/password", "{\"password\":\"another horse staple\"}",
                    token: holder.person.accessToken)
                #expect(changed.status == 200, "\(changed.body)")
                return try await run.send()
            }
        ],
        "401 INVALID_PROVIDER_TOKEN": [
            Attempt(isPrepared: false, options: { $0.singleUseIDTokens = [.default] }) { run in
                let holder = try await run.service.enrol(run.ada)
                let token = run.service.idToken("google", "ada")
                let first = try await run.service.postSignIn("google", token)
                let second = try await run.service.postSignIn("google", token)
                run.adopt(holder, refused: first)
                #expect(try await run.send().status == 200)
                run.service.clock.advance(seconds: 90)
                run.adopt(holder, refused: second)
                return try await run.send()
            }
        ],
        "404 ACCOUNT_NOT_FOUND": [
            Attempt { run in
                let person = run.caller
                _ = try await run.service.link("apple", subject: "ada-a", by: person)
                _ = try await run.service.unlink("google", by: person)
                return try await run.send()
            }
        ],
        "429 RATE_LIMITED": [
            Attempt { run in
                let code = run.values[ExampleValue.factorCode]
                run.values[ExampleValue.factorCode] = "12345"
                for _ in 1...AddressCodes.triesPerNetwork { _ = try await run.send() }
                run.values[ExampleValue.factorCode] = code
                return try await run.send()
            },
            Attempt { run in
                let body = "{\"type\":\"phone\",\"phone\":\"+4915123456789\"}"
                for _ in 1...AddressCodes.sendsPerAddress { _ = try await run.send(body: body) }
                return try await run.send(body: body)
            },
            Attempt { run in
                var body = ""
                for number in 1...3 {
                    let begun = try await run.service.send(
                        "POST", "/v1/account/factor-enrolments",
                        "{\"type\":\"phone\",\"phone\":\"+4915123456789\"}",
                        token: run.accessToken)
                    let challenge = begun.text("challenge_id") ?? ""
                    body = "{\"challenge_id\":\"\(challenge)\",\"code\":\"00000x\"}"
                    for _ in 1...StoredChallenge.triesMax where number < 3 {
                        _ = try await run.send(body: body)
                    }
                }
                return try await run.send(body: body)
            },
        ],
        "403 REAUTHENTICATION_REQUIRED": [
            Attempt { run in
                try await run.enrol()
                run.service.clock.advance(seconds: 601)
                let refreshed = try await run.service.refresh(run.caller.refreshToken)
                run.accessToken = refreshed.text("access_token") ?? ""
                return try await run.send()
            },
            Attempt(isPrepared: false) { run in
                run.service.clock.advance(seconds: 601)
                let refreshed = try await run.service.refresh(run.caller.refreshToken)
                run.accessToken = refreshed.text("access_token") ?? ""
                try await run.beginEnrolment()
                return try await run.send()
            },
        ],
        "403 SECOND_FACTOR_REQUIRED": [
            Attempt { run in
                try await run.enrol()
                run.prove("google", "ada")
                return try await run.send()
            }
        ],
        "404 FACTOR_NOT_FOUND": [
            Attempt { run in
                try await run.send(
                    "0190a1b2-ffff-7000-8000-000000000001", for: ExampleValue.factor)
            }
        ],
        "409 FACTOR_REFUSED": [
            Attempt(isPrepared: false) { try await $0.send() },
            Attempt(options: { $0.anonymous = OpeningBudget(networkLimit: 10, tenantLimit: 10) }) {
                run in
                let opened = try await run.service.send(
                    "POST", "/v1/auth/sign-in/anonymous", "{}")
                run.accessToken = opened.text("access_token") ?? ""
                try await run.beginEnrolment()
                return try await run.send()
            },
            // An authenticator app is not removed when a phone is left to follow a phone.
            Attempt(isPrepared: false) { run in
                func code(_ path: String, _ body: String) async throws -> String {
                    let sent = try await run.service.send(
                        "POST", path, body, token: run.accessToken)
                    let code = run.service.challenges.sent.last?.message.code ?? ""
                    let challenge = sent.text("challenge_id") ?? ""
                    return "{\"challenge_id\":\"\(challenge)\",\"code\":\"\(code)\"}"
                }
                let linking = try await code(
                    "/v1/account/codes/phone", "{\"address\":\"+4915123456789\"}")
                _ = try await run.service.send(
                    "POST", "/v1/auth/link/phone", linking, token: run.accessToken)
                let holder = try await run.service.enrol(run.ada)
                run.adopt(holder)
                let enrolling = try await code(
                    "/v1/account/factor-enrolments",
                    "{\"type\":\"phone\",\"phone\":\"+4915123456780\"}")
                _ = try await run.service.send(
                    "POST", "/v1/account/factors", enrolling, token: run.accessToken)
                _ = try await run.service.unlink("google", by: holder.person)
                let signingIn = try await code(
                    "/v1/auth/codes/phone", "{\"address\":\"+4915123456789\"}")
                let refused = try await run.service.send(
                    "POST", "/v1/auth/sign-in/phone", signingIn)
                let appCode = holder.app.code(at: run.service.clock.now.seconds)
                run.accessToken =
                    try await run.service.finish(refused, holder.factor, appCode)
                    .text("access_token") ?? ""
                return try await run.send()
            },
        ],
        "403 SECOND_PERSON_REQUIRED": [
            Attempt(options: { $0.supportNeedsTwo = true }) { run in
                let token = try run.service.audit.key(.admin)
                if run.operation.id.contains("merge_by_support") {
                    let request = try await run.askMerge(by: token)
                    return try await run.send(token: token, body: run.confirming(request))
                }
                guard run.operation.id.contains("undo") else {
                    let planned = try await run.send(token: token)
                    return try await run.send(
                        token: token, body: run.confirming(planned.text("confirm_request") ?? ""))
                }
                _ = try await run.service.enrol(run.ada)
                let merge = run.values[ExampleValue.event] ?? ""
                let asked = try await run.service.send(
                    "POST", "/v1/merges/\(merge)/undo", #"{"case":"T-1"}"#, token: token,
                    headers: [("Ledger-Reason", "case 1")])
                return try await run.send(
                    token: token, body: run.confirming(asked.text("undo_request") ?? ""))
            }
        ],
        "403 ACCOUNT_DISABLED": [
            Attempt { run in
                let disabled = try await run.service.send(
                    "POST", "/v1/accounts/\(run.ada.userID)/disable", #"{"case":"T-1"}"#,
                    token: try run.service.audit.key(.support),
                    headers: [("Ledger-Reason", "case 1")])
                #expect(disabled.status == 200, "\(disabled.body)")
                return try await run.send(body: run.confirming("x"))
            }
        ],
        "400 CANNOT_UNLINK_ONLY_PROVIDER": [
            // Both accounts' identities are of providers that are not configured any more.
            Attempt { run in
                run.service = try run.service.restarted(providers: [TestIdentityProvider("other")])
                let token = run.ada.accessToken
                return try await run.send(
                    body: "{\"other_access_token\":\"\(token)\",\"plan_digest\":\"x\"}")
            }
        ],
        "409 SECOND_FACTOR_ENROLLED": [
            Attempt { run in
                _ = try await run.service.enrol(run.ada)
                return try await run.send()
            }
        ],
    ]
}

extension ExampleRun {
    /// The body that confirms another person's request, or previews that.
    func confirming(_ request: String) -> String {
        let isPlan = ["plan_factor_removal", "plan_unlink"].contains(operation.id)
        let isMerge = operation.id.contains("merge_by_support")
        var members = ["reason": "ticket 17"]
        members[isPlan ? "confirm_request" : isMerge ? "merge_request" : "undo_request"] = request
        if isPlan || ["undo_merge", "merge_by_support"].contains(operation.id) {
            members["case"] = "T-1"
        }
        if isMerge {
            members["absorb"] = bob.userID
            members["plan_digest"] = values[ExampleValue.planDigest]
        }
        return "{\(members.map { "\"\($0)\":\"\($1)\"" }.sorted().joined(separator: ","))}"
    }

    /// Asks for the merge of the example into Ada's account, which has a second factor now, by a key.
    fileprivate mutating func askMerge(by token: String) async throws -> String {
        _ = try await service.enrol(ada)
        let path = "/v1/accounts/\(ada.userID)/merge"
        let plan = try await support(path + "/preview", "{\"absorb\":\"\(bob.userID)\"}")
        let digest = try #require(plan.text("plan_digest"))
        values[ExampleValue.planDigest] = digest
        let asked = try await service.send(
            "POST", path,
            "{\"absorb\":\"\(bob.userID)\",\"plan_digest\":\"\(digest)\",\"case\":\"T-1\"}",
            token: token, headers: [("Ledger-Reason", "case 1")])
        return try #require(asked.text("merge_request"), "\(asked.body)")
    }
}
