import JSON
import Ledger
import LedgerAPI
import LedgerTestSupport
import Passwords
import Testing

@testable import LedgerSignIn

/// The cookies of the server's own page: its session, and the token of its device.
@Suite(.overBothTransports) struct PageCookieTests {
    private static let credential =
        #"{"email":"ada@example.com","password":"correct horse battery staple"}"#

    /// A page in a browser, with its cookies.
    private struct Page {
        let service: TestService
        var cookies: [String: String] = [:]
        var token = ""
        /// Whether its sign-ins are beside its session.
        var isBeside = false

        init(_ service: TestService) async throws {
            self.service = service
            let answer = try await service.send("GET", "/account/session")
            keep(answer)
            token = try #require(answer.text("csrf_token"))
        }

        mutating func keep(_ answer: Answer) {
            for (name, value) in answer.headers where name == "Set-Cookie" {
                let pair = value.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1)
                guard pair.count == 2 else { continue }
                cookies[String(pair[0])] = String(pair[1])
                #expect(value.contains("HttpOnly") && value.contains("Secure"))
            }
        }

        mutating func post(_ path: String, _ body: String) async throws -> Answer {
            let answer = try await send("POST", path, body)
            keep(answer)
            return answer
        }

        func get(_ path: String) async throws -> Answer { try await send("GET", path) }

        func send(_ method: String, _ path: String, _ body: String? = nil) async throws -> Answer {
            var headers = [(name: "Cookie", value: cookie), (name: "Ledger-CSRF", value: token)]
            if isBeside { headers.append((name: "Ledger-Beside", value: "yes")) }
            return try await service.send(method, path, body, headers: headers)
        }

        /// Returns the page after it has been loaded again with its cookies.
        func again() async throws -> Page {
            var page = self
            let answer = try await service.send(
                "GET", "/account/session", headers: [("Cookie", cookie)])
            page.keep(answer)
            page.token = try #require(answer.text("csrf_token"))
            return page
        }

