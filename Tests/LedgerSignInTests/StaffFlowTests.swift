import Cryptography
import Encodings
import HTTP
import Ledger
import LedgerTestSupport
import Synchronization
import Testing

@testable import LedgerSignIn

/// The sign-in of the staff at their identity provider.
struct StaffFlowTests {
    private static let now = StaffProvider.now
    private static let home = StaffFlows.Wanted(path: "events", tenant: .default, isFresh: false)
    private static let fresh = StaffFlows.Wanted(path: "", tenant: .default, isFresh: true)

    private func with(
        _ body: (StaffProvider, StaffFlows, ScriptedProvider) async throws -> Void
    ) async throws {
        let provider = StaffProvider()
        try await ScriptedProvider.with({ provider.answer($0) }) { endpoint in
            try await body(provider, provider.flows(at: endpoint.url), endpoint)
        }
    }

    /// Signs in, with the answer as the provider gives it or changed.
    private func signIn(
        _ provider: StaffProvider, _ flows: StaffFlows, _ wanted: StaffFlows.Wanted = home,
        state: String? = nil, issuer: String? = nil, error: String? = nil, after seconds: Int64 = 0
    ) async throws(StaffFlowFault) -> StaffFlows.Ended {
        let begun = try await flows.begin(wanted, callback: StaffProvider.callback, at: Self.now)
        let sent = provider.open(begun.address)
        return try await flows.end(
            begun.cookie,
            BrowserFlows.Answer(
                state: state ?? sent["state"] ?? "", code: "c0de", error: error, issuer: issuer),
            at: Self.now.adding(seconds: seconds))
    }

