import Cryptography
import Encodings
import Ledger
import LedgerTestSupport
import Testing

@Suite struct DisclosureTests {
    private static let salt: [UInt8] = Array(0..<16)

    @Test func `a disclosure is the base64url form of salt, name and value`() {
        let encoded = Disclosure(.email, "ada@example.org").encoded(salt: Self.salt)
        // printf '["AAECAwQFBgcICQoLDA0ODw","email","ada@example.org"]' | basenc --base64url
        #expect(
            String(decoding: encoded, as: UTF8.self)
                == "WyJBQUVDQXdRRkJnY0lDUW9MREEwT0R3IiwiZW1haWwiLCJhZGFAZXhhbXBsZS5vcmciXQ")
    }

    @Test(arguments: [
        "plain", "with \"quotes\" and \\ backslash", "tab\tline\nreturn\r", "\u{1}\u{1f}\u{8}\u{c}",
        "ünïcödé ☃ 👩‍👩‍👧", "", String(repeating: "x", count: 300),
    ])
    func `a value survives its disclosure`(value: String) {
        let disclosure = Disclosure(.userAgent, value)
        let encoded = disclosure.encoded(salt: Self.salt)
        #expect(Disclosure(encoded: String(decoding: encoded, as: UTF8.self)) == disclosure)
    }

    @Test(arguments: ["\u{1}", "\\u0008", "\\u001F", "\\u+01f", "\\/", "\\u0041", "\\ud83d"])
    func `a value in another encoding is not a disclosure`(value: String) {
        let json = Array("[\"AAECAwQFBgcICQoLDA0ODw\",\"email\",\"\(value)\"]".utf8)
        #expect(Disclosure(encoded: Base64URL.encode(json)) == nil)
    }

    @Test func `several disclosures are joined and split`() {
        let all = [Disclosure(.email, "a~b@example.org"), Disclosure(.clientIP, "203.0.113.7")]
        let joined = DisclosureList.join(all.map { $0.encoded(salt: Self.salt) })
        #expect(DisclosureList.split(joined)?.map(\.disclosure) == all)
        #expect(DisclosureList.split([0xFF, 0x7E, 0x00]) == nil)
        #expect(DisclosureList.split([]) == nil)
    }
}