        private var cookie: String {
            cookies.map { "\($0.key)=\($0.value)" }.joined(separator: "; ")
        }
    }

    @Test func `a copied cookie ends with the sign-in that replaces its session`() async throws {
        let service = try TestService()
        var page = try await Page(service)
        func signIn(_ subject: String) async throws -> Answer {
            try await page.post(
                "/v1/auth/sign-in/google",
                "{\"id_token\":\"\(service.idToken("google", subject))\"}")
        }
        #expect(try await signIn("ada").status == 201)
        let copied = page
        page = try await copied.again()
        #expect(try await page.get("/v1/account").status == 200)
        #expect(try await signIn("ada").status == 201)
        page = try await page.again()
        #expect(try await page.get("/v1/account").status == 200)
        for _ in 0..<2 {
            let thief = try await copied.again()
            #expect(try await thief.get("/v1/account").code == "INVALID_ACCESS_TOKEN")
            #expect(
                try await thief.send("POST", "/account/sign-out", "{}").status == 200)
            // Nothing has ended, so the answer is no success.
            #expect(
                try await thief.send(
                    "POST", "/account/sign-out", #"{"everywhere":true}"#
                ).summary == "401 INVALID_ACCESS_TOKEN")
        }
        #expect(try await page.get("/v1/account").status == 200)
        #expect(
            try await service.send("GET", "/assets/account/index.html").status == 404)
    }

    @Test func `after a refused link the cookie has the proof for ten minutes`() async throws {
        let service = try TestService()
        _ = try await service.signIn("google", "ada")
        var page = try await Page(service)
        _ = try await page.post(
            "/v1/auth/sign-in/apple", "{\"id_token\":\"\(service.idToken("apple", "bob"))\"}")
        page = try await page.again()
        let (pages, now) = (service.services.pages, service.clock.now)
        let session = page.cookies["__Host-ledger-account"].flatMap {
            pages.session($0, in: .default, at: now)
        }
        let flow = pages.flow(at: provider("google"), for: "link")
        let code = service.services.flows.code(
            BrowserFlow(
                use: .link(try #require(session?.caller)), provider: flow.provider, returnTo: "",
                challenge: flow.challenge),
            Proof(
                subject("google", "ada"), authenticatedAt: now, methods: .federated, email: nil),
            in: .default, at: now)
        page.cookies["__Host-ledger-account-flow"] = pages.cookie(
            of: pages.ended(flow, code: code, error: nil), in: .default, at: now)
        let refused = try await page.post("/v1/auth/link/google", #"{"flow_code":"cookie"}"#)
        #expect(refused.summary == "409 PROVIDER_CONFLICT")
        #expect(refused.detail("proof_token") == nil, "scripts get no token")
        for (seconds, summary) in [
            (Int64(120), "200 OK"), (479, "200 OK"), (1, "401 INVALID_PROVIDER_TOKEN"),
        ] {
            service.clock.advance(seconds: seconds)
            let preview = try await page.post(
                "/v1/account/merge/preview", #"{"provider":"google","flow_code":"cookie"}"#)
            #expect(preview.summary == summary, "\(seconds) \(preview.body)")
        }
    }

    @Test func `a page signs in to the account to merge, beside its own session`() async throws {
        let scene = try await FactorMerge()
        let service = scene.service
        var page = try await Page(service)
        func signIn(_ provider: String, _ subject: String) async throws -> Answer {
            try await page.post(
                "/v1/auth/sign-in/\(provider)",
                "{\"id_token\":\"\(service.idToken(provider, subject))\"}")
        }
        // Without a session of the page, nothing is beside it.
        page.isBeside = true
        let first = try await signIn("apple", "bob")
        #expect(first.status == 201 && first.text("access_token") == nil, "\(first.body)")
        page = try await page.again()
        let cookie = page.cookies["__Host-ledger-account"]

        let refused = try await signIn("google", "ada")
        #expect(refused.summary == "403 SECOND_FACTOR_REQUIRED", "\(refused.body)")
        let step = try #require(refused.detail("sign_in_token")?.string)
        let opened = try await page.post(
            "/v1/auth/second-factor",
            """
            {"sign_in_token":"\(step)","factor_id":"\(scene.ada.factor)",\
            "code":"\(scene.code(scene.ada))"}
            """)
        #expect(opened.status == 201 && opened.text("refresh_token") == nil)
        let other = try #require(opened.text("access_token"))
        #expect(page.cookies["__Host-ledger-account"] == cookie)
        #expect(try await page.get("/v1/account").text("user_id") == scene.bob.userID)

        let proof = "\"other_access_token\":\"\(other)\""
        let plan = try await page.post("/v1/account/merge/preview", "{\(proof)}")
        #expect(plan.mergedFactors == ["\(scene.ada.factor) of absorbed"], "\(plan.body)")
        let digest = try #require(plan.text("plan_digest"))
        let merged = try await page.post(
            "/v1/account/merge", "{\(proof),\"plan_digest\":\"\(digest)\"}")
        #expect(merged.status == 200, "\(merged.body)")
        #expect(try await service.account(other).summary == "401 INVALID_ACCESS_TOKEN")
        // The first factor of the account has ended the page's session as well.
        #expect(try await page.get("/v1/account").code == "INVALID_ACCESS_TOKEN")
    }

    @Test func `a page shows the recent activity of its account`() async throws {
        let service = try TestService()
        var page = try await Page(service)
        let signedIn = try await page.post(
            "/v1/auth/sign-in/google", "{\"id_token\":\"\(service.idToken("google", "ada"))\"}")
        #expect(signedIn.status == 201)
        page = try await page.again()
        let shown = try await page.get("/v1/account/activity?limit=1")
        let row = shown.json["activity"]?.array?.first?.members
        #expect(row?["kind"]?.string == "signed_in" && row?["current_session"] == .bool(true))
        page.token = "x"
        #expect(try await page.get("/v1/account/activity").status == 403)
    }

    @Test func `no code is sent for a session that has ended`() async throws {
        let service = try TestService { $0.codes = [.email] }
        let ada = try await service.signIn("google", "ada")
        let address = #"{"address":"ada@example.com"}"#
        #expect(
            try await service.send(
                "POST", "/v1/account/codes/email", address, token: ada.accessToken
            ).status == 200)
        _ = try await service.send("POST", "/v1/auth/sign-out", "{}", token: ada.accessToken)
        #expect(
            try await service.send(
                "POST", "/v1/account/codes/email", address, token: ada.accessToken
            ).code == "INVALID_ACCESS_TOKEN")
        #expect(service.challenges.sent.count == 1)
    }

    @Test func `a browser that has signed in is a known device, also after the session`()
        async throws
    {
        let service = try TestService {
            $0.passwords = PasswordRule(lengthMin: 8, blocklist: .empty)
        }
        func device() throws -> SignedIn.Device? {
            guard case .signedIn(let fact)? = service.ledger.events().last else {
                throw ModelLedger.Unexpected(result: .failure(.accountNotFound))
            }
            return fact.device
        }
        var page = try await Page(service)
        let sent = try await page.post("/v1/auth/sign-up/password", Self.credential)
        let challenge = try #require(sent.text("challenge_id"))
        let code = try #require(service.challenges.sent.last).message.code
        let opened = try await page.post(
            "/v1/auth/sign-in/password",
            "{\"challenge_id\":\"\(challenge)\",\"code\":\"\(code)\"}")
        #expect(opened.status == 201 && opened.text("device_token") == nil)
        let known = try #require(page.cookies["__Host-ledger-device"])
        var other = try await Page(service)
        #expect(try await other.post("/v1/auth/sign-in/password", Self.credential).status == 201)
        #expect(try device() == .new)
        // Another session of the page, in the same browser.
        var again = try await Page(service)
        again.cookies["__Host-ledger-device"] = known
        #expect(try await again.post("/v1/auth/sign-in/password", Self.credential).status == 201)
        #expect(try device() == nil)
        // For another client than a page, the cookie says nothing.
        let app = try await service.send(
            "POST", "/v1/auth/sign-in/password", Self.credential,
            headers: [("Cookie", "__Host-ledger-device=\(known)")])
        #expect(app.status == 200)
        #expect(try device() == .new)
    }

    @Test func `a browser that has changed the password is a known device`() async throws {
        let service = try TestService {
            $0.passwords = PasswordRule(lengthMin: 8, blocklist: .empty)
        }
        var page = try await Page(service)
        let sent = try await page.post("/v1/auth/sign-up/password", Self.credential)
        let challenge = try #require(sent.text("challenge_id"))
        let code = try #require(service.challenges.sent.last).message.code
        _ = try await page.post(
            "/v1/auth/sign-in/password",
            "{\"challenge_id\":\"\(challenge)\",\"code\":\"\(code)\"}")
        let former = try #require(page.cookies["__Host-ledger-device"])
        service.clock.advance(seconds: 1)
        page = try await page.again()
        let changed = try await page.post(
            "/v1/account/password", #"{"password":"another battery"}"#)
        #expect(changed.status == 201 && changed.text("device_token") == nil, "\(changed.body)")
        let known = try #require(page.cookies["__Host-ledger-device"])
        #expect(known != former)
        let expected: [(cookie: String, device: SignedIn.Device?)] = [(known, nil), (former, .new)]
        for (cookie, device) in expected {
            var other = try await Page(service)
            other.cookies["__Host-ledger-device"] = cookie
            let answer = try await other.post(
                "/v1/auth/sign-in/password",
                #"{"email":"ada@example.com","password":"another battery"}"#)
            #expect(answer.status == 201, "\(answer.body)")
            guard case .signedIn(let fact)? = service.ledger.events().last else {
                Issue.record("no sign-in")
                return
            }
            #expect(fact.device == device)
        }
    }

    @Test func `a browser that has reset a password is a known device`() async throws {
        let service = try TestService {
            $0.passwords = PasswordRule(lengthMin: 8, blocklist: .empty)
        }
        var page = try await Page(service)
        func code(_ answer: Answer, _ rest: String = "") throws -> String {
            let challenge = try #require(answer.text("challenge_id"))
            let code = try #require(service.challenges.sent.last).message.code
            return "{\"challenge_id\":\"\(challenge)\",\"code\":\"\(code)\"\(rest)}"
        }
        let sent = try await page.post("/v1/auth/sign-up/password", Self.credential)
        _ = try await page.post("/v1/auth/sign-in/password", code(sent))
        var other = try await Page(service)
        let path = "/v1/auth/password-resets/password"
        let begun = try await other.post(path, "{\"email\":\"ada@example.com\"}")
        let completed = try await other.post(
            "\(path)/complete", code(begun, ",\"password\":\"another battery\""))
        #expect(completed.status == 200 && completed.text("device_token") == nil)
        #expect(other.cookies["__Host-ledger-device"] != nil)
    }
}
