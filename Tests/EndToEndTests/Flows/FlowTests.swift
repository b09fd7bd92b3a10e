import Cryptography
import Foundation
import LedgerTestSupport
import Testing

/// Browser flows against a real server in the development mode, whose identity provider plays the providers.
@Suite struct FlowTests {
    private static let returnTo = "http://127.0.0.1:3000/callback"
    static let verifier = String(repeating: "v", count: 43)
    private static let providers = ["google", "apple", "facebook", "github", "x", "linkedin"]

    /// An app and the server that it uses.
    private struct App: Sendable {
        let client: WireClient

        /// Begins a flow.
        func begin(
            _ provider: String, _ purpose: String = "sign_in", by session: String? = nil,
            plan: String? = nil, returnTo: String = FlowTests.returnTo, path: String = ""
        ) async throws -> WireClient.Answer {
            var body = [
                "provider": provider, "purpose": purpose, "return_to": returnTo,
                "code_challenge": FlowTests.challenge,
            ]
            body["plan_digest"] = plan
            return try await client.call("POST", "\(path)/v1/auth/flows", body, token: session)
        }

        /// Begins a flow, and returns the address for the browser.
        func address(
            _ provider: String, _ purpose: String = "sign_in", by session: String? = nil,
            plan: String? = nil
        ) async throws -> String {
            let begun = try await begin(provider, purpose, by: session, plan: plan)
            return try #require(begun.text("authorize_url"), "\(begun)")
        }

        /// Passes a flow in a browser of its own, and returns the code.
        func code(
            _ provider: String, as name: String, _ purpose: String = "sign_in",
            by session: String? = nil, plan: String? = nil
        ) async throws -> String {
            var browser = FlowBrowser(client: client)
            let address = try await address(provider, purpose, by: session, plan: plan)
            return try FlowTests.code(
                in: try await browser.pass(address, at: provider, as: name))
        }

        func signIn(
            _ provider: String, _ code: String, verifier: String = FlowTests.verifier,
            path: String = ""
        ) async throws -> WireClient.Answer {
            try await client.call(
                "POST", "\(path)/v1/auth/sign-in/\(provider)",
                ["flow_code": code, "code_verifier": verifier])
        }

        /// Opens a session by a flow, and returns its access token and the account.
        func session(_ provider: String, as name: String) async throws -> (String, String) {
            let answer = try await signIn(provider, code(provider, as: name))
            return (
                try #require(answer.text("access_token"), "\(answer)"),
                try #require(answer.text("user_id"))
            )
        }

        func post(
            _ path: String, _ code: String, by session: String, _ more: [String: String] = [:]
        ) async throws -> WireClient.Answer {
            try await client.call(
                "POST", path,
                ["flow_code": code, "code_verifier": FlowTests.verifier].merging(more) { $1 },
                token: session)
        }
    }

    static let challenge = Data(SHA256.hash(verifier)).base64EncodedString()
        .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")

