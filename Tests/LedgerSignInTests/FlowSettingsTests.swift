import Cryptography
import Encodings
import HTTP
import JSON
import Ledger
import LedgerTestSupport
import Testing

@testable import LedgerSignIn

/// The settings of browser flows in the providers file.
struct FlowSettingsTests {
    static func parse(_ provider: String, _ rest: String = "") throws -> TenantConfiguration {
        let text = "{\"providers\":[{\"name\":\"p\",\(provider)}]\(rest)}"
        return try #require(
            try ProvidersFile.parse(Array(text.utf8), policy: TenantPolicy(providers: []))[.default]
        )
    }

    private static func fault(_ provider: String, _ rest: String = "") -> String? {
        do {
            _ = try parse(provider, rest)
            return nil
        } catch {
            return "\(error)"
        }
    }

    private static let unnamed = #""type":"anonymous""#
    private static let oidcMembers =
        #""type":"oidc","issuer":"https://a.example","jwks_uri":"https://a.example/k","audiences":["c"]"#
    private static let addresses =
        #""authorization_url":"https://a.example/a","token_url":"https://a.example/t""#

    @Test func `a flow that can't work is refused with its location`() {
        let flow = { (members: String) in Self.oidcMembers + ",\"flow\":{\(members)}" }
        let client = #""client_id":"c","client_secret":"s""#
        let complete = Self.fault(flow("\(client),\(Self.addresses)"))
        #expect(complete == nil)
        for (members, line) in [
            (Self.addresses, "flow.client_id is missing"),
            ("\(client)", "flow.authorization_url is missing"),
            (
                "\(client),\"authorization_url\":\"http://a.example\",\"token_url\":\"https://a.example\"",
                "flow.authorization_url must use https, except on the loopback interface"
            ),
            (
                "\"client_id\":\"d\",\"client_secret\":\"s\",\(Self.addresses)",
                "flow must have a client_id that is one of the audiences"
            ),
            ("\(client),\(Self.addresses),\"scopes\":\"x\"", "flow.scopes is an unknown member"),
            ("\(client),\(Self.addresses),\"form_post\":1", "flow.form_post must be true or false"),
            (
                "\"client_id\":\"c\",\(Self.addresses),\"apple_key\":{\"team_id\":\"T\",\"key_id\":\"K\",\"private_key\":\"AAAA\"}",
                "flow.apple_key.private_key must be the base64 text of a PKCS #8 key on the curve P-256"
            ),
        ] {
            #expect(Self.fault(flow(members)) == "providers[0].\(line)", "\(members)")
        }
        let plain = Self.fault(
            Self.oidcMembers
                + ",\"nonce\":\"none\",\"flow\":{\(client),\(Self.addresses),\"pkce\":false}")
        #expect(
            plain == "providers[0].flow without PKCE needs a nonce mode other than \"none\"")
        let x = #""type":"oauth2","preset":"x","client_id":"c","client_secret":"s""#
        #expect(Self.fault(x)?.hasPrefix("providers[0].flow is missing") == true)
        let usual = Self.fault(x + #","flow":{}"#)
        #expect(usual == nil)
        #expect(
            Self.fault(x + #","flow":{"client_id":"c"}"#)
                == "providers[0].flow.client_id is an unknown member")
    }

    @Test func `addresses to return to are https, of this machine, or of a named app`() throws {
        for (list, line) in [
            (
                #"["http://app.example/cb"]"#,
                "return_to[0] must use https, except on the loopback interface"
            ),
            (#"["https://app.example/cb#x"]"#, "return_to[0] must be a URL without a fragment"),
            (#"["https://u@app.example/cb"]"#, "return_to[0] must be a URL without a fragment"),
            (#"["app:/cb"]"#, "return_to[0] must have a scheme with a dot"),
            (#"["com.example.app:/cb"]"#, "app_name is missing, and return_to has an app's scheme"),
            (#"["https:///cb"]"#, "return_to[0] must have a host"),
            ("[]", "return_to must not be empty"),
        ] {
            #expect(Self.fault(Self.unnamed, ",\"return_to\":\(list)") == line, "\(list)")
        }
        #expect(Self.fault(Self.unnamed, #","app_name":"A""#) == "app_name needs return_to")
        let addresses = try Self.parse(
            Self.unnamed,
            #","app_name":"Example","return_to":["https://app.example/cb?a=1","http://127.0.0.1/cb","com.example.app:/cb"]"#
        ).returnAddresses
        for (address, isPermitted) in [
            ("https://app.example/cb?a=1", true), ("https://app.example/cb", false),
            ("https://app.example:443/cb?a=1", false), ("http://127.0.0.1/cb", true),
            ("http://127.0.0.1:1/cb", true), ("http://127.0.0.1:65535/cb", true),
            ("http://127.0.0.1:65536/cb", false), ("http://127.0.0.1:0/cb", false),
            ("http://localhost:1/cb", false), ("com.example.app:/cb", true),
            ("com.example.app:/cb2", false), ("com.example.\u{212A}app:/cb", false),
        ] {
            #expect(addresses.permit(address) == isPermitted, "\(address)")
        }
        #expect(addresses.appToAskAbout(for: "com.example.app:/cb") == "Example")
        #expect(addresses.appToAskAbout(for: "http://127.0.0.1/cb") == nil)
    }

    /// Returns a key on P-256 in PKCS #8 (RFC 5915 in RFC 5208), as base64 text.
    private static func pkcs8(_ key: TokenSigningKey) throws -> String {
        let members = try #require(JSONValue(parsing: key.exported())?.members)
        func number(_ name: String) throws -> [UInt8] {
            try #require(members[name]?.string.flatMap { Base64URL.decode($0) })
        }
        let head = try #require(
            Hex.decode("308187020100301306072a8648ce3d020106082a8648ce3d030107046d306b0201010420"))
        let middle = try #require(Hex.decode("a14403420004"))
        return Base64.encode(
            head + (try number("d")) + middle + (try number("x")) + (try number("y")))
    }

    @Test func `Apple's client secret is a token of the team's key`() async throws {
        let now = Timestamp(seconds: 1_790_000_000)
        let key = TokenSigningKey.generate()
        let text = try Self.pkcs8(key)
        try await ScriptedProvider.with({ _ in (200, "{}") }) { endpoint in
            let configured = try Self.parse(
                Self.oidcMembers + """
                    ,"flow":{"client_id":"c","authorization_url":"https://a.example/a",
                    "token_url":"\(endpoint.url)/t","form_post":true,
                    "apple_key":{"team_id":"TEAM","key_id":"KEY","private_key":"\(text)"}}
                    """)
            let settings = try #require(configured.providers[provider("p")]?.settings.flow)
            #expect(
                settings.authorizationAddress(
                    callback: "https://ledger.example/callback", state: "s", verifier: "v",
                    nonce: nil
                ).hasSuffix("&response_mode=form_post"))
            _ = try await settings.exchange(
                "c", callback: "https://ledger.example/callback", verifier: "v", at: now)
            let body = try #require(endpoint.requests.first?.body)
            let fields = try #require(FormEncoding.fields(of: body))
            let secret = try #require(fields.first { $0.name == "client_secret" }?.value)
            let parts = secret.split(separator: ".").compactMap { Base64URL.decode($0) }
            #expect(String(decoding: parts[0], as: UTF8.self) == #"{"alg":"ES256","kid":"KEY"}"#)
            let expected =
                #"{"iss":"TEAM","iat":\#(now.seconds),"exp":\#(now.seconds + 300),"#
                + #""aud":"https://appleid.apple.com","sub":"c"}"#
            #expect(String(decoding: parts[1], as: UTF8.self) == expected)
            #expect(
                CompactJWS.verify(secret, with: key.verificationKey, allowing: [.es256]) != nil)
        }
        for bytes in [[UInt8](), Array(repeating: 0, count: 100)] {
            #expect(TokenSigningKey(pkcs8: bytes) == nil)
        }
        let longer = try #require(Base64.decode(text)) + [0]
        #expect(TokenSigningKey(pkcs8: longer) == nil, "nothing may follow")
    }
}
