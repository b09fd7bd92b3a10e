import Cryptography
import Encodings
import HTTP
import JSON
import Ledger
import LedgerTestSupport
import OpenID
import Testing

@testable import LedgerSignIn

/// Browser flows: their times, nonces, uses and token endpoints.
struct FlowTests {
    private static let now = Timestamp(seconds: 1_790_000_000)
    private static let verifier = String(repeating: "v", count: 43)
    private static let callback = "https://ledger.example/v1/auth/flows/callback/google"
    private static let returnTo = "https://app.example/back"
    private static let google = TestIdentityProvider("google")

    private let flows = BrowserFlows(key: .generate())

    private func flow(_ use: BrowserFlow.Use = .signIn) -> BrowserFlow {
        BrowserFlow(
            use: use, provider: provider("google"), returnTo: Self.returnTo,
            challenge: FlowBody(code: "", verifier: Self.verifier).challenge)
    }

    private func caller(_ number: UInt128) -> Caller {
        Caller(account: AccountID(bits: number), session: SessionID(bits: number + 1))
    }

    /// The settings of an issuer whose token endpoint is at an address.
    private func oidc(
        at base: String, nonce: IDTokenPolicy.NonceMode = .raw
    ) -> ProviderSettings {
        .oidc(
            OIDCSettings(
                check: IDTokenPolicy(
                    issuers: [Self.google.issuer], audiences: [TestIdentityProvider.audience],
                    algorithms: [.rs256], nonce: nonce),
                keys: KeySetCache(
                    url: "keys",
                    fetch: { _ in
                        FetchedKeySet(body: try Self.google.keySet(), maxAgeSeconds: nil)
                    }),
                flow: FlowSettings(
                    authorizationURL: "https://google.example/authorize?x=1",
                    tokenURL: base + "/token", client: TestIdentityProvider.audience,
                    secret: "s3cret&", scope: "openid email"),
                secondFactorMethods: ["mfa"]))
    }

    private func pending(_ use: BrowserFlow.Use = .signIn) throws -> BrowserFlows.Pending {
        let token = flows.begin(flow(use), in: .default, at: Self.now)
        return try #require(flows.start(token, in: .default, at: Self.now))
    }

    private func end(
        _ pending: BrowserFlows.Pending, _ settings: ProviderSettings, code: String? = "c0de",
        error: String? = nil, issuer: String? = nil
    ) async -> String {
        await flows.end(
            pending,
            by: BrowserFlows.Answer(
                state: pending.state, code: code, error: error, issuer: issuer),
            settings, callback: Self.callback, in: .default, at: Self.now)
    }

    private func code(in address: String) throws -> String {
        let start = Self.returnTo + "?flow_code="
        try #require(address.hasPrefix(start), "\(address)")
        return String(address.dropFirst(start.count))
    }

    private func prove(
        _ code: String, for purpose: ProofPurpose = .signIn(.default, singleUse: nil),
        by caller: Caller? = nil, tenant: TenantID = .default, after seconds: Int64 = 0
    ) throws(Credential.Flaw) -> Proof {
        try flows.prove(
            FlowBody(code: code, verifier: Self.verifier), of: provider("google"), in: tenant,
            for: purpose, by: caller, at: Self.now.adding(seconds: seconds))
    }

    /// Returns the answer of a token endpoint for a nonce.
    private static func tokens(nonce: String?, claims: [String: String?] = [:]) -> String {
        let token = google.token(
            subject: "ada", nonce: nonce, email: "ada@example.com", changes: claims,
            at: now.seconds)
        return #"{"access_token":"a","id_token":"\#(token)"}"#
    }