    private static func code(in address: String) throws -> String {
        let found = address.firstMatch(of: /^http:\/\/127\.0\.0\.1:3000\/callback\?flow_code=(.*)$/)
        return String(try #require(found?.1, "\(address)"))
    }

    private func withApp(
        settings: [String: String] = [:],
        _ body: (App, Deployment, ServerProcess) async throws -> Void
    ) async throws {
        let development = ["LEDGER_MODE": "development", "LEDGER_PROVIDERS": ""]
        try await Deployment.with(settings: development.merging(settings) { $1 }) { deployment in
            let server = try await deployment.serve()
            try await body(App(client: server.client), deployment, server)
        }
    }

    @Test func `every provider signs in by its page, and is linked`() async throws {
        try await withApp { app, deployment, _ in
            let (session, account) = try await app.session("google", as: "ada")
            for provider in Self.providers.dropFirst() {
                let linked = try await app.post(
                    "/v1/auth/link/\(provider)",
                    app.code(provider, as: "ada", "link", by: session), by: session)
                #expect(linked.status == 200, "\(provider) \(linked)")
            }
            for provider in Self.providers {
                #expect(try await app.session(provider, as: "ada").1 == account)
            }
            // The token of a client and the flow find the same person, where the token is accepted at all.
            for (provider, member, status) in [
                ("google", "id_token", 200), ("github", "access_token", 200),
                ("x", "access_token", 401), ("linkedin", "access_token", 401),
            ] {
                let token = try await app.client.call(
                    "GET", "/dev/idp/\(provider)/token?name=ada")
                let answer = try await app.client.call(
                    "POST", "/v1/auth/sign-in/\(provider)",
                    [member: try #require(token.text(member))])
                #expect(answer.status == status, "\(provider)")
                #expect(status != 200 || answer.text("user_id") == account)
            }
            #expect(try await deployment.tool.run(["verify"]).status == 0)
        }
    }

    @Test(arguments: ["google", "apple"])
    func `the page of an issuer states the methods of its sign-in`(provider: String) async throws {
        try await withApp { app, _, _ in
            var browser = FlowBrowser(client: app.client)
            let page = try await browser.open(app.address(provider))
            let address = try await browser.end(
                page, at: provider, ["name": "ada", "amr": "pwd mfa"])
            let session = try await app.signIn(provider, Self.code(in: address))
            let methods = session.accessTokenClaims["amr"] as? [any Sendable]
            #expect(
                methods?.compactMap { $0 as? String } == ["fed", "fed_mfa", "mfa"], "\(session)")
        }
    }

    @Test func `a result is used once, with the verifier, at its provider and for its use`()
        async throws
    {
        try await withApp { app, deployment, _ in
            _ = try await deployment.tool.run(["tenant", "create", "acme"])
            let (session, _) = try await app.session("google", as: "ada")
            let code = try await app.code("github", as: "carl")
            for (what, answer) in [
                ("verifier", try await app.signIn("github", code, verifier: Self.verifier + "x")),
                ("provider", try await app.signIn("google", code)),
                ("link", try await app.post("/v1/auth/link/github", code, by: session)),
                (
                    "merge",
                    try await app.post(
                        "/v1/account/merge/preview", code, by: session, ["provider": "github"])
                ), ("made up", try await app.signIn("github", String(code.dropLast(4)) + "AAAA")),
            ] {
                #expect(answer.status == 401, "\(what) \(answer)")
                #expect(answer.errorCode == "INVALID_PROVIDER_TOKEN", "\(what)")
            }
            #expect(try await app.signIn("github", code).status == 200)
            #expect(try await app.signIn("github", code).status == 401, "used again")
            let answers = try await withThrowingTaskGroup(of: Int.self) { group in
                let code = try await app.code("github", as: "dora")
                for _ in 0..<8 { group.addTask { try await app.signIn("github", code).status } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.count { $0 == 200 } == 1, "\(answers)")
        }
    }

    @Test func `a link that is refused signs in where the identity is, and merges`() async throws {
        try await withApp { app, _, _ in
            let (ada, account) = try await app.session("google", as: "ada")
            let (other, _) = try await app.session("facebook", as: "eve")
            _ = try await app.session("github", as: "ada")
            let code = try await app.code("github", as: "ada", "link", by: ada)
            #expect(
                try await app.post("/v1/auth/link/github", code, by: other).status == 401,
                "by another session")
            let refused = try await app.post("/v1/auth/link/github", code, by: ada)
            #expect(refused.errorCode == "PROVIDER_CONFLICT")
            // The same code shows the merge, and then signs in.
            let preview = try await app.post(
                "/v1/account/merge/preview", code, by: ada, ["provider": "github"])
            #expect(preview.status == 200, "\(preview)")
            #expect(try await app.signIn("github", code).status == 200)

            let begun = try await app.code("github", as: "ada", "merge", by: ada)
            let shown = try await app.post(
                "/v1/account/merge/preview", begun, by: ada, ["provider": "github"])
            let plan = try #require(shown.text("plan_digest"))
            // A proof that was made before the plan was shown agrees to nothing.
            let stale = try await app.post(
                "/v1/account/merge", begun, by: ada, ["provider": "github", "plan_digest": plan])
            #expect(stale.status == 401)
            let agreed = try await app.code("github", as: "ada", "merge", by: ada, plan: plan)
            let merged = try await app.post(
                "/v1/account/merge", agreed, by: ada, ["provider": "github", "plan_digest": plan])
            #expect(merged.status == 200, "\(merged)")
            #expect(try await app.session("github", as: "ada").1 == account)
        }
    }

    @Test func `a flow returns to listed addresses alone`() async throws {
        try await withApp { app, _, _ in
            for address in [
                "https://evil.example/callback", "http://127.0.0.1.evil.example/callback",
                "http://127.0.0.1:3000@evil.example/callback", "http://127.0.0.1:3000/callback/x",
                "http://127.0.0.1:/callback", "http://127.0.0.1:99999/callback",
                "http://127.0.0.1:3000/callback#x", "http://127.0.0.1:3000\\@evil.example/callback",
                "javascript:alert(1)", "//evil.example", "http://127.0.0.1/callback?x",
                "http://127.0.0.1:03000/callback", "http://127.0.0.1:\u{FF11}/callback",
            ] {
                let answer = try await app.begin("google", returnTo: address)
                #expect(answer.status == 400, "\(address)")
                #expect(answer.errorMessage?.contains("return_to") == true, "\(address)")
            }
            for address in ["http://localhost:5173/callback", "http://[::1]:8080/callback"] {
                #expect(try await app.begin("google", returnTo: address).status == 200)
            }
            for (body, status) in [
                (["purpose": "sign_in"], 400), (["purpose": "sell"], 400),
                (["code_challenge": "short"], 400), (["provider": "unknown"], 400),
                (["provider": "anonymous"], 400), (["purpose": "link"], 401),
                (["plan_digest": "x"], 400),
            ] {
                let usual = [
                    "provider": "google", "purpose": "sign_in", "return_to": Self.returnTo,
                    "code_challenge": Self.challenge,
                ]
                let changed =
                    body == ["purpose": "sign_in"] ? body : usual.merging(body) { $1 }
                let answer = try await app.client.call("POST", "/v1/auth/flows", changed)
                #expect(answer.status == status, "\(body) \(answer)")
            }
        }
    }

    @Test func `a callback belongs to the browser, the provider and the tenant of its flow`()
        async throws
    {
        try await withApp { app, deployment, _ in
            _ = try await deployment.tool.run(["tenant", "create", "acme"])
            var victim = FlowBrowser(client: app.client)
            var attacker = FlowBrowser(client: app.client)
            // The attacker's own answer of the provider, which the attacker's browser does not follow.
            let page = try await attacker.open(app.address("google"))
            let own = attacker.cookies
            let answered = try await attacker.send(
                "POST", "\(app.client.base)/dev/idp/google/authorize",
                FlowBrowser.fields(of: page).merging(["name": "mallory"]) { $1 })
            let callback = try #require(answered.header("Location"))
            #expect(callback.hasPrefix("\(app.client.base)/v1/auth/flows/callback/google?"))
            #expect(try await victim.send("GET", callback).status == 400, "without a cookie")
            _ = try await victim.send("GET", app.address("google"))
            #expect(try await victim.send("GET", callback).status == 400, "with another cookie")
            for (what, address) in [
                ("provider", callback.replacing("/callback/google", with: "/callback/apple")),
                ("tenant", callback.replacing("/v1/auth", with: "/t/acme/v1/auth")),
                ("state", callback.replacing("state=", with: "state=A")),
                ("no state", callback.replacing("state=", with: "states=")),
                ("two issuers", callback + "&iss=x"),
            ] {
                attacker.cookies = own
                #expect(try await attacker.send("GET", address).status == 400, "\(what)")
            }
            // RFC 9207: the answer of another issuer.
            attacker.cookies = own
            let mixed = callback.replacing(/&iss=.*/, with: "&iss=https%3A%2F%2Fevil.example")
            let refused = try await attacker.send("GET", mixed)
            #expect(
                refused.header("Location") == Self.returnTo + "?error=invalid_request")
            attacker.cookies = own
            let ended = try await attacker.send("GET", callback)
            #expect(ended.header("Location")?.contains("flow_code=") == true)
            #expect(ended.header("Referrer-Policy") == "no-referrer")
            #expect(ended.header("Cache-Control") == "no-store")
            #expect(attacker.cookies.isEmpty, "the cookie is deleted")
        }
    }

    @Test func `a person who cancels comes back with an error, and so does a made-up code`()
        async throws
    {
        try await withApp { app, _, _ in
            for provider in ["google", "apple", "x"] {
                var browser = FlowBrowser(client: app.client)
                let page = try await browser.open(app.address(provider))
                let back = try await browser.end(page, at: provider, ["deny": "1"])
                #expect(back == Self.returnTo + "?error=access_denied", "\(provider)")
            }
            // Codes of Microsoft for organisations have more than 2 KB.
            let long = String(repeating: "c", count: 4_096)
            for (provider, code) in [("github", "made-up"), ("github", long), ("apple", long)] {
                var browser = FlowBrowser(client: app.client)
                let page = try await browser.open(app.address(provider))
                let state = try #require(FlowBrowser.fields(of: page)["state"])
                let callback = "\(app.client.base)/v1/auth/flows/callback/\(provider)"
                let made =
                    provider == "apple"
                    ? try await browser.submit(page, to: callback, ["code": code])
                    : try await browser.open("\(callback)?state=\(state)&code=\(code)")
                #expect(made.header("Location") == Self.returnTo + "?error=access_denied")
            }
            var browser = FlowBrowser(client: app.client)
            #expect(try await browser.open("\(app.client.base)/v1/auth/flows/start").status == 400)
            #expect(
                try await browser.open("\(app.client.base)/v1/auth/flows/start?flow=x").status
                    == 400)
        }
    }

