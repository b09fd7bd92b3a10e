import Testing

@testable import Passwords

/// The preparation of passwords, RFC 8265 section 4.2.
@Suite struct OpaqueStringTests {
    @Test(arguments: [
        "correct horse battery staple", "Correct Horse Battery Staple", "πßå", "Jack of ♦s",
        "  two spaces  ", "👩\u{200D}💻", "می\u{200C}خواهم",
    ])
    func `a text in normal form is kept, spaces and case included`(text: String) {
        #expect(OpaqueString.prepare(text)?.utf8.elementsEqual(text.utf8) == true)
    }

    @Test(arguments: [
        ("foo\u{1680}bar", "foo bar"), ("a\u{A0}b\u{3000}c\u{2003}d", "a b c d"),
        ("e\u{301}", "\u{E9}"), ("\u{212B}", "\u{C5}"), ("\u{1E9B}\u{323}", "\u{1E9B}\u{323}"),
        ("\u{1112}\u{1161}\u{11AB}", "\u{D55C}"), ("q\u{307}\u{323}", "q\u{323}\u{307}"),
        ("\u{358}\u{F75}", "\u{F71}\u{F74}\u{358}"),
    ])
    func `spaces are mapped and the text is normalised`(text: String, expected: String) {
        #expect(OpaqueString.prepare(text)?.utf8.elementsEqual(expected.utf8) == true)
    }

    @Test(arguments: [
        "", "my cat is a \u{9}by", "a\u{0}b", "a\n", "a\u{7F}", "a\u{85}", "a\u{2028}b",
        // Invisible, unassigned, for private use, not a character, and a lone old Hangul letter.
        "a\u{200B}", "a\u{AD}", "a\u{FE0F}", "a\u{E0001}", "a\u{378}", "a\u{E000}", "a\u{FFFF}",
        "\u{115A}",
    ])
    func `other characters are refused`(text: String) {
        #expect(OpaqueString.prepare(text) == nil)
    }

    @Test func `the form does not change when it is prepared again`() throws {
        var random = SameNumbers()
        var count = 0
        for _ in 0..<2000 {
            var scalars = String.UnicodeScalarView()
            for _ in 0..<4 {
                if let scalar = Unicode.Scalar(UInt32.random(in: 0x20..<0x3000, using: &random)) {
                    scalars.append(scalar)
                }
            }
            guard let once = OpaqueString.prepare(String(scalars)) else { continue }
            count += 1
            let twice = try #require(OpaqueString.prepare(once))
            #expect(twice.utf8.elementsEqual(once.utf8), "\(Array(scalars))")
        }
        #expect(count > 200)
    }
}