    @Test(arguments: [IDTokenPolicy.NonceMode.raw, .sha256, .none])
    func `the code is exchanged with the verifier, and the ID token has the flow's nonce`(
        mode: IDTokenPolicy.NonceMode
    ) async throws {
        let pending = try pending()
        let settings = oidc(at: "https://google.example", nonce: mode)
        let address = try #require(
            flows.address(for: pending, settings, callback: Self.callback))
        #expect(address.hasPrefix("https://google.example/authorize?x=1&response_type=code&"))
        let query = address.drop { $0 != "?" }
        let request = try #require(HTTPRequest(method: "GET", target: "/" + query))
        let sent = Dictionary(request.query.map { ($0.name, $0.value) }) { first, _ in first }
        #expect(sent["redirect_uri"] == Self.callback)
        #expect(sent["state"] == pending.state)
        #expect((sent["nonce"] == nil) == (mode == .none))
        try await ScriptedProvider.with({ _ in (200, Self.tokens(nonce: sent["nonce"])) }) {
            endpoint in
            let code = try code(in: await end(pending, oidc(at: endpoint.url, nonce: mode)))
            let proof = try prove(code)
            #expect(proof.subject == subject("google", "ada"))
            #expect(proof.email == Email("ada@example.com", isVerified: true))
            #expect(proof.usedUp != nil)
            let body = try #require(endpoint.requests.first?.body)
            let fields = try #require(FormEncoding.fields(of: body))
            let form = Dictionary(uniqueKeysWithValues: fields.map { ($0.name, $0.value) })
            #expect(form["grant_type"] == "authorization_code" && form["code"] == "c0de")
            #expect(form["client_secret"] == "s3cret&")
            #expect(form["redirect_uri"] == Self.callback)
            let challenge = FlowBody(code: "", verifier: form["code_verifier"] ?? "").challenge
            #expect(challenge == sent["code_challenge"])
        }
    }

    @Test func `the result of a flow keeps the second factor of the issuer, and its time`()
        async throws
    {
        let time = Self.now.adding(seconds: -700)
        let tokens = Self.tokens(
            nonce: nil, claims: ["amr": #"["mfa"]"#, "auth_time": "\(time.seconds)"])
        try await ScriptedProvider.with({ _ in (200, tokens) }) { endpoint in
            let settings = oidc(at: endpoint.url, nonce: .none)
            let proof = try prove(try code(in: await end(try pending(), settings)))
            #expect(proof.methods.description == "fed fed_mfa mfa")
            #expect(proof.authenticatedAt == time)
        }
    }

    @Test func `a token of another flow, and the refusals of an endpoint, prove nothing`()
        async throws
    {
        for (answer, expected) in [
            ((200, Self.tokens(nonce: "other")), "access_denied"),
            ((200, Self.tokens(nonce: nil)), "access_denied"),
            ((200, #"{"error":"bad_verification_code"}"#), "access_denied"),
            ((200, #"{"access_token":"a"}"#), "access_denied"),
            ((400, #"{"error":"invalid_grant"}"#), "access_denied"),
            // The client's own secret is wrong or has expired.
            ((401, #"{"error":"invalid_client"}"#), "temporarily_unavailable"),
            ((400, #"{"error":"invalid_client"}"#), "temporarily_unavailable"),
            ((400, #"{"error":{"code":100}}"#), "access_denied"), ((400, ""), "access_denied"),
            // Facebook's words for a wrong secret, and for calls beyond its limit.
            ((400, #"{"error":{"code":1}}"#), "temporarily_unavailable"),
            ((400, #"{"error":{"code":4}}"#), "temporarily_unavailable"),
            ((200, #"{"error":"incorrect_client_credentials"}"#), "temporarily_unavailable"),
            ((503, ""), "temporarily_unavailable"), ((200, "<html>"), "temporarily_unavailable"),
        ] {
            try await ScriptedProvider.with({ _ in answer }) { endpoint in
                let address = await end(try pending(), oidc(at: endpoint.url))
                #expect(address == Self.returnTo + "?error=\(expected)", "\(answer)")
            }
        }
        let settings = oidc(at: "http://127.0.0.1:1")
        for (address, expected) in [
            (
                await end(try pending(), settings, code: nil, error: "access_denied"),
                "access_denied"
            ),
            (
                await end(try pending(), settings, code: nil, error: "user_cancelled_login"),
                "access_denied"
            ),
            (
                await end(try pending(), settings, code: nil, error: "server_error"),
                "temporarily_unavailable"
            ),
            (
                await end(try pending(), settings, code: nil, error: "invalid_scope"),
                "invalid_request"
            ),
            (await end(try pending(), settings, code: nil), "invalid_request"),
            (
                await end(try pending(), settings, issuer: "https://evil.example"),
                "invalid_request"
            ), (await end(try pending(), settings), "temporarily_unavailable"),
        ] {
            #expect(address == Self.returnTo + "?error=\(expected)")
        }
    }

    @Test func `each part of a flow has its time, its tenant and its browser`() async throws {
        let acme = tenant("acme")
        let begun = flows.begin(flow(), in: .default, at: Self.now)
        #expect(flows.start(begun, in: acme, at: Self.now) == nil)
        #expect(flows.start(begun, in: .default, at: Self.now.adding(seconds: 600)) == nil)
        #expect(flows.start(begun, in: .default, at: Self.now.adding(seconds: 599)) != nil)
        #expect(BrowserFlows(key: .generate()).start(begun, in: .default, at: Self.now) == nil)
        let one = try pending()
        let other = try pending()
        for (cookie, state, tenant, seconds, isFound) in [
            (one.cookie, one.state, TenantID.default, Int64(0), true),
            (one.cookie, one.state, .default, 599, true),
            (one.cookie, one.state, .default, 600, false), (one.cookie, one.state, acme, 0, false),
            (one.cookie, other.state, .default, 0, false), (one.cookie, "", .default, 0, false),
            (begun, FlowTests.state(of: begun), .default, 0, false),
        ] {
            let found = flows.pending(
                cookie, state: state, in: tenant, at: Self.now.adding(seconds: seconds))
            #expect((found != nil) == isFound)
        }
        let code = String(repeating: "c", count: BrowserFlows.Answer.partBytesMax)
        let answer = BrowserFlows.Answer(
            state: one.state, code: code, error: nil, issuer: "https://login.example")
        let form = flows.keep(answer, in: .default, at: Self.now)
        #expect(flows.kept(form, in: .default, at: Self.now.adding(seconds: 59))?.code == code)
        #expect(flows.kept(form, in: .default, at: Self.now.adding(seconds: 60)) == nil)
        #expect(flows.kept(form, in: acme, at: Self.now) == nil)
    }

    private static func state(of cookie: String) -> String {
        Base64URL.encode(SHA256.hash(cookie))
    }

    @Test func `a result serves its use, for a minute`() async throws {
        let ada = caller(10)
        let other = caller(20)
        let link = ProofPurpose.link
        let signIn = ProofPurpose.signIn(.default, singleUse: nil)
        let merge = ProofPurpose.merge(plan: "p", shownAt: Self.now)
        let table: [(BrowserFlow.Use, [(ProofPurpose, Caller?, Bool)])] = [
            (
                .signIn,
                [
                    (signIn, nil, true), (link, ada, false), (.mergePreview, ada, false),
                    (merge, ada, false),
                ]
            ),
            (
                .link(ada),
                [
                    (signIn, nil, true), (link, ada, true), (link, other, false),
                    (link, nil, false), (.mergePreview, ada, true), (.mergePreview, other, false),
                    (merge, ada, false),
                ]
            ),
            (
                .refusedLink(ada),
                [
                    (signIn, nil, true), (link, ada, false), (.mergePreview, ada, true),
                    (.mergePreview, other, false), (merge, ada, false),
                ]
            ),
            (
                .merge(ada, plan: nil),
                [
                    (signIn, nil, false), (link, ada, false), (.mergePreview, ada, true),
                    (.mergePreview, other, false), (merge, ada, false),
                ]
            ),
            (
                .merge(ada, plan: "p"),
                [
                    (merge, ada, true), (merge, other, false), (.mergePreview, ada, false),
                    (.merge(plan: "q", shownAt: Self.now), ada, false), (signIn, nil, false),
                ]
            ),
        ]
        let proof = Proof(
            subject("google", "ada"), authenticatedAt: Self.now, methods: .federated, email: nil)
        for (use, rows) in table {
            let code = flows.code(flow(use), proof, in: .default, at: Self.now)
            for (purpose, caller, isProved) in rows {
                let found = try? prove(code, for: purpose, by: caller)
                #expect((found != nil) == isProved, "\(use) \(purpose)")
            }
        }
        let code = flows.code(flow(), proof, in: .default, at: Self.now)
        #expect(throws: Never.self) { try prove(code, after: 59) }
        #expect(throws: Credential.Flaw.invalid) { try prove(code, after: 60) }
        #expect(throws: Credential.Flaw.invalid) { try prove(code, tenant: tenant("acme")) }
        for verifier in [
            "v", String(repeating: "v", count: 44), String(repeating: "v", count: 129),
        ] {
            #expect(throws: Credential.Flaw.invalid) {
                try flows.prove(
                    FlowBody(code: code, verifier: verifier), of: provider("google"),
                    in: .default, for: signIn, by: nil, at: Self.now)
            }
        }
    }

    @Test
    func `X gets the client's secret in a header field, and LinkedIn's profile tells the person`()
        async throws
    {
        let answers = [
            "/t": #"{"access_token":"tok3n"}"#, "/2/users/me": #"{"data":{"id":"77"}}"#,
            "/v2/userinfo": #"{"sub":"l1","email":"a@example.org","email_verified":true}"#,
        ]
        for (preset, person, email) in [
            ("x", "77", nil), ("linkedin", "l1", Email("a@example.org", isVerified: true)),
        ] {
            try await ScriptedProvider.with({ (200, answers[$0.path] ?? "") }) { endpoint in
                let configured = try FlowSettingsTests.parse(
                    """
                    "type":"oauth2","preset":"\(preset)","client_id":"c","client_secret":"s&",
                    "api_url":"\(endpoint.url)",
                    "flow":{"authorization_url":"https://a.example","token_url":"\(endpoint.url)/t"}
                    """)
                let settings = try #require(configured.providers[provider("p")]).settings
                let address = await end(try pending(), settings)
                let code = try code(in: address)
                let proof = try prove(code)
                #expect(proof.subject.providerID == person)
                #expect(proof.email == email)
                // The provider states no time, but the person has just come from its page.
                #expect(proof.authenticatedAt == Self.now)
                let exchange = try #require(endpoint.requests.first)
                let pair = Base64.encode(Array("c:s%26".utf8))
                let inHeader = exchange.headers["Authorization"] == "Basic \(pair)"
                #expect(inHeader == (preset == "x"))
                let hasSecret = String(decoding: exchange.body, as: UTF8.self)
                    .contains("client_secret=s%26")
                #expect(hasSecret == (preset == "linkedin"))
                // LinkedIn refuses the exchange of a client with a secret that has a verifier.
                let hasVerifier = String(decoding: exchange.body, as: UTF8.self)
                    .contains("code_verifier=")
                #expect(hasVerifier == (preset == "x"))
                #expect(endpoint.requests.last?.headers["Authorization"] == "Bearer tok3n")
                // A token of unknown origin could be another app's.
                await #expect(throws: Credential.Flaw.invalid) {
                    try await settings.prove(
                        .oauth2(OAuth2Body(accessToken: "tok3n")), of: provider("p"),
                        in: .default, for: .link, by: nil, at: Self.now)
                }
            }
        }
    }
}
