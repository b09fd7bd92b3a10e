import Testing

@testable import OpenID

/// Claims of well signed tokens, one rule at a time.
@Suite struct IDTokenClaimsTests {
    private static let now = Claims.now

    private func claims(_ claims: Claims) throws -> IDTokenClaims {
        try Issuer.checker().check(
            Issuer.token(claims), nonce: nil, keys: Issuer.keys, now: Claims.now)
    }

    /// Claims that break one rule, and the fault they must give.
    struct Row: Sendable {
        let claims: Claims
        let fault: IDTokenFault

        init(_ claims: Claims, _ fault: IDTokenFault) {
            self.claims = claims
            self.fault = fault
        }
    }

    static let refused: [Row] = [
        Row(Claims().without("iss"), .wrongIssuer),
        Row(Claims().with("iss", #""https://issuer.example/""#), .wrongIssuer),
        Row(Claims().with("iss", #""https://ISSUER.example""#), .wrongIssuer),
        Row(Claims().with("iss", #"["https://issuer.example"]"#), .wrongIssuer),
        Row(Claims().without("aud"), .wrongAudience),
        Row(Claims().with("aud", #""client-3""#), .wrongAudience),
        Row(Claims().with("aud", #""""#), .wrongAudience),
        Row(Claims().with("aud", "[]"), .wrongAudience),
        Row(Claims().with("aud", #"["client-3"]"#), .wrongAudience),
        Row(Claims().with("aud", #"["client-1",5]"#), .wrongAudience),
        Row(Claims().with("aud", #"[["client-1"]]"#), .wrongAudience),
        Row(Claims().with("aud", "null"), .wrongAudience),
        Row(Claims().with("aud", #"["client-1","other"]"#), .wrongAuthorizedParty),
        Row(
            Claims().with("aud", #"["client-1","other"]"#).with("azp", #""other""#),
            .wrongAuthorizedParty),
        Row(
            Claims().with("aud", #"["client-1","other"]"#).with("azp", #"["client-1"]"#),
            .wrongAuthorizedParty),
        Row(
            Claims().with("aud", #"["client-1","client-2"]"#).with("azp", "null"),
            .wrongAuthorizedParty),
        Row(Claims().with("aud", #""client-3""#).with("azp", #""client-1""#), .wrongAudience),
        Row(Claims().without("exp"), .missingExpiry),
        Row(Claims().with("exp", "null"), .missingExpiry),
        Row(Claims().with("exp", #""\#(now + 60)""#), .malformed),
        Row(Claims().with("exp", "\(now - 60)"), .expired),
        Row(Claims().with("exp", "0"), .expired),
        Row(Claims().with("exp", "-1"), .malformed),
        Row(Claims().with("exp", "1e300"), .malformed),
        Row(Claims().with("exp", "99999999999999999999"), .malformed),
        Row(Claims().with("exp", "true"), .malformed),
        Row(Claims().with("exp", "1e999"), .malformed),
        Row(Claims().with("exp", String(repeating: "9", count: 2_000)), .malformed),
        Row(Claims().with("iat", "-1e999"), .malformed),
        Row(Claims().with("auth_time", "1e999"), .malformed),
        Row(Claims().with("nbf", "\(now + 61)"), .notYetValid),
        Row(Claims().with("nbf", #""now""#), .malformed),
        Row(Claims().without("iat"), .missingIssuedAt),
        Row(Claims().with("iat", "\(now + 61)"), .issuedInFuture),
        Row(Claims().with("iat", "\(now + 60).5"), .issuedInFuture),
        Row(Claims().with("iat", #""0""#), .malformed),
        Row(Claims().with("auth_time", #""0""#), .malformed),
        Row(Claims().with("auth_time", "-5"), .malformed),
        Row(Claims().without("sub"), .badSubject),
        Row(Claims().with("sub", "null"), .badSubject),
        Row(Claims().with("sub", "7"), .badSubject),
        Row(Claims().with("sub", #""""#), .badSubject),
        Row(Claims().with("sub", #""a\u0000b""#), .badSubject),
        Row(Claims().with("sub", #""a\nb""#), .badSubject),
        Row(Claims().with("sub", #""a\u007f""#), .badSubject),
        Row(Claims().with("sub", #""a\u0085""#), .badSubject),
        Row(Claims().with("sub", "\"\(String(repeating: "a", count: 256))\""), .badSubject),
        Row(Claims().with("sub", "\"\(String(repeating: "é", count: 128))\""), .badSubject),
    ]

    @Test(arguments: refused.indices)
    func `claims that break a rule are refused with its fault`(index: Int) {
        let row = Self.refused[index]
        #expect(
            Issuer.fault(Issuer.token(row.claims)) == row.fault,
            "\(String(decoding: row.claims.json, as: UTF8.self))")
    }

    static let accepted: [Claims] = [
        Claims(),
        Claims().with("iss", #""issuer.example""#),
        Claims().with("aud", #""client-2""#),
        Claims().with("aud", #"["client-1"]"#),
        Claims().with("aud", #"["other","client-1"]"#).with("azp", #""client-2""#),
        // Google's Android SDK names the web client as audience and the app as authorized party.
        Claims().with("azp", #""other""#),
        Claims().with("aud", #"["client-1"]"#).with("azp", #""other""#),
        Claims().with("azp", #"["other"]"#),
        Claims().with("azp", "null"),
        Claims().with("exp", "\(now - 59)"),
        Claims().with("exp", "\(now + 60).25"),
        Claims().with("exp", "1.8e9"),
        Claims().with("nbf", "\(now + 60)"),
        Claims().with("iat", "\(now + 60)"),
        Claims().with("iat", "0"),
        Claims().with("auth_time", "null"),
        Claims().with("unread", String(repeating: "9", count: 2_000)),
        Claims().with("unread", "[1e999,-1e999]"),
        Claims().with("exp", "\(now + 60)." + String(repeating: "0", count: 2_000)),
        Claims().with("sub", "\"\(String(repeating: "a", count: 255))\""),
        Claims().with("sub", #""00\u0031234.abc é""#),
    ]

    @Test(arguments: accepted.indices)
    func `claims at the edge of a rule are accepted`(index: Int) {
        let claims = Self.accepted[index]
        #expect(
            Issuer.fault(Issuer.token(claims)) == nil,
            "\(String(decoding: claims.json, as: UTF8.self))")
    }

    @Test func `all that is kept of a token is returned`() throws {
        let checked = try claims(
            Claims().with("email", #""a@b.example""#).with("email_verified", "true")
                .with("name", #""Zoë""#).with("auth_time", "\(Self.now - 500).75"))
        #expect(checked.issuer == "https://issuer.example")
        #expect(checked.subject == "subject-1")
        #expect(checked.email == "a@b.example")
        #expect(checked.emailVerified == true)
        #expect(checked.name == "Zoë")
        #expect(checked.issuedAt == Self.now - 10)
        #expect(checked.expiresAt == Self.now + 3_600)
        #expect(checked.authTime == Self.now - 500)
    }

    @Test(
        arguments: [
            ("true", true), ("false", false), (#""true""#, true), (#""false""#, false),
            (#""TRUE""#, nil), ("1", nil), ("null", nil),
        ] as [(String, Bool?)])
    func `whether an address is verified is read as Apple writes it, too`(
        json: String, expected: Bool?
    ) throws {
        #expect(try claims(Claims().with("email_verified", json)).emailVerified == expected)
    }

    @Test func `an address or a name that can't be kept is dropped, not refused`() throws {
        let long = String(repeating: "a", count: 320)
        let kept = try claims(Claims().with("email", "\"\(long)\""))
        #expect(kept.email == long)
        for json in ["\"\(long)a\"", #""a\u0000@b""#, #""a\r\nb""#, "5", "null", #""""#] {
            #expect(try claims(Claims().with("email", json)).email == nil)
            #expect(try claims(Claims().with("name", json)).name == nil)
        }
        let name = String(repeating: "n", count: 200)
        #expect(try claims(Claims().with("name", "\"\(name)\"")).name == name)
        #expect(try claims(Claims().with("name", "\"\(name)n\"")).name == nil)
    }

    @Test func `checked claims don't print personal data`() throws {
        let checked = try claims(Claims().with("email", #""a@b.example""#))
        var dumped = ""
        dump(checked, to: &dumped)
        for text in ["\(checked)", String(reflecting: checked), dumped] {
            #expect(!text.contains("a@b") && !text.contains("subject-1"))
        }
    }
}

/// The control characters.
@Suite struct ControlCharacterTests {
    @Test func `they are those that Unicode calls so`() {
        for value in UInt32(0)..<0x3000 {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let isControl = scalar.properties.generalCategory == .control
            #expect("a\(Character(scalar))b".hasControlCharacter == isControl, "U+\(value)")
        }
    }
}
