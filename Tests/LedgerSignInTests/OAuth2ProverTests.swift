import Cryptography
import Encodings
import HTTP
import Ledger
import LedgerTestSupport
import Testing

@testable import LedgerSignIn

/// The proofs of access tokens, for each provider and purpose.
struct OAuth2ProverTests {
    private static let now = Timestamp(seconds: 1_790_000_000)
    private static let token = "EAAB.token-1"

    private func prove(
        _ settings: OAuth2Settings, _ token: String = Self.token, for purpose: ProofPurpose = .link
    ) async throws(Credential.Flaw) -> Proof {
        try await ProviderConfiguration(name: provider("p"), settings: .oauth2(settings))
            .prove(
                .oauth2(OAuth2Body(accessToken: token)), in: .default, for: purpose, at: Self.now)
    }

    /// No limit of time, since a busy machine answers late.
    private func api(_ base: String, calls: Int = 64) -> ProviderAPI {
        ProviderAPI(base: base, limits: ProviderAPI.Limits(calls: calls, time: .seconds(600)))
    }

    private func facebook(at base: String) -> OAuth2Settings {
        OAuth2Settings(
            issuer: "x",
            inspector: FacebookInspector(api: api(base), client: "1384", secret: "s3cret"))
    }

    private func github(at base: String) -> OAuth2Settings {
        OAuth2Settings(
            issuer: "x",
            inspector: GitHubInspector(api: api(base), client: "Iv1.a", secret: "s3cret"))
    }

    private func introspected(
        at base: String, audience: String? = nil, scope: String? = nil, calls: Int = 64
    ) -> OAuth2Settings {
        OAuth2Settings(
            issuer: "https://a.example",
            inspector: IntrospectionInspector(
                api: api("\(base)/introspect", calls: calls), client: "a:b", secret: "s3cret",
                issuer: "https://a.example", audience: audience, scope: scope))
    }

    /// The answer of `debug_token`, with some members replaced.
    private static func debug(_ changes: [String: String] = [:]) -> String {
        let members = [
            "app_id": "\"1384\"", "type": "\"USER\"", "is_valid": "true",
            "issued_at": "1789999000", "expires_at": "1790000001", "user_id": "\"77\"",
        ].merging(changes) { $1 }
        return "{\"data\":{\(members.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ","))}}"
    }

    // MARK: Facebook

