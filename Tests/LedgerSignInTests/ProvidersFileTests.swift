import Cryptography
import Ledger
import LedgerSignIn
import OpenID
import Testing

struct ProvidersFileTests {
    private static let google =
        "\"name\":\"google\",\"type\":\"oidc\",\"issuer\":[\"https://accounts.google.com\","
        + "\"accounts.google.com\"],\"jwks_uri\":\"https://www.googleapis.com/oauth2/v3/certs\","
        + "\"audiences\":[\"CLIENT_ID\"]"

    private func parse(_ text: String) throws -> [TenantID: TenantConfiguration] {
        try ProvidersFile.parse(Array(text.utf8), policy: TenantPolicy(providers: []))
    }

    /// Returns the line that refuses a file.
    private func fault(_ text: String) -> String? {
        do {
            _ = try parse(text)
            return nil
        } catch let fault as ProvidersFileFault {
            return fault.description
        } catch {
            return "another error"
        }
    }

    @Test func `the short form is the tenant default's`() throws {
        let apple =
            "{\"name\":\"apple\",\"type\":\"oidc\",\"issuer\":\"https://appleid.apple.com\","
            + "\"jwks_uri\":\"https://appleid.apple.com/auth/keys\","
            + "\"audiences\":[\"BUNDLE_ID\",\"WEB\"],\"algorithms\":[\"RS256\",\"ES256\"],"
            + "\"nonce\":\"sha256\",\"nonce_required\":true,\"display_name\":\"Apple ID\"}"
        let tenants = try parse("{\"providers\":[{\(Self.google)},\(apple)]}")
        #expect(Array(tenants.keys) == [.default])
        let tenant = try #require(tenants[.default])
        let googleName = try #require(ProviderName("google"))
        let appleName = try #require(ProviderName("apple"))
        #expect(Set(tenant.policy.providers.keys) == [googleName, appleName])
        #expect(!tenant.policy.severalPerProvider)
        let google = try #require(tenant.providers[googleName])
        #expect(google.displayName == "Google")
        let check = try google.oidc.check
        #expect(check.issuers == ["https://accounts.google.com", "accounts.google.com"])
        #expect(check.audiences == ["CLIENT_ID"])
        #expect(check.algorithms == [.rs256])
        #expect(check.nonce == .raw)
        #expect(!check.nonceRequired)
        let second = try #require(tenant.providers[appleName])
        #expect(second.displayName == "Apple ID")
        #expect(try second.oidc.check.issuers == ["https://appleid.apple.com"])
        #expect(try second.oidc.check.algorithms == [.rs256, .es256])
        #expect(try second.oidc.check.nonce == .sha256)
        #expect(try second.oidc.check.nonceRequired)
    }