    @Test func `a network whose codes providers refuse calls no provider for an hour`() async throws
    {
        let settings = ["LEDGER_TRUSTED_PROXIES": "127.0.0.1"]
        try await withApp(settings: settings) { app, _, _ in
            func callback(from network: String) async throws -> String? {
                var browser = FlowBrowser(client: app.client)
                browser.headers["X-Forwarded-For"] = network
                let page = try await browser.open(app.address("github"))
                let state = try #require(FlowBrowser.fields(of: page)["state"])
                let path = "/v1/auth/flows/callback/github?state=\(state)&code=made-up"
                return try await browser.open(app.client.base + path).header("Location")
            }
            for _ in 0..<100 {
                let location = try await callback(from: "203.0.113.7")
                #expect(location == Self.returnTo + "?error=access_denied")
            }
            let unavailable = Self.returnTo + "?error=temporarily_unavailable"
            #expect(try await callback(from: "203.0.113.7") == unavailable)
            #expect(
                try await callback(from: "203.0.113.8") == Self.returnTo + "?error=access_denied")
        }
    }

    @Test func `a second factor follows a flow, which it uses up`() async throws {
        try await withApp { app, _, _ in
            let (session, account) = try await app.session("google", as: "ada")
            let begun = try await app.client.call(
                "POST", "/v1/account/factor-enrolments", ["type": "totp"], token: session)
            let secret = try #require(
                begun.text("secret").flatMap { AuthenticatorApp(base32: $0) })
            let code = secret.code(at: Int64(Date().timeIntervalSince1970))
            let enrolled = try await app.client.call(
                "POST", "/v1/account/factors",
                ["enrolment_token": try #require(begun.text("enrolment_token")), "code": code],
                token: session)
            let recovery = try #require(enrolled.texts("recovery_codes"), "\(enrolled)")
            let result = try await app.code("google", as: "ada")
            // The code signs in to nothing alone, and two first steps may begin with it.
            var steps: [(token: String, factor: String)] = []
            for _ in 0..<2 {
                let refused = try await app.signIn("google", result)
                #expect(refused.errorCode == "SECOND_FACTOR_REQUIRED")
                let error = refused.json["error"] as? [String: any Sendable]
                let details = error?["details"] as? [String: any Sendable]
                let factors = details?["factors"] as? [[String: any Sendable]] ?? []
                let codes = factors.first { $0["type"] as? String == "recovery_codes" }
                steps.append(
                    (
                        try #require(details?["sign_in_token"] as? String),
                        try #require(codes?["factor_id"] as? String)
                    ))
            }
            var answers: [WireClient.Answer] = []
            for (step, code) in zip(steps, recovery) {
                answers.append(
                    try await app.client.call(
                        "POST", "/v1/auth/second-factor",
                        [
                            "sign_in_token": step.token, "factor_id": step.factor, "code": code,
                        ]))
            }
            #expect(answers.map(\.status) == [200, 401], "\(answers)")
            #expect(answers.first?.text("user_id") == account)
            #expect(answers.last?.errorCode == "INVALID_PROVIDER_TOKEN")
        }
    }

    @Test func `no page keeps personal data or secrets in the log`() async throws {
        try await withApp { app, _, server in
            var browser = FlowBrowser(client: app.client)
            let address = try await app.address("apple")
            let back = try await browser.pass(address, at: "apple", as: "ada.lovelace")
            let code = try Self.code(in: back)
            #expect(try await app.signIn("apple", code).status == 200)
            for secret in ["lovelace", code, String(address.suffix(40)), "flow_code"] {
                #expect(!server.log.contains(secret), "\(secret)")
            }
        }
    }
}