    @Test func `Facebook's token proves the person for whom it was made, for this app`()
        async throws
    {
        let answers = [
            "/debug_token": Self.debug(), "/me": #"{"id":"77","email":"a@example.org"}"#,
        ]
        try await ScriptedProvider.with({ (200, answers[$0.path] ?? "") }) { provider in
            let proof = try await prove(facebook(at: provider.url))
            #expect(
                proof
                    == Proof(
                        subject("p", "77"), authenticatedAt: Timestamp(seconds: 1_789_999_000),
                        methods: .federated, email: Email("a@example.org", isVerified: false)))
            let requests = provider.requests
            #expect(requests.map(\.path) == ["/debug_token", "/me"])
            #expect(requests.first?.query.map(\.value) == [Self.token])
            #expect(requests.first?.headers["Authorization"] == "Bearer 1384|s3cret")
            #expect(requests.last?.headers["Authorization"] == "Bearer \(Self.token)")
            let code = HMACSHA256.mac(key: Array("s3cret".utf8), Array(Self.token.utf8))
            #expect(
                requests.last?.query.first { $0.name == "appsecret_proof" }?.value
                    == Hex.encode(code))
        }
    }

    @Test(arguments: [
        ["app_id": "\"9\""], ["app_id": "null"], ["is_valid": "false"], ["is_valid": "null"],
        ["is_valid": "\"true\""], ["type": "\"PAGE\""], ["expires_at": "1790000000"],
        ["expires_at": "\"never\""], ["issued_at": "1790000061"], ["issued_at": "\"x\""],
        ["user_id": "\"78\""], ["user_id": "null"],
    ])
    func `a token of another app, kind or person, or after its end, proves nothing`(
        changes: [String: String]
    ) async throws {
        try await ScriptedProvider.with({ request in
            (200, request.path == "/me" ? #"{"id":"77"}"# : Self.debug(changes))
        }) { provider in
            await #expect(throws: Credential.Flaw.invalid) {
                try await prove(facebook(at: provider.url))
            }
        }
    }

    @Test func `numbers are identifiers, and a token may have no end and no time of issue`()
        async throws
    {
        let debug = Self.debug([
            "app_id": "1384", "user_id": "77", "expires_at": "0", "issued_at": "null",
        ])
        try await ScriptedProvider.with({ (200, $0.path == "/me" ? #"{"id":77}"# : debug) }) {
            let proof = try await prove(facebook(at: $0.url))
            #expect(proof.subject == subject("p", "77"))
            // The person may have authenticated at any time.
            #expect(proof.authenticatedAt == Timestamp(seconds: 0))
            #expect(proof.email == nil)
        }
    }

    @Test(arguments: [
        (400, "{}", Credential.Flaw.unavailable), (500, "{}", .unavailable),
        (302, "{}", .unavailable), (200, "not JSON", .unavailable), (200, "{}", .unavailable),
    ])
    func `without an answer about the token nothing is known`(
        status: Int, body: String, flaw: Credential.Flaw
    ) async throws {
        try await ScriptedProvider.with({ _ in (status, body) }) { provider in
            await #expect(throws: flaw) { try await prove(facebook(at: provider.url)) }
        }
    }

    @Test(arguments: [
        ("{}", Credential.Flaw.invalid), (#"{"error":{"code":190}}"#, .invalid),
        // The person or the app calls too often, or Facebook fails.
        (#"{"error":{"code":17}}"#, .unavailable), (#"{"error":{"code":4}}"#, .unavailable),
        (#"{"error":{"code":2}}"#, .unavailable),
        (#"{"error":{"code":190,"is_transient":true}}"#, .unavailable),
    ])
    func `a profile that Facebook refuses proves nothing, unless it is for a while`(
        body: String, flaw: Credential.Flaw
    ) async throws {
        try await ScriptedProvider.with({ $0.path == "/me" ? (400, body) : (200, Self.debug()) }) {
            provider in
            await #expect(throws: flaw) { try await prove(facebook(at: provider.url)) }
        }
    }

    @Test(arguments: ["", "a b", "a\u{e9}", "a\nb", "=", "a=b", "a\"b", "a%20"])
    func `a malformed token is not sent to the provider`(token: String) async throws {
        try await ScriptedProvider.with({ _ in (200, "{}") }) { provider in
            await #expect(throws: Credential.Flaw.invalid) {
                try await prove(facebook(at: provider.url), token)
            }
            #expect(provider.requests.isEmpty)
        }
    }

    // MARK: GitHub

    /// The answer of GitHub's check, with some members replaced.
    private static func checked(_ changes: [String: String] = [:]) -> String {
        let members = [
            "app": #"{"client_id":"Iv1.a"}"#, "user": #"{"id":583231,"login":"ada"}"#,
            "scopes": #"["repo"]"#, "created_at": "\"2026-09-21T13:30:00Z\"",
            "expires_at": "null",
        ].merging(changes) { $1 }
        return "{\(members.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ","))}"
    }

    @Test func `GitHub's token proves the person for whom it was made, for this app`()
        async throws
    {
        try await ScriptedProvider.with({ _ in (200, Self.checked()) }) { provider in
            let proof = try await prove(github(at: provider.url))
            #expect(
                proof
                    == Proof(
                        subject("p", "583231"), authenticatedAt: Timestamp(seconds: 1_789_997_400),
                        methods: .federated, email: nil))
            let request = try #require(provider.requests.first)
            #expect(provider.requests.count == 1, "no scope shows the address")
            #expect(request.method == "POST" && request.path == "/applications/Iv1.a/token")
            #expect(
                request.headers["Authorization"]
                    == "Basic \(Base64.encode(Array("Iv1.a:s3cret".utf8)))")
            #expect(String(decoding: request.body, as: UTF8.self).contains(Self.token))
        }
    }

    @Test func `GitHub's primary address is verified if GitHub says so`() async throws {
        for (flag, isVerified) in [("true", true), ("false", false), ("null", false)] {
            let emails = """
                [{"email":"b@example.org","primary":false,"verified":true},
                 {"email":"a@example.org","primary":true,"verified":\(flag)}]
                """
            let check = Self.checked(["scopes": #"["user:email"]"#])
            try await ScriptedProvider.with({ (200, $0.path == "/user/emails" ? emails : check) }) {
                let proof = try await prove(github(at: $0.url))
                #expect(proof.email == Email("a@example.org", isVerified: isVerified))
            }
        }
    }

    @Test(arguments: [403, 404, 500])
    func `an address that GitHub does not show stops no sign-in`(status: Int) async throws {
        let check = Self.checked(["scopes": #"["user:email"]"#])
        try await ScriptedProvider.with({
            $0.path == "/user/emails" ? (status, "{}") : (200, check)
        }) {
            let proof = try await prove(github(at: $0.url))
            #expect(proof.email == nil)
        }
    }

    @Test(arguments: [
        (404, "{}", Credential.Flaw.invalid), (422, "{}", .invalid), (401, "{}", .unavailable),
        (403, "{}", .unavailable), (429, "{}", .unavailable),
        (200, checked(["app": #"{"client_id":"other"}"#]), .invalid),
        (200, checked(["app": "null"]), .invalid), (200, checked(["user": "null"]), .invalid),
        (200, checked(["user": #"{"id":"x"}"#]), .invalid),
        (200, checked(["expires_at": "\"2026-09-21T14:13:20Z\""]), .invalid),
        (200, checked(["expires_at": "\"soon\""]), .invalid),
        (200, checked(["created_at": "1790000000"]), .invalid),
    ])
    func `GitHub's refusals and tokens of other apps prove nothing`(
        status: Int, body: String, flaw: Credential.Flaw
    ) async throws {
        try await ScriptedProvider.with({ _ in (status, body) }) { provider in
            await #expect(throws: flaw) { try await prove(github(at: provider.url)) }
        }
    }

    // MARK: Introspection

    @Test(arguments: [#"a\u0000@example.org"#, String(repeating: "a", count: 321), ""])
    func `an e-mail that an ID token could not state is dropped`(email: String) async throws {
        let answer = """
            {"active":true,"client_id":"a:b","sub":"ada","iat":1789999000,"exp":1790000001,
             "email":"\(email)"}
            """
        try await ScriptedProvider.with({ _ in (200, answer) }) { provider in
            let proof = try await prove(introspected(at: provider.url))
            #expect(proof.subject == subject("p", "ada") && proof.email == nil)
        }
    }

    @Test func `an introspected token proves the person for whom it was made, for this client`()
        async throws
    {
        let answer = """
            {"active":true,"client_id":"a:b","sub":"ada","iat":1789999000,"exp":1790000001,
             "email":"a@example.org","email_verified":true}
            """
        try await ScriptedProvider.with({ _ in (200, answer) }) { provider in
            let proof = try await prove(introspected(at: provider.url))
            #expect(
                proof
                    == Proof(
                        subject("p", "ada"), authenticatedAt: Timestamp(seconds: 1_789_999_000),
                        methods: .federated, email: Email("a@example.org", isVerified: true)))
            let request = try #require(provider.requests.first)
            #expect(request.method == "POST" && request.path == "/introspect")
            // RFC 6749, section 2.3.1: the colon of the id is not the one before the secret.
            #expect(
                request.headers["Authorization"]
                    == "Basic \(Base64.encode(Array("a%3Ab:s3cret".utf8)))")
            #expect(
                String(decoding: request.body, as: UTF8.self)
                    == "token=\(Self.token)&token_type_hint=access_token")
        }
    }

    @Test(arguments: [
        (#"{"active":false,"client_id":"a:b","sub":"ada"}"#, Credential.Flaw.invalid),
        (#"{"active":true,"client_id":"other","sub":"ada"}"#, .invalid),
        (#"{"active":true,"sub":"ada"}"#, .invalid),
        (#"{"active":true,"client_id":"a:b"}"#, .invalid),
        (#"{"active":true,"client_id":"a:b","sub":"ada","exp":1790000000}"#, .invalid),
        (#"{"active":true,"active":true,"client_id":"a:b","sub":"ada"}"#, .unavailable),
        (#"{"active":"true","client_id":"a:b","sub":"ada"}"#, .unavailable),
        (#"{}"#, .unavailable),
    ])
    func `an inactive token, or one of another client, proves nothing`(
        body: String, flaw: Credential.Flaw
    ) async throws {
        try await ScriptedProvider.with({ _ in (200, body) }) { provider in
            await #expect(throws: flaw) { try await prove(introspected(at: provider.url)) }
        }
    }

    @Test func `a required audience and scope are those of tokens for this purpose alone`()
        async throws
    {
        for (members, isTaken) in [
            (#""aud":"us","scope":"profile sign-in""#, true),
            (#""aud":["other","us"],"scope":"sign-in""#, true),
            (#""aud":"us","scope":"sign-in","iss":"https://a.example""#, true),
            (#""aud":"us","scope":"sign-in","iss":"https://b.example""#, false),
            (#""aud":"other","scope":"sign-in""#, false), (#""scope":"sign-in""#, false),
            (#""aud":"us","scope":"sign-in-not""#, false), (#""aud":"us""#, false),
        ] {
            let answer = #"{"active":true,"client_id":"a:b","sub":"ada",\#(members)}"#
            try await ScriptedProvider.with({ _ in (200, answer) }) { provider in
                let proof = try? await prove(
                    introspected(at: provider.url, audience: "us", scope: "sign-in"))
                #expect((proof != nil) == isTaken, "\(members)")
            }
        }
    }

    @Test func `the time of authentication is another one than that of issue`() async throws {
        let answer = """
            {"active":true,"client_id":"a:b","sub":"ada","iat":1789999000,"auth_time":1789990000}
            """
        try await ScriptedProvider.with({ _ in (200, answer) }) { provider in
            let proof = try await prove(introspected(at: provider.url))
            #expect(proof.authenticatedAt == Timestamp(seconds: 1_789_990_000))
        }
    }

    // MARK: All

    @Test func `a merge takes a token that was issued after its plan was shown`() async throws {
        let shown = Timestamp(seconds: 1_789_999_000)
        for (issuedAt, isTaken) in [
            ("1789999001", true), ("1789999000", false), ("1789998000", false), ("null", false),
        ] {
            let answer =
                #"{"active":true,"client_id":"a:b","sub":"ada","iat":\#(issuedAt)}"#
            try await ScriptedProvider.with({ _ in (200, answer) }) { provider in
                let proof = try? await prove(
                    introspected(at: provider.url), for: .merge(plan: "x", shownAt: shown))
                #expect((proof != nil) == isTaken, "\(issuedAt)")
            }
        }
    }

    @Test func `calls beyond the limit are refused while the others go on`() async throws {
        let barrier = Barrier()
        let answer = #"{"active":true,"client_id":"a:b","sub":"ada"}"#
        try await ScriptedProvider.with({ _ in
            await barrier.pass()
            return (200, answer)
        }) { provider in
            let settings = introspected(at: provider.url, calls: 3)
            try await withThrowingTaskGroup(of: Proof.self) { group in
                for _ in 0..<3 { group.addTask { try await prove(settings) } }
                try await eventually("all calls to arrive") {
                    provider.requests.count == 3 ? true : nil
                }
                await #expect(throws: Credential.Flaw.unavailable) { try await prove(settings) }
                barrier.open()
                for try await proof in group { #expect(proof.subject == subject("p", "ada")) }
            }
            #expect(try await prove(settings).subject == subject("p", "ada"))
        }
    }

    @Test func `another type's credential proves nothing`() async throws {
        let configuration = ProviderConfiguration(
            name: provider("p"), settings: .oauth2(facebook(at: "http://127.0.0.1:1")))
        await #expect(throws: Credential.Flaw.invalid) {
            try await configuration.prove(
                .oidc(OIDCBody(idToken: "x", nonce: nil)), in: .default, for: .link,
                at: Self.now)
        }
    }
}
