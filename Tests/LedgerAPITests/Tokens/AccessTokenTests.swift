import Cryptography
import Encodings
import JSON
import Ledger
import LedgerAPI
import OpenID
import Testing

@Suite(.overBothTransports) struct AccessTokenTests {
    @Test func `a token has the claims of the contract`() async throws {
        let service = try TestService()
        let person = try await service.signIn("apple", "ada")
        let header = try #require(CompactJWS.header(of: person.accessToken))
        #expect(header.alg == "ES256")
        #expect(header.typ == "at+jwt")
        let keySet = try await service.send("GET", "/.well-known/jwks.json")
        let keys = try #require(KeySet(jwks: Array(keySet.body.utf8)))
        let key = try #require(keys.key(id: header.kid))
        let payload = try #require(
            CompactJWS.verify(person.accessToken, with: key, allowing: [.es256]))
        let claims = try #require(JSONValue(parsing: payload)?.members)
        let now = Double(service.clock.now.seconds)
        #expect(
            claims.keys.sorted() == [
                "amr", "aud", "auth_time", "exp", "iat", "iss", "sid", "sub", "tid",
            ])
        #expect(claims["iss"] == .string("https://ledger.example"))
        #expect(claims["aud"] == .string("app"))
        #expect(claims["sub"] == .string(person.userID))
        #expect(claims["tid"] == .string("default"))
        #expect(claims["iat"] == .number(now))
        #expect(claims["exp"] == .number(now + 600))
        #expect(claims["auth_time"] == .number(now))
        #expect(claims["amr"] == .array([.string("fed")]))
    }

    @Test func `amr has the words of the session`() throws {
        let key = TokenSigningKey.generate()
        let grant = Grant(
            account: AccountID(bits: 1), session: SessionID(bits: 2),
            authenticatedAt: Timestamp(seconds: 1_750_000_000),
            methods: try #require(AuthenticationMethods("otp pwd")), linkedProviders: [])
        let token = tokens(current: key).issue(
            for: grant, in: .default, at: Timestamp(seconds: 1_750_000_000))
        let payload = try #require(
            CompactJWS.verify(token, with: key.verificationKey, allowing: [.es256]))
        #expect(
            JSONValue(parsing: payload)?.members?["amr"]
                == .array([.string("otp"), .string("pwd")]))
    }

    @Test func `a token is valid until it expires`() async throws {
        let service = try TestService()
        let person = try await service.signIn("apple", "ada")
        service.clock.advance(seconds: 599)
        #expect(try await service.account(person.accessToken).status == 200)
        service.clock.advance(seconds: 1)
        #expect(
            try await service.account(person.accessToken).summary == "401 INVALID_ACCESS_TOKEN")
        #expect(try await service.refresh(person.refreshToken).status == 200)
    }

    @Test func `a token is valid for its own tenant only`() async throws {
        let acme = try #require(TenantID("acme"))
        let service = try TestService { $0.tenants = [.default, acme] }
        let person = try await service.signIn("apple", "ada")
        let other = try await service.signIn("apple", "ada", tenant: "/t/acme")
        #expect(other.userID != person.userID)
        for process in [service, try service.restarted()] {
            #expect(
                try await process.account(person.accessToken, tenant: "/t/acme").summary
                    == "401 INVALID_ACCESS_TOKEN")
            #expect(
                try await process.account(other.accessToken).summary
                    == "401 INVALID_ACCESS_TOKEN")
            #expect(
                try await process.account(other.accessToken, tenant: "/t/acme").status == 200)
            #expect(
                try await process.account(person.accessToken, tenant: "/t/default").status == 200)
        }
    }

    @Test func `another process with the same keys accepts the token`() async throws {
        let service = try TestService()
        let person = try await service.signIn("apple", "ada")
        let other = try service.restarted()
        #expect(try await other.account(person.accessToken).status == 200)
        #expect(try await other.account(person.accessToken).status == 200)
    }

    @Test func `a former key's tokens are still accepted`() throws {
        let former = TokenSigningKey.generate()
        let before = tokens(current: former)
        let grant = Self.grant
        let now = Timestamp(seconds: 1_750_000_000)
        let token = before.issue(for: grant, in: .default, at: now)
        let after = tokens(current: .generate(), former: [former])
        #expect(after.check(token, for: .default, at: now)?.caller.account == grant.account)
        #expect(tokens(current: .generate()).check(token, for: .default, at: now) == nil)
        let published = try #require(KeySet(jwks: after.publishedKeys))
        #expect(published.key(id: former.keyID) != nil)
        #expect(!String(decoding: after.publishedKeys, as: UTF8.self).contains("\"d\""))
    }

    /// A claim that differs from a valid token's.
    @Test(arguments: [
        ("iss", "\"https://other.example\""), ("iss", nil), ("aud", "\"other\""),
        ("aud", "[\"app\"]"), ("sub", "\"x\""), ("sub", nil), ("sid", nil), ("sid", "\"x\""),
        ("tid", "\"acme\""), ("tid", "\"NO\""), ("tid", nil), ("iat", "1750000061"),
        ("iat", nil), ("exp", "1750000000"), ("exp", nil), ("exp", "\"1750000600\""),
        ("exp", "1750000600.5"), ("auth_time", nil), ("exp", "1e300"),
    ])
    func `a signed token with a wrong claim is refused`(name: String, value: String?) throws {
        let key = TokenSigningKey.generate()
        let tokens = tokens(current: key)
        let now = Timestamp(seconds: 1_750_000_000)
        let good = Self.token(key, changing: "amr", to: "[]", type: "at+jwt")
        #expect(tokens.check(good, for: .default, at: now) != nil)
        let bad = Self.token(key, changing: name, to: value, type: "at+jwt")
        #expect(tokens.check(bad, for: .default, at: now) == nil)
    }

    @Test(arguments: ["JWT", "jwt", "at+JWT", ""])
    func `a token of another type is refused`(type: String) {
        let key = TokenSigningKey.generate()
        let token = Self.token(key, changing: "amr", to: "[]", type: type)
        let now = Timestamp(seconds: 1_750_000_000)
        #expect(tokens(current: key).check(token, for: .default, at: now) == nil)
    }

    @Test func `a token that was changed is refused`() async throws {
        let service = try TestService()
        let person = try await service.signIn("apple", "ada")
        let parts = person.accessToken.split(separator: ".").map(String.init)
        let none = Base64URL.encode(Array("{\"alg\":\"none\",\"typ\":\"at+jwt\"}".utf8))
        let payload = try #require(Base64URL.decode(parts[1]))
        let text = String(decoding: payload, as: UTF8.self)
        let later = Base64URL.encode(
            Array(text.replacing("\"exp\":1750000600", with: "\"exp\":1850000600").utf8))
        let signature = try #require(Base64URL.decode(parts[2]))
        let flipped = Base64URL.encode(signature.dropLast() + [(signature.last ?? 0) ^ 1])
        let forged = [
            "\(none).\(parts[1]).", "\(none).\(parts[1]).\(parts[2])",
            "\(parts[0]).\(later).\(parts[2])", "\(parts[0]).\(parts[1]).\(flipped)",
            "\(parts[0]).\(parts[1])", person.accessToken + ".x", "x",
            service.idToken("apple", "ada"), person.refreshToken,
            String(repeating: "x", count: 5000),
        ]
        for token in forged {
            let answer = try await service.account(token)
            #expect(answer.summary == "401 INVALID_ACCESS_TOKEN")
            #expect(answer["WWW-Authenticate"] == "Bearer error=\"invalid_token\"")
        }
    }

    @Test(arguments: [
        (["bearer TOKEN"], true), (["BEARER  TOKEN "], true), (["Basic TOKEN"], false),
        (["Bearer TOKEN"], true), ([" Bearer TOKEN\t"], true), (["Bearer TOKEN \t"], true),
        (["Bearer TOKEN\t\t"], true), (["Bearer  TOKEN"], true), (["Bearer\tTOKEN"], false),
        (["Bearer "], false), (["Bearer \t"], false), (["Bearer \tTOKEN"], false),
        (["TOKEN"], false), (["Bearer"], false), (["Bearer TOKEN x"], false),
        (["Bearer TOKEN", "Bearer TOKEN"], false), ([], false), ([""], false),
    ])
    func `the token is in exactly one Authorization field`(
        values: [String], isGood: Bool
    ) async throws {
        let service = try TestService()
        let person = try await service.signIn("apple", "ada")
        let fields = values.map {
            (name: "authorization", value: $0.replacing("TOKEN", with: person.accessToken))
        }
        let answer = try await service.send("GET", "/v1/account", headers: fields)
        #expect(answer.summary == (isGood ? "200 OK" : "401 INVALID_ACCESS_TOKEN"))
        if values.isEmpty { #expect(answer["WWW-Authenticate"] == "Bearer") }
    }

    private static let grant = Grant(
        account: AccountID(bits: 1), session: SessionID(bits: 2),
        authenticatedAt: Timestamp(seconds: 1_750_000_000), methods: .federated, linkedProviders: []
    )

    private func tokens(
        current: TokenSigningKey, former: [TokenSigningKey] = []
    ) -> AccessTokens {
        AccessTokens(
            issuer: "https://ledger.example", audience: "app", current: current, former: former)
    }

    private static func token(
        _ key: TokenSigningKey, changing name: String, to value: String?, type: String
    ) -> String {
        var claims: [String: String?] = [
            "iss": "\"https://ledger.example\"", "aud": "\"app\"",
            "sub": "\"\(AccountID(bits: 1))\"", "sid": "\"\(SessionID(bits: 2))\"",
            "tid": "\"default\"", "iat": "1750000000", "exp": "1750000600",
            "auth_time": "1750000000",
        ]
        claims.updateValue(value, forKey: name)
        let json = claims.compactMap { name, value in value.map { "\"\(name)\":\($0)" } }
        return key.sign(claims: Array("{\(json.joined(separator: ","))}".utf8), type: type)
    }
}
