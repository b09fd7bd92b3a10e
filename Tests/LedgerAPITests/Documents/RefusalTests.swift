import HTTP
import JSON
import Ledger
import LedgerSignIn
import LedgerTestSupport
import Testing

@testable import LedgerAPI

/// Gets every refusal that the documents describe, by a changed example.
struct RefusalTests {
    /// The way to a refusal.
    struct Attempt: Sendable {
        var isPrepared = true
        var options: @Sendable (inout TestService.Options) -> Void = { _ in }
        /// Changes the example or the ledger, and sends the example.
        let send: @Sendable (inout ExampleRun) async throws -> Answer
    }

    private static let operations = DescribedAPI.all.mapValues { $0.operation }

    @Test(arguments: operations.keys.sorted())
    func `every described refusal is answered`(route: String) async throws {
        let operation = try #require(Self.operations[route])
        let refusals = operation.refusals.subtracting(try Self.rejections())
        for refusal in refusals.sorted() {
            var answers: [String] = []
            for attempt in Self.attempts[refusal] ?? [] where !answers.contains(refusal) {
                var run = try await ExampleRun(
                    operation, isPrepared: attempt.isPrepared, attempt.options)
                answers.append(try await attempt.send(&run).summary)
            }
            #expect(answers.contains(refusal), "\(route): \(refusal), not \(answers)")
        }
    }

    @Test func `every attempt is for a described refusal`() {
        let described = Self.operations.values.reduce(into: Set()) { $0.formUnion($1.refusals) }
        #expect(Set(Self.attempts.keys).isSubset(of: described))
    }

    /// The answers to requests that reach no route.
    private static func rejections() throws -> Set<String> {
        let api = try TestService().api
        return Set(HTTPRejection.allCases.map { Answer(api.reject($0, [:])).summary })
    }

    private static let attempts = ofCallers.merging(ofProofs) { $0 + $1 }
        .merging(ofLookups) { $0 + $1 }.merging(ofStates) { $0 + $1 }
        .merging(ofFactors) { $0 + $1 }.merging(ofAddresses) { $0 + $1 }
        .merging(ofErasures) { $0 + $1 }

