import OneTimePasswords
import Testing

/// Codes of authenticator apps, the URI that sets an app up, and the steps of accepted codes.
@Suite struct TOTPTests {
    /// The secret of the vectors of RFC 6238, appendix B.
    private func secret() throws -> TOTPSecret {
        try #require(TOTPSecret(bytes: Array("12345678901234567890".utf8)))
    }

    /// The vectors have eight digits, of which six are the last ones.
    @Test(arguments: [
        (59, "94287082"), (1_111_111_109, "07081804"), (1_111_111_111, "14050471"),
        (1_234_567_890, "89005924"), (2_000_000_000, "69279037"), (20_000_000_000, "65353130"),
    ])
    func `codes are those of RFC 6238`(seconds: Int64, digits: String) throws {
        let code = try #require(TOTPCode(String(digits.suffix(6))))
        #expect(try secret().step(of: code, at: seconds) == seconds / 30)
    }

    /// The codes of the steps 0 to 9 are those of RFC 4226, appendix D.
    private let codes = [
        "755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871",
        "520489",
    ]

    @Test func `a code is accepted from one step before to one step after its own`() throws {
        let secret = try secret()
        for (step, digits) in codes.enumerated() {
            let code = try #require(TOTPCode(digits))
            for seconds in Int64(0)..<(11 * 30) {
                let isNear = abs(seconds / 30 - Int64(step)) <= 1
                #expect(
                    secret.step(of: code, at: seconds) == (isNear ? Int64(step) : nil),
                    "step \(step) at \(seconds)")
            }
        }
    }

    @Test func `the latest of several steps with one code is returned`() throws {
        // Both steps have this code.
        let code = try #require(TOTPCode("468457"))
        #expect(try secret().step(of: code, at: 153_566 * 30) == 153_567)
        #expect(try secret().step(of: code, at: 153_568 * 30) == 153_569)
    }

    @Test func `wrong codes and times before 1970 have no step`() throws {
        let secret = try secret()
        let code = try #require(TOTPCode("755224"))
        #expect(secret.step(of: code, at: -1) == nil)
        #expect(secret.step(of: code, at: .min) == nil)
        #expect(secret.step(of: code, at: .max) == nil)
        #expect(secret.step(of: try #require(TOTPCode("755225")), at: 0) == nil)
        let other = try #require(TOTPSecret(bytes: Array("12345678901234567891".utf8)))
        #expect(other.step(of: code, at: 0) == nil)
    }

    @Test(arguments: [
        "", "12345", "1234567", "12345a", "123 456", " 123456", "123456\n", "-12345", "+12345",
        "12345\u{0}", "\u{661}\u{662}\u{663}", "\u{FF11}\u{FF12}", "12345\u{301}",
    ])
    func `other texts than six digits are no codes`(text: String) {
        #expect(TOTPCode(text) == nil)
    }

    @Test func `secrets are random, of 20 bytes, and not printed`() throws {
        let secret = TOTPSecret.generate()
        #expect(secret.copiedBytes().count == 20)
        #expect(secret.copiedBytes() != TOTPSecret.generate().copiedBytes())
        #expect("\(secret)" == "TOTPSecret(redacted)")
        #expect(Mirror(reflecting: secret).children.isEmpty)
        #expect(TOTPSecret(bytes: Array(repeating: 0, count: 15)) == nil)
        #expect(TOTPSecret(bytes: Array(repeating: 0, count: 65)) == nil)
        #expect(TOTPSecret(bytes: secret.copiedBytes())?.copiedBytes() == secret.copiedBytes())
    }

    @Test(arguments: [
        (
            "Example", "alice@example.com",
            "Example:alice%40example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Example"
        ),
        (
            "Big & Co?", "müller+1@b.c",
            "Big%20%26%20Co%3F:m%C3%BCller%2B1%40b.c?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
                + "&issuer=Big%20%26%20Co%3F"
        ),
        (
            "a/b#c%d", "~_-.",
            "a%2Fb%23c%25d:~_-.?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=a%2Fb%23c%25d"
        ),
    ])
    func `apps are set up by a URI`(issuer: String, account: String, uri: String) throws {
        #expect(try secret().uri(issuer: issuer, account: account) == "otpauth://totp/" + uri)
    }

    @Test func `names with colons and empty names have no URI`() throws {
        for (issuer, account) in [("", "a"), ("a", ""), ("a:b", "c"), ("a", "b:c")] {
            #expect(try secret().uri(issuer: issuer, account: account) == nil)
        }
    }
}