    @Test func `a section names the systems whose ids stand in access tokens`() throws {
        func file(_ sources: String) -> String {
            "{\"providers\":[{\(Self.google)}],\"token_external_ids\":\(sources)}"
        }
        let sources = try parse(file("[\"auth0\",\"old-crm\"]"))[.default]?.tokenSources
        #expect(sources?.map(\.description) == ["auth0", "old-crm"])
        let without = try parse("{\"providers\":[{\(Self.google)}]}")
        #expect(without[.default]?.tokenSources.isEmpty == true)
        #expect(
            fault(file("[\"auth0\",\"O\"]"))
                == "token_external_ids[1] must be lower-case letters, digits, -, _ and .")
        #expect(
            fault(file("[\"auth0\",\"auth0\"]")) == "token_external_ids[1] is a duplicate")
        #expect(fault(file("[]")) == "token_external_ids must not be empty")
        let nine = (1...9).map { "\"s\($0)\"" }.joined(separator: ",")
        #expect(fault(file("[\(nine)]")) == "token_external_ids has more than 8 elements")
    }

    @Test func `the long form has a section for each tenant`() throws {
        let tenants = try parse(
            "{\"tenants\":{\"default\":{\"providers\":[{\(Self.google)}]},"
                + "\"acme\":{\"providers\":[{\(Self.google)}],\"several_per_provider\":true,"
                + "\"single_use_id_tokens\":true,\"erase_needs_two\":true,"
                + "\"confirm_later\":true,\"phone_unused_days\":90,\"support_delay_hours\":48,"
                + "\"support_needs_two\":true}}}")
        let acme = try #require(TenantID("acme"))
        #expect(Set(tenants.keys) == [.default, acme])
        #expect(tenants[acme]?.policy.severalPerProvider == true)
        #expect(tenants[.default]?.policy.severalPerProvider == false)
        #expect(tenants[acme]?.policy.singleUseIDTokens == true)
        #expect(tenants[.default]?.policy.singleUseIDTokens == false)
        #expect(tenants[acme]?.policy.eraseNeedsTwo == true)
        #expect(tenants.mapValues(\.policy.confirmLater) == [.default: false, acme: true])
        #expect(tenants.mapValues(\.policy.supportNeedsTwo) == [.default: false, acme: true])
        #expect(tenants.mapValues(\.policy.phoneUnusedDays) == [.default: 180, acme: 90])
        #expect(tenants.mapValues(\.policy.supportDelayHours) == [.default: 24, acme: 48])
        #expect(tenants[.default]?.policy.eraseNeedsTwo == false)
        // One URL, one cache: one tenant's sign-ins warm the other's.
        let google = try #require(ProviderName("google"))
        let first = try #require(tenants[acme]?.providers[google])
        let second = try #require(tenants[.default]?.providers[google])
        #expect(try first.oidc.keys === second.oidc.keys)
    }

    @Test func `other rules come from the policy that is passed in`() throws {
        var policy = TenantPolicy(providers: [])
        policy.linkBudget = Budget(limit: 7, windowSeconds: 60)
        let tenants = try ProvidersFile.parse(
            Array("{\"providers\":[]}".utf8), policy: policy)
        #expect(tenants[.default]?.policy.linkBudget.limit == 7)
        policy.eraseNeedsTwo = true
        for (member, needsTwo) in [("", true), (",\"erase_needs_two\":false", false)] {
            let read = try ProvidersFile.parse(
                Array("{\"providers\":[]\(member)}".utf8), policy: policy)
            #expect(read[.default]?.policy.eraseNeedsTwo == needsTwo)
        }
        #expect(tenants[.default]?.policy.providers == [:])
    }

    @Test(arguments: [
        "http://127.0.0.1:8080/jwks", "http://localhost/jwks", "http://[::1]:9/jwks",
        "HTTPS://a.example/k",
    ])
    func `plain http is for loopback`(address: String) throws {
        let text = Self.replacing("jwks_uri", with: "\"\(address)\"")
        #expect(fault(text) == nil)
    }

    @Test(arguments: [
        ("", "the file is not valid JSON or has a duplicate member"),
        ("[]", "the file must be an object"),
        ("{}", "providers is missing"),
        ("{\"providers\":{}}", "providers must be a list of objects"),
        ("{\"providers\":[],\"x\":1}", "x is an unknown member"),
        (
            "{\"providers\":[],\"providers\":[]}",
            "the file is not valid JSON or has a duplicate member"
        ),
        ("{\"tenants\":{},\"providers\":[]}", "providers is an unknown member"),
        ("{\"providers\":[],\"a\\nb\\u2028\":1}", "a?b? is an unknown member"),
        ("{\"tenants\":{\"NO\":{\"providers\":[]}}}", "tenants has an invalid tenant name"),
        ("{\"tenants\":{\"a\":[]}}", "tenants.a must be an object"),
        ("{\"tenants\":{\"a\":{}}}", "tenants.a.providers is missing"),
        (
            "{\"providers\":[],\"several_per_provider\":1}",
            "several_per_provider must be true or false"
        ),
        (
            "{\"providers\":[],\"single_use_id_tokens\":\"yes\"}",
            "single_use_id_tokens must be true or false"
        ),
        (#"{"providers":[],"erase_needs_two":2}"#, "erase_needs_two must be true or false"),
        (#"{"providers":[],"phone_unused_days":9}"#, "phone_unused_days must be 0 or at least 30"),
        (
            #"{"providers":[],"support_delay_hours":0}"#,
            "support_delay_hours must be a whole number from 1 to 168"
        ),
        ("{\"providers\":[7]}", "providers[0] must be an object"),
        ("{\"providers\":[{}]}", "providers[0].name is missing"),
        (
            "{\"providers\":[{\(google)},{\(google)}]}",
            "providers[1].name is a duplicate provider name"
        ),
    ])
    func `a file of the wrong shape is refused`(text: String, line: String) {
        #expect(fault(text) == line)
    }

    @Test(arguments: [
        ("name", "\"Google\"", "name must be lower-case letters, digits, -, _ and ."),
        ("name", "7", "name must be a string"),
        (
            "type", "\"saml\"",
            "type must be \"oidc\" or \"oauth2\" or \"anonymous\" or \"email\" or \"password\" or \"phone\" or \"passkey\""
        ),
        ("type", "1", "type must be a string"), ("issuer", nil, "issuer is missing"),
        ("issuer", "[]", "issuer must not be empty"),
        ("issuer", "\"\"", "issuer must not be empty"),
        ("issuer", "[1]", "issuer[0] must be a string"),
        ("issuer", "[\"a\",\"a\"]", "issuer[1] is a duplicate"),
        (
            "issuer", "\"http://a.example\"",
            "issuer must use https, except on the loopback interface"
        ),
        (
            "issuer", "[\"b\",\"http://a.example\"]",
            "issuer[1] must use https, except on the loopback interface"
        ),
        ("jwks_uri", nil, "jwks_uri is missing"),
        (
            "jwks_uri", "\"http://a.example/k\"",
            "jwks_uri must use https, except on the loopback interface"
        ),
        (
            "jwks_uri", "\"http://127.0.0.1.a.example/k\"",
            "jwks_uri must use https, except on the loopback interface"
        ),
        ("jwks_uri", "\"ftp://a.example/k\"", "jwks_uri must be an https URL"),
        ("jwks_uri", "\"/keys\"", "jwks_uri must be an https URL"),
        ("jwks_uri", "\"https://u:p@a.example/k\"", "jwks_uri must be an https URL"),
        ("audiences", nil, "audiences is missing"),
        ("audiences", "[]", "audiences must not be empty"),
        ("audiences", "\"a\"", "audiences must be a list of strings"),
        ("audiences", "[\"\"]", "audiences[0] must not be empty"),
        ("algorithms", "[]", "algorithms must not be empty"),
        (
            "algorithms", "[\"none\"]",
            "algorithms[0] must be one of RS256, RS384, RS512, PS256, ES256"
        ),
        (
            "algorithms", "[\"HS256\"]",
            "algorithms[0] must be one of RS256, RS384, RS512, PS256, ES256"
        ),
        ("nonce", "\"md5\"", "nonce must be \"raw\", \"sha256\" or \"none\""),
        ("nonce_required", "\"yes\"", "nonce_required must be true or false"),
        ("display_name", "\"\"", "display_name must not be empty"),
        ("display_name", "\"a\\nb\"", "display_name is too long or contains control characters"),
        ("audience", "[\"a\"]", "audience is an unknown member"),
    ])
    func `an invalid member is named with its location`(name: String, value: String?, line: String)
    {
        #expect(fault(Self.replacing(name, with: value)) == "providers[0].\(line)")
    }

    private static let microsoft = [
        "issuer": "\"https://login.microsoftonline.com/{tenantid}/v2.0\"",
        "subject": "\"tid_oid\"",
    ]

    @Test func `the pin of an issuer with tenants holds the form of its subjects`() throws {
        let tenants = try parse(Self.replacing(Self.microsoft))
        let provider = try #require(tenants[.default]?.providers.values.first)
        guard case .tenantAndObject(of: nil) = try provider.oidc.check.subject else {
            Issue.record("\(try provider.oidc.check.subject)")
            return
        }
        // The other form needs another issuer, which is another pin.
        #expect(
            provider.pin
                == ProviderPin(
                    type: .oidc, issuers: ["https://login.microsoftonline.com/{tenantid}/v2.0"]))
        let one = "72f988bf-86f1-41af-91ab-2d7cd011db47"
        let limited = try parse(
            Self.replacing(Self.microsoft.merging(["issuer_tenants": "[\"\(one)\"]"]) { $1 }))
        guard
            case .tenantAndObject(of: [one]) = try #require(
                limited[.default]?.providers.values.first
            ).oidc.check.subject
        else {
            Issue.record("\(limited)")
            return
        }
    }

    @Test(
        arguments: [
            (["subject": "\"oid\""], "subject must be \"sub\" or \"tid_oid\""),
            (
                ["subject": "\"sub\""], "issuer has {tenantid}, which needs the subject \"tid_oid\""
            ),
            (["subject": nil], "issuer has {tenantid}, which needs the subject \"tid_oid\""),
            (
                ["issuer": "\"https://login.microsoftonline.com/common/v2.0\""],
                "issuer must have {tenantid} once, for the subject \"tid_oid\""
            ),
            (
                ["issuer": "[\"https://a.example/{tenantid}\",\"https://b.example\"]"],
                "issuer must have {tenantid} once, for the subject \"tid_oid\""
            ),
            (
                ["issuer": "\"https://{tenantid}.example/{tenantid}\""],
                "issuer must have {tenantid} once, for the subject \"tid_oid\""
            ),
            (["issuer_tenants": "[]"], "issuer_tenants must not be empty"),
            (
                ["issuer_tenants": "[\"72f988bf-86f1-41af-91ab-2d7cd011db47\",\"common\"]"],
                "issuer_tenants[1] must be a GUID in lower case"
            ),
            (
                ["issuer_tenants": "[\"72F988BF-86F1-41AF-91AB-2D7CD011DB47\"]"],
                "issuer_tenants[0] must be a GUID in lower case"
            ),
            (
                [
                    "subject": nil, "issuer": "\"https://a.example\"",
                    "issuer_tenants": "[\"72f988bf-86f1-41af-91ab-2d7cd011db47\"]",
                ], "issuer_tenants needs the subject \"tid_oid\""
            ),
        ] as [([String: String?], String)])
    func `a form of subjects that does not fit the issuer is refused`(
        changes: [String: String?], line: String
    ) {
        let members = Self.microsoft.mapValues { $0 as String? }.merging(changes) { $1 }
        #expect(fault(Self.replacing(members)) == "providers[0].\(line)")
    }

    @Test func `a provider without a type is one of OpenID Connect`() throws {
        let tenants = try parse(Self.replacing("type", with: nil))
        let provider = try #require(tenants[.default]?.providers.values.first)
        #expect(provider.settings.type == .oidc)
        #expect(try provider.oidc.check.issuers == ["https://a.example"])
    }

    @Test func `a required nonce contradicts the mode without nonces`() {
        let text = "{\"providers\":[{\(Self.google),\"nonce\":\"none\",\"nonce_required\":true}]}"
        #expect(
            fault(text) == "providers[0].nonce_required contradicts the nonce mode \"none\"")
    }

    @Test(arguments: [
        (#""preset":"facebook","client_id":"1","client_secret":"s""#, "facebook:1"),
        (
            #""preset":"facebook","client_id":"1","client_secret":"s","api_url":"https://a.example/v25.0""#,
            "facebook:1"
        ),
        (#""preset":"github","client_id":"1","client_secret":"s""#, "https://api.github.com"),
        (
            #""preset":"github","client_id":"1","client_secret":"s","api_url":"https://git.example/api/v3""#,
            "https://git.example/api/v3"
        ),
        (
            #""client_id":"1","client_secret":"s","introspection_url":"https://a.example/i","issuer":"a","audience":"b","scope":"c""#,
            "a"
        ),
    ])
    func `a provider of access tokens is pinned by whose ids of people it has`(
        members: String, issuer: String
    ) throws {
        let tenants = try parse(Self.oauth2(members))
        let provider = try #require(tenants[.default]?.providers.values.first)
        #expect(provider.pin == ProviderPin(type: .oauth2, issuers: [issuer]))
    }

    @Test(arguments: [
        ("", "client_id is missing"),
        (#""client_id":"1""#, "client_secret is missing"),
        (#""client_id":"1","client_secret":"s""#, "issuer is missing"),
        (#""client_id":"1","client_secret":"s","issuer":"a""#, "introspection_url is missing"),
        (
            #""client_id":"1","client_secret":"s","preset":"twitter""#,
            "preset must be \"facebook\" or \"github\" or \"x\" or \"linkedin\""
        ),
        (
            #""client_id":"1","client_secret":"s","preset":"github","api_url":"http://a.example""#,
            "api_url must use https, except on the loopback interface"
        ),
        (
            #""client_id":"1","client_secret":"s","preset":"github","api_url":"https://a.example/""#,
            "api_url must not end with /"
        ),
        (
            #""client_id":"1","client_secret":"s","issuer":"a","introspection_url":"ftp://a.example""#,
            "introspection_url must be an https URL"
        ),
        (
            #""client_id":"1","client_secret":"s","preset":"github","introspection_url":"https://a.example""#,
            "introspection_url is an unknown member"
        ),
        (
            #""client_id":"1","client_secret":"s","introspection_url":"https://a.example","api_url":"https://a.example""#,
            "api_url is an unknown member"
        ),
        (
            #""client_id":"1","client_secret":"a\nb""#,
            "client_secret is too long or contains control characters"
        ),
    ])
    func `a provider of access tokens that can't be used is refused`(members: String, line: String)
    {
        #expect(fault(Self.oauth2(members)) == "providers[0].\(line)")
    }

    private static func oauth2(_ members: String) -> String {
        let rest = members.isEmpty ? "" : ",\(members)"
        return "{\"providers\":[{\"name\":\"p\",\"type\":\"oauth2\"\(rest)}]}"
    }

    /// Returns a file with one provider of which one member differs or is missing.
    private static func replacing(_ name: String, with value: String?) -> String {
        replacing([name: value])
    }

    /// Returns a file with one provider of which these members differ or are missing.
    private static func replacing(_ changes: [String: String?]) -> String {
        var members = [
            "name": "\"google\"", "type": "\"oidc\"", "issuer": "\"https://a.example\"",
            "jwks_uri": "\"https://a.example/k\"", "audiences": "[\"a\"]",
        ]
        for (name, value) in changes { members[name] = value }
        let json = members.map { "\"\($0)\":\($1)" }.joined(separator: ",")
        return "{\"providers\":[{\(json)}]}"
    }
}

extension ProviderConfiguration {
    fileprivate var oidc: OIDCSettings {
        get throws {
            guard case .oidc(let settings) = settings else { throw Credential.Flaw.unsupported }
            return settings
        }
    }
}