    @Test func `a person signs in with state, nonce and PKCE, and has the roles of the claim`()
        async throws
    {
        try await with { provider, flows, endpoint in
            let begun = try await flows.begin(
                Self.home, callback: StaffProvider.callback, at: Self.now)
            #expect(begun.address.hasPrefix("https://id.example/authorize?response_type=code&"))
            let sent = provider.open(begun.address)
            #expect(sent["code_challenge_method"] == "S256" && sent["max_age"] == nil)
            #expect(sent["scope"] == "openid profile email")
            #expect(flows.wanted(begun.cookie, at: Self.now) == Self.home)
            let ended = try await flows.end(
                begun.cookie,
                BrowserFlows.Answer(
                    state: try #require(sent["state"]), code: "c0de", error: nil, issuer: nil),
                at: Self.now)
            #expect(ended.person.name == "Sam Ample")
            #expect(ended.person.roles.roles(in: .default) == [.support])
            #expect(ended.authenticatedAt == Self.now.adding(seconds: -10))
            let id = ended.person.id
            #expect(id.bits >> 76 & 0xF == 8 && id.bits >> 62 & 0b11 == 0b10, "UUIDv8")
            #expect(id == StaffFlows.id(issuer: StaffProvider.issuer, subject: "sam-1"))
            #expect(id != StaffFlows.id(issuer: StaffProvider.issuer, subject: "sam-2"))
            #expect(id != StaffFlows.id(issuer: "https://id2.example", subject: "sam-1"))
            #expect("\(ended.person)" == "staff:\(id)", "neither name nor subject")
            let request = try #require(endpoint.requests.first { $0.path == "/token" })
            let fields = try #require(FormEncoding.fields(of: request.body))
            let form = Dictionary(uniqueKeysWithValues: fields.map { ($0.name, $0.value) })
            #expect(form["redirect_uri"] == StaffProvider.callback)
            #expect(
                FlowBody.challenge(of: form["code_verifier"] ?? "") == sent["code_challenge"])
            // The default of the metadata is the header field.
            #expect(form["client_secret"] == nil)
            #expect(
                request.headers["Authorization"]
                    == "Basic \(Base64.encode(Array("ledger:s3cret".utf8)))")
        }
    }

    @Test func `the secret is in the body where the provider takes it there`() async throws {
        try await with { provider, flows, endpoint in
            provider.change {
                $0.metadata["token_endpoint_auth_methods_supported"] =
                    #"["client_secret_basic","client_secret_post"]"#
            }
            _ = try await signIn(provider, flows)
            let request = try #require(endpoint.requests.first { $0.path == "/token" })
            #expect(request.headers["Authorization"] == nil)
            #expect(String(decoding: request.body, as: UTF8.self).contains("client_secret=s3cret"))
        }
    }

    @Test(arguments: [
        ("iss", "\"https://evil.example\""), ("aud", "\"another\""),
        ("aud", #"["ledger","another"]"#), ("exp", "\(now.seconds - 61)"), ("exp", nil),
        ("iat", "\(now.seconds + 120)"), ("sub", "\"\""), ("sub", nil),
    ]) func `a token for something else, or an expired one, is refused`(
        claim: String, value: String?
    ) async throws {
        try await with { provider, flows, _ in
            provider.change { $0.claims[claim] = value }
            await #expect(throws: StaffFlowFault.refused) { try await signIn(provider, flows) }
        }
    }

    @Test func `another nonce, signature, state, issuer or time is refused`() async throws {
        try await with { provider, flows, endpoint in
            await #expect(throws: StaffFlowFault.expired) {
                try await signIn(provider, flows, state: "x")
            }
            await #expect(throws: StaffFlowFault.expired) {
                try await signIn(provider, flows, after: StaffFlows.seconds)
            }
            await #expect(throws: StaffFlowFault.refused) {
                try await signIn(provider, flows, issuer: "https://evil.example")
            }
            await #expect(throws: StaffFlowFault.denied) {
                try await signIn(provider, flows, error: "access_denied")
            }
            #expect(endpoint.requests.isEmpty, "nothing was exchanged")
            provider.change { $0.nonce = "another" }
            await #expect(throws: StaffFlowFault.refused) { try await signIn(provider, flows) }
            provider.change {
                $0.nonce = nil
                $0.isSignedByOther = true
            }
            await #expect(throws: StaffFlowFault.refused) { try await signIn(provider, flows) }
            provider.change { $0.isSignedByOther = false }
            _ = try await signIn(provider, flows, issuer: StaffProvider.issuer)
        }
    }

    @Test func `an answer counts only in the browser that began the flow`() async throws {
        try await with { provider, flows, _ in
            let (own, other) = (
                try await flows.begin(Self.home, callback: StaffProvider.callback, at: Self.now),
                try await flows.begin(Self.home, callback: StaffProvider.callback, at: Self.now)
            )
            let state = try #require(provider.open(other.address)["state"])
            let answer = BrowserFlows.Answer(state: state, code: "c", error: nil, issuer: nil)
            await #expect(throws: StaffFlowFault.expired) {
                _ = try await flows.end(own.cookie, answer, at: Self.now)
            }
            await #expect(throws: StaffFlowFault.expired) {
                _ = try await flows.end("", answer, at: Self.now)
            }
            // A cookie of another ledger.
            await #expect(throws: StaffFlowFault.expired) {
                _ = try await StaffProvider().flows(at: "http://127.0.0.1:1").end(
                    other.cookie, answer, at: Self.now)
            }
        }
    }

    @Test func `a provider that names itself in answers has to do so each time`() async throws {
        try await with { provider, flows, _ in
            provider.change {
                $0.metadata["authorization_response_iss_parameter_supported"] = "true"
            }
            await #expect(throws: StaffFlowFault.refused) { try await signIn(provider, flows) }
            _ = try await signIn(provider, flows, issuer: StaffProvider.issuer)
        }
    }

    @Test func `a fresh sign-in needs a time of the sign-in, and a recent one`() async throws {
        try await with { provider, flows, _ in
            let begun = try await flows.begin(
                Self.fresh, callback: StaffProvider.callback, at: Self.now)
            #expect(provider.open(begun.address)["max_age"] == "0")
            for time in ["\(Self.now.seconds - 61)", nil] {
                provider.change { $0.claims["auth_time"] = time }
                await #expect(throws: StaffFlowFault.refused) {
                    try await signIn(provider, flows, Self.fresh)
                }
            }
            let unknown = try await signIn(provider, flows)
            #expect(unknown.authenticatedAt == nil)
            // A clock ahead does not make a sign-in recent for longer.
            provider.change { $0.claims["auth_time"] = "\(Self.now.seconds + 3_600)" }
            let ahead = try await signIn(provider, flows, Self.fresh)
            #expect(ahead.authenticatedAt == Self.now)
        }
    }

    @Test(arguments: [
        ("\"support\"", [Role.support]), (#"["admin","auditor"]"#, [.auditor, .admin]),
        ("[1,null]", []), ("null", []), ("{}", []), (#"["Support"]"#, []),
    ]) func `the claim is a text or a list of them`(claim: String, roles: [Role]) async throws {
        try await with { provider, flows, _ in
            provider.change { $0.claims["groups"] = claim }
            let ended = try await signIn(provider, flows)
            #expect(ended.person.roles.roles(in: .default) == roles)
        }
    }

    @Test(arguments: [
        (400, #"{"error":"invalid_grant"}"#, StaffFlowFault.refused),
        (401, #"{"error":"invalid_client"}"#, .unavailable), (500, "", .unavailable),
        (200, #"{"access_token":"x"}"#, .refused), (200, #"{"id_token":"x"}"#, .refused),
        (200, "nonsense", .unavailable),
    ]) func `a code that is not exchanged signs no one in`(
        status: Int, body: String, fault: StaffFlowFault
    ) async throws {
        try await with { provider, flows, _ in
            provider.change {
                $0.status = status
                $0.tokens = body
            }
            await #expect(throws: fault) { try await signIn(provider, flows) }
        }
    }

    @Test(arguments: [
        ("nonsense", "is not valid JSON"), ("[]", "is not valid JSON"),
        (#"{"issuer":"https://evil.example"}"#, "names another issuer"),
        (#"{"issuer":"https://id.example"}"#, "has no usable authorization_endpoint"),
        (
            #"{"issuer":"https://id.example","authorization_endpoint":"javascript:x"}"#,
            "has no usable authorization_endpoint"
        ),
        (
            #"{"issuer":"https://id.example","authorization_endpoint":"https://id.example/a","#
                + #""token_endpoint":"http://id.example/t"}"#, "has no usable token_endpoint"
        ),
    ]) func `metadata that cannot be used leads nowhere, and is fetched again after a pause`(
        document: String, reason: String
    ) async throws {
        try await with { provider, flows, _ in
            provider.change { $0.document = document }
            for _ in 0..<2 {
                await #expect(throws: StaffFlowFault.unavailable) {
                    try await signIn(provider, flows)
                }
            }
            #expect(provider.fetches.withLock(\.self) == 1)
            #expect(provider.faults.withLock(\.self).map { $0.hasSuffix(reason) } == [true])
            provider.change { $0.document = nil }
            provider.clock.withLock { $0 += StaffDiscovery.pauseSeconds }
            _ = try await signIn(provider, flows)
            // The known one stays while a later one cannot be used.
            provider.change { $0.document = document }
            provider.clock.withLock { $0 += StaffDiscovery.ageSecondsMax }
            _ = try await signIn(provider, flows)
            #expect(provider.fetches.withLock(\.self) == 3)
        }
    }
}

/// The metadata as it comes over the network.
struct StaffMetadataTests {
    /// Returns whether a sign-in begins with metadata that is answered so.
    private func begins(
        _ status: Int, _ pad: Int = 0, issuer suffix: String = ""
    ) async throws -> Bool {
        let provider = Mutex("")
        return try await ScriptedProvider.with({ request in
            guard request.path == "/.well-known/openid-configuration" else { return (404, "") }
            let base = provider.withLock(\.self)
            return (
                status,
                """
                {"issuer":"\(base)\(suffix)","authorization_endpoint":"\(base)/a",\
                "token_endpoint":"\(base)/t","jwks_uri":"\(base)/k",\
                "pad":"\(String(repeating: "x", count: pad))"}
                """
            )
        }) { endpoint in
            provider.withLock { $0 = endpoint.url }
            let settings = StaffSettings(
                issuer: endpoint.url + suffix, client: "ledger", secret: "s", rules: .development)
            let flows = StaffFlows(
                settings, discovery: StaffDiscovery(settings, onFault: { _ in }), key: .generate())
            let wanted = StaffFlows.Wanted(path: "", tenant: .default, isFresh: false)
            do throws(StaffFlowFault) {
                let begun = try await flows.begin(
                    wanted, callback: "c", at: Timestamp(seconds: 1_790_000_000))
                return begun.address.hasPrefix(endpoint.url + "/a?")
            } catch {
                #expect(error == .unavailable)
                return false
            }
        }
    }

    @Test func `metadata is fetched within limits, and no redirection is followed`() async throws {
        #expect(try await begins(200))
        #expect(try await begins(200, issuer: "/"))
        #expect(try await begins(200, 200_000))
        #expect(try await !begins(200, 300_000))
        for status in [204, 302, 404, 500] { #expect(try await !begins(status)) }
    }
}