    private static let ofCallers: [String: [Attempt]] = [
        "401 INVALID_ACCESS_TOKEN": [
            Attempt { try await $0.sendWithoutToken() },
            Attempt { run in
                try await run.send(body: run.body?.replacing("sign_in", with: "link"))
            },
        ],
        "401 INVALID_API_KEY": [Attempt { try await $0.sendWithoutToken() }],
        "403 FORBIDDEN": [
            Attempt { try await $0.send(as: .auditor) },
            Attempt { try await $0.send(as: .support) },
            Attempt { try await $0.send(as: .auditor, target: $0.target(adding: "disclose=true")) },
            Attempt { try await $0.send(as: .auditor, body: #"{"query":"a@example.com"}"#) },
            Attempt { run in
                try await run.send(
                    as: .auditor, target: run.target.replacing(/q=[^&]*/, with: "q=a@example.com"))
            },
        ],
        "403 REAUTHENTICATION_REQUIRED": [
            Attempt { run in
                run.service.clock.advance(seconds: 601)
                let refreshed = try await run.service.refresh(run.caller.refreshToken)
                run.accessToken = refreshed.text("access_token") ?? ""
                return try await run.send()
            },
            Attempt { run in
                let past = run.service.clock.now.adding(seconds: -300)
                let secret = try await run.service.staff.signIn(
                    [.admin: .all], authenticatedAt: past)
                return try await run.service.send(
                    run.operation.method, run.target, run.body,
                    headers: run.headers + TestStaff.fields(of: secret))
            },
        ],
        "404 NOT_FOUND": [Attempt { try await $0.send(target: "/t/nowhere\($0.target)") }],
        "405 METHOD_NOT_ALLOWED": [
            Attempt { try await $0.service.send("PATCH", $0.target) }
        ],
        "415 UNSUPPORTED_MEDIA_TYPE": [
            Attempt { run in
                try await run.service.send(
                    run.operation.method, run.target, run.body ?? "{}", token: try run.token(),
                    headers: run.headers + [("Content-Type", "text/plain")], isTyped: true)
            }
        ],
        "422 IDEMPOTENCY_KEY_REUSED": [
            Attempt { run in
                let token = try run.token()
                _ = try await run.send(token: token)
                return try await run.send(token: token, body: "\(run.body ?? "") ")
            }
        ],
    ]

    private static let ofProofs: [String: [Attempt]] = [
        "400 UNSUPPORTED_PROVIDER": [
            Attempt { run in
                try await run.send(
                    body: run.body?.replacing("\"google\"", with: "\"nowhere\""),
                    target: run.target.replacing(
                        /\/(google|email|password|passkey)(\/complete|\/create|\/get)?$/
                    ) { "/nowhere\($0.output.2 ?? "")" })
            },
            Attempt { run in
                let others = [TestIdentityProvider("other")]
                run.service = try run.service.restarted(providers: others) { $0.passwords = nil }
                return try await run.send()
            },
        ],
        "401 INVALID_CODE": [
            Attempt { run in
                let plan = run.values[ExampleValue.planDigest] ?? "x"
                return try await run.send(
                    body: """
                        {"provider":"email","plan_digest":"\(plan)","challenge_id":\
                        "\(ExampleValue.challenge)","code":"000000","password":\
                        "\(ExampleValue.password)"}
                        """, target: run.target.replacing("/google", with: "/email"))
            }
        ],
        "401 INVALID_PASSWORD": [
            Attempt { run in
                try await run.sendPassword(
                    "\"email\":\"eve@example.com\",\"password\":\"\(ExampleValue.password)\"")
            },
            Attempt { run in
                try await run.sendPassword(
                    """
                    "email":"eve@example.com","password":"\(ExampleValue.password)",\
                    "current_password":"\(ExampleValue.password)"
                    """)
            },
        ],
        "400 WEAK_PASSWORD": [
            Attempt { run in
                try await run.sendPassword(
                    """
                    "email":"eve@example.com","challenge_id":"\(ExampleValue.challenge)",\
                    "code":"000000","password":"short"
                    """)
            }
        ],
        "401 INVALID_PROVIDER_TOKEN": [
            Attempt { try await $0.send("x", for: ExampleValue.idToken) }
        ],
        "409 PROVIDER_CONFLICT": [
            Attempt { run in
                run.prove("google", "ada")
                return try await run.send()
            }
        ],
        "409 SAME_ACCOUNT": [
            Attempt { try await $0.send($0.ada.userID, for: ExampleValue.otherAccount) },
            Attempt { run in
                run.prove("apple", "bob")
                return try await run.send(
                    body: run.body?.replacing("\"google\"", with: "\"apple\""))
            },
        ],
        "429 RATE_LIMITED": [
            Attempt { run in
                let body =
                    "{\"password\":\"\(ExampleValue.password)\",\"email\":\"ada@example.com\","
                    + "\"current_password\":\"another horse\"}"
                for _ in 1...PasswordChecks.triesPerNetwork { _ = try await run.send(body: body) }
                return try await run.send(body: body)
            },
            Attempt { run in
                for _ in 1...2 {
                    let sent = try await run.service.send(
                        "POST", "/v1/auth/password-resets/password",
                        "{\"email\":\"ada@example.com\"}")
                    run.values[ExampleValue.challenge] = sent.text("challenge_id")
                    for _ in 1...5 { _ = try await run.send("000000", for: "270831") }
                }
                let sent = try await run.service.send(
                    "POST", "/v1/auth/password-resets/password",
                    "{\"email\":\"ada@example.com\"}")
                run.values[ExampleValue.challenge] = sent.text("challenge_id")
                return try await run.send()
            },
            Attempt { run in
                for _ in 1...AddressCodes.sendsPerAddress { _ = try await run.send() }
                return try await run.send()
            },
            Attempt { run in
                for number in 1...5 {
                    _ = try await run.send("x\(number)", for: ExampleValue.idToken)
                }
                return try await run.send("x6", for: ExampleValue.idToken)
            },
            Attempt { run in
                for _ in 1...60 {
                    run.prove("google", "ada")
                    _ = try await run.send()
                }
                return try await run.send()
            },
        ],
    ]

    private static let ofLookups: [String: [Attempt]] = [
        "401 INVALID_REFRESH_TOKEN": [unknown(ExampleValue.refreshToken)],
        "404 ACCOUNT_NOT_FOUND": [
            unknown(ExampleValue.account), unknown(ExampleValue.otherAccount),
            unknown(ExampleValue.identity), Attempt(isPrepared: false) { try await $0.send() },
            Attempt { run in
                run.prove("google", "unknown")
                return try await run.send(body: run.body?.replacing(":true", with: ":false"))
            },
        ],
        "404 EVENT_NOT_FOUND": [
            unknown(ExampleValue.event),
            Attempt { try await $0.send(headers: [("Last-Event-ID", "99")]) },
        ],
        "404 HOLD_NOT_FOUND": [unknown(ExampleValue.hold)],
        "404 MERGE_NOT_FOUND": [unknown(ExampleValue.event)],
        "404 NOT_SEALED_YET": [Attempt(isPrepared: false) { try await $0.send() }],
        "404 PROVIDER_NOT_LINKED": [
            Attempt(isPrepared: false) { run in
                try await run.send(target: run.target.replacing("/google", with: "/apple"))
            },
            Attempt(isPrepared: false) { try await $0.send() },
        ],
        "404 SIZE_NOT_SIGNED": [
            Attempt { try await $0.send(target: $0.target(adding: "size=3")) },
            Attempt { try await $0.send(target: $0.target.replacing(/old=\d+/, with: "old=1")) },
        ],
        "409 ERASURE_PLAN_CHANGED": [
            Attempt { try await $0.send(target: $0.target(adding: "plan_digest=x")) }
        ],
        "409 MERGE_PLAN_CHANGED": [
            Attempt { run in
                run.values[ExampleValue.planDigest] = "x"
                run.prove("google", "ada")
                return try await run.send()
            },
            Attempt { try await $0.send(body: $0.confirming("x")) },
        ],
    ]

    /// Names something that does not exist.
    private static func unknown(_ example: String) -> Attempt {
        Attempt { try await $0.send("0190a1b2-ffff-7000-8000-000000000001", for: example) }
    }

    private static let ofStates: [String: [Attempt]] = [
        "400 CANNOT_UNLINK_ONLY_PROVIDER": [
            Attempt(isPrepared: false) { run in
                let account = try await run.service.account(run.ada.accessToken)
                let linked = account.json["identities"]?.array?.first?.members?["identity_id"]
                return try await run.send(linked?.string ?? "", for: ExampleValue.identity)
            },
            Attempt { run in
                let others = [TestIdentityProvider("other")]
                run.service = try run.service.restarted(providers: others)
                return try await run.send()
            },
        ],
        "403 ACCOUNT_DISABLED": [
            Attempt { run in
                for recording in run.service.ledger.recordings(of: .default) {
                    guard case .accountOpened(let fact) = recording.recorded.event else { continue }
                    _ = try await run.service.send(
                        "POST", "/v1/accounts/\(fact.account)/disable", "{\"case\":\"T-1\"}",
                        token: try run.service.audit.key(.support),
                        headers: [("Ledger-Reason", "case 1")])
                }
                return try await run.send()
            },
            Attempt { run in
                _ = try await run.support(
                    "/v1/accounts/\(run.ada.userID)/disable", "{\"case\":\"T-1\"}")
                return try await run.send()
            },
            Attempt { run in
                _ = try await run.support(
                    "/v1/accounts/\(run.ada.userID)/disable", "{\"case\":\"T-1\"}")
                run.prove("google", "ada")
                return try await run.send()
            },
        ],
        "409 ACCOUNT_MERGED": [
            Attempt(isPrepared: false) { run in
                try await run.merge(run.ada, into: run.bob)
                return try await run.send()
            }
        ],
        "409 LEGAL_HOLD": [Attempt { try await $0.sendAfterHolds(1) }],
        "409 MERGE_SUPERSEDED": [
            Attempt { run in
                let merge = run.values[ExampleValue.event] ?? ""
                _ = try await run.support("/v1/merges/\(merge)/undo", "{\"case\":\"T-1\"}")
                return try await run.send()
            }
        ],
        "409 MERGE_TOO_LARGE": [
            Attempt(options: {
                $0.severalPerProvider = true
                $0.linkAttemptsMax = EntryDetails.linksMax
            }) { run in
                for number in 1...EntryDetails.linksMax {
                    _ = try await run.service.link("google", subject: "\(number)", by: run.ada)
                }
                return try await run.send()
            }
        ],
        "409 RELINK_REFUSED": [
            Attempt(isPrepared: false) { run in
                let account = try await run.service.account(run.ada.accessToken)
                let linked = account.json["identities"]?.array?.first?.members?["identity_id"]
                return try await run.send(linked?.string ?? "", for: ExampleValue.identity)
            }
        ],
        "409 TOO_MANY_HOLDS": [Attempt { try await $0.sendAfterHolds(SetLegalHold.holdsMax) }],
        "410 ACCOUNT_ERASED": [
            Attempt(isPrepared: false) { run in
                _ = try await run.service.send(
                    "DELETE", "/v1/accounts/\(run.ada.userID)",
                    token: try run.service.audit.key(.admin),
                    headers: [("Ledger-Reason", "case 1")])
                return try await run.send()
            },
            Attempt { run in
                _ = try await run.service.send(
                    "DELETE", "/v1/accounts/\(run.ada.userID)",
                    token: try run.service.audit.key(.admin),
                    headers: [("Ledger-Reason", "case 1")])
                return try await run.send()
            },
        ],
        "500 LOG_DAMAGED": [
            Attempt { run in
                run.service.ledger.fail(with: .internalFailure)
                run.service.audit.proofs.fail(with: .internalFailure)
                return try await run.send(headers: [("Last-Event-ID", "1")])
            }
        ],
        "503 TENANT_MOVED": [
            Attempt { run in
                run.service.ledger.fail(with: .tenantMoved)
                return try await run.send()
            }
        ],
        "503 RULES_DIFFER": [
            Attempt(options: { $0.confirmLater = true }) { run in
                run.service.ledger.fail(with: .rulesDiffer)
                return try await run.send()
            }
        ],
    ]
}

extension ExampleRun {
    /// Sends a credential of the provider `password`, for the plan if the example has one.
    fileprivate func sendPassword(_ members: String) async throws -> Answer {
        let plan = values[ExampleValue.planDigest] ?? "x"
        return try await send(
            body: "{\"provider\":\"password\",\"plan_digest\":\"\(plan)\",\(members)}",
            target: target.replacing("/google", with: "/password"))
    }

    fileprivate func sendWithoutToken() async throws -> Answer {
        try await service.send(operation.method, target, body, headers: headers)
    }

    /// Sends the example with a value in place of one of the document, and without an idempotency key.
    mutating func send(_ value: String, for example: String) async throws -> Answer {
        values[example] = value
        return try await send(headers: headers.filter { $0.name != "Idempotency-Key" })
    }

    fileprivate func sendAfterHolds(_ count: Int) async throws -> Answer {
        for _ in 0..<count { _ = try await support("/v1/accounts/\(ada.userID)/holds", nil) }
        return try await send()
    }

    /// Proves an identity, for the plan if the example has one.
    mutating func prove(_ provider: String, _ subject: String) {
        let nonce = values[ExampleValue.planDigest].map { ["nonce": "\"\($0)\""] } ?? [:]
        values[ExampleValue.idToken] = service.idToken(provider, subject, claims: nonce)
    }
}
