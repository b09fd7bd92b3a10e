import Cryptography
import Encodings
import Testing

/// Base64url, base64, base32, percent-encoded and hexadecimal text, and the refusal of forms that are not canonical.
@Suite struct TextEncodingTests {
    /// RFC 4648 section 10, without the padding that RFC 7515 leaves out.
    @Test(arguments: [
        ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"),
        ("fooba", "Zm9vYmE"), ("foobar", "Zm9vYmFy"),
    ])
    func `base64url encodes the texts of RFC 4648`(plain: String, text: String) {
        #expect(Base64URL.encode(Array(plain.utf8)) == text)
        #expect(Base64URL.decode(text) == Array(plain.utf8))
    }

    @Test func `base64url uses the URL-safe alphabet`() {
        #expect(Base64URL.encode([0xFB, 0xFF, 0xBF]) == "-_-_")
        #expect(Base64URL.decode("-_-_") == [0xFB, 0xFF, 0xBF])
    }

    @Test(arguments: [
        "Zg==", "Zg=", "Zh", "Zm9", "Z", "Zm9vY", "+/+/", "Zm 9v", "Zm9v\n", "Zm9v.", "Zé", "\0",
    ])
    func `base64url refuses every other spelling`(text: String) {
        #expect(Base64URL.decode(text) == nil)
    }

    @Test func `base64url brings back all lengths`() {
        for count in 0...130 {
            let bytes = SecureRandom.bytes(count)
            #expect(Base64URL.decode(Base64URL.encode(bytes)) == bytes)
        }
    }

    @Test func `base64url refuses every character outside of the alphabet, wherever it stands`() {
        let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8
        for character in UInt8.min...UInt8.max {
            for (before, after) in [("", "AAA"), ("AAA", ""), ("AAAA", "AA"), ("AAAA", "A")] {
                let text = Array(before.utf8) + [character] + Array(after.utf8)
                #expect((Base64URL.decode(text.span) != nil) == alphabet.contains(character))
            }
        }
    }

    @Test func `base64url appends to what was written`() {
        var text = Array("before.".utf8)
        let bytes: [UInt8] = [1, 2, 3, 4]
        Base64URL.append(bytes.span, to: &text)
        #expect(String(decoding: text, as: UTF8.self) == "before.AQIDBA")
    }

    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="),
        ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"),
    ])
    func `base64 is that of RFC 4648`(plain: String, text: String) {
        #expect(Base64.encode(Array(plain.utf8)) == text)
        #expect(Base64.decode(text) == Array(plain.utf8))
    }

    @Test(arguments: [
        ("", ""), ("f", "MY"), ("fo", "MZXQ"), ("foo", "MZXW6"), ("foob", "MZXW6YQ"),
        ("fooba", "MZXW6YTB"), ("foobar", "MZXW6YTBOI"),
    ])
    func `base32 is that of RFC 4648 without padding`(plain: String, text: String) {
        #expect(Base32.encode(Array(plain.utf8)) == text)
    }

    @Test func `base32 has all letters`() {
        let bytes: [UInt8] = [
            0x00, 0x44, 0x32, 0x14, 0xC7, 0x42, 0x54, 0xB6, 0x35, 0xCF,
            0x84, 0x65, 0x3A, 0x56, 0xD7, 0xC6, 0x75, 0xBE, 0x77, 0xDF,
        ]
        #expect(Base32.encode(bytes) == "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
    }

    @Test func `base64 has one text for some bytes`() {
        #expect(Base64.encode([0xFB, 0xFF, 0xFE]) == "+//+")
        #expect(Base64.decode("+//+") == [0xFB, 0xFF, 0xFE])
        for text in [
            "-__-", "Zg", "Zg=", "Zg===", "Zh==", "Zm9=", "Zm9v====", "=", "==", "====", "Z===",
            "Zm8=Zm8=", " Zm8", "Zm8=\n", "Zm\n8", "Zm9vYg=a", "Zäg=",
        ] {
            #expect(Base64.decode(text) == nil, "\(text)")
        }
    }

    @Test func `base64 brings back all lengths`() {
        for count in 0...130 {
            let bytes = SecureRandom.bytes(count)
            #expect(Base64.decode(Base64.encode(bytes)) == bytes)
        }
    }

    @Test func `base64 refuses every character outside of the alphabet, wherever it stands`() {
        let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8
        for character in UInt8.min...UInt8.max {
            for (before, after) in [("", "AAA"), ("AAA", "AAAA"), ("", "A=="), ("A", "A=")] {
                let text = Array(before.utf8) + [character] + Array(after.utf8)
                #expect((Base64.decode(text[...]) != nil) == alphabet.contains(character))
            }
        }
    }

    @Test func `every byte but those of unreserved characters is percent-encoded`() {
        let kept = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
        #expect(PercentEncoding.encode(kept) == kept)
        for value in UInt8.min...0x7F where !kept.utf8.contains(value) {
            let digits = Hex.encode([value]).uppercased()
            #expect(PercentEncoding.encode("\(Unicode.Scalar(value))") == "%\(digits)")
        }
        #expect(PercentEncoding.encode("") == "")
        #expect(PercentEncoding.encode("é/a b\0") == "%C3%A9%2Fa%20b%00")
        for text in ["", "é/a b\0", "+", "😀%25"] {
            #expect(PercentEncoding.decode(PercentEncoding.encode(text)) == text)
        }
        #expect(PercentEncoding.decode("%c3%A9+a") == "é+a")
        for broken in ["%", "%4", "a%4", "%GG", "%4g", "%FF", "%C3", "%-1", "%é"] {
            #expect(PercentEncoding.decode(broken) == nil, "\(broken)")
        }
    }

    @Test func `hexadecimal text is written in lower case and read in both`() {
        #expect(Hex.encode([0x00, 0x9F, 0xAB]) == "009fab")
        #expect(Hex.decode("009fAB") == [0x00, 0x9F, 0xAB])
        #expect(Hex.decode("") == [])
    }

    @Test(arguments: ["0", "0g", "0x00", " 00", "00 ", "é"])
    func `hexadecimal text of anything but pairs of digits is refused`(text: String) {
        #expect(Hex.decode(text) == nil)
    }
}
