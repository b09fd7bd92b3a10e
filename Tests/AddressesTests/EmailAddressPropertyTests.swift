import Addresses
import LedgerTestSupport
import Testing

/// One form for the spellings of one address, and different forms for different ones.
@Suite struct EmailAddressPropertyTests {
    @Test(arguments: [
        [
            "m\u{FC}nchen.de", "M\u{DC}NCHEN.DE", "mu\u{308}nchen.de", "xn--mnchen-3ya.de",
            "XN--MNCHEN-3YA.de", "m\u{FC}nchen\u{3002}de", "m\u{FC}nchen\u{FF0E}de.",
            "\u{FF4D}\u{FC}nchen.\u{FF44}e", "\u{FF58}n\u{FF0D}-mnchen-3ya.de",
            "m\u{AD}\u{FC}nchen.de",
        ],
        ["stra\u{DF}e.de", "STRA\u{DF}E.de", "xn--strae-oqa.de"],
        [
            "\u{65E5}\u{672C}\u{8A9E}.jp", "\u{65E5}\u{672C}\u{8A9E}\u{FF61}\u{FF4A}\u{FF50}",
            "xn--wgv71a119e.jp",
        ],
        [
            "\u{3B2}\u{3CC}\u{3BB}\u{3BF}\u{3C2}.com",
            "\u{3B2}\u{3BF}\u{301}\u{3BB}\u{3BF}\u{3C2}.com",
            "xn--nxasmm1c.com",
        ],
        [
            "example.com", "\u{FF25}\u{FF38}\u{FF21}\u{FF2D}\u{FF30}\u{FF2C}\u{FF25}.com",
            "EXAMPLE.Com.",
            "exam\u{200B}ple.com", "e\u{24E7}ample.com",
        ],
    ])
    func `all spellings of a domain have one form`(spellings: [String]) throws {
        let forms = Set(try spellings.map { try EmailAddress("alice@\($0)").text })
        #expect(forms.count == 1, "\(forms)")
    }

    @Test func `a domain in ASCII has the form of its wide characters, which libidn2 maps`() {
        var random = SeededGenerator(seed: 2)
        let characters = ["a", "B", "x", "N", "z", "0", "9", "-", "."]
        for _ in 0..<2000 {
            let name = (0..<Int.random(in: 1...20, using: &random)).map { _ in
                characters.randomElement(using: &random) ?? ""
            }.joined()
            let wide = name.unicodeScalars.map { scalar in
                scalar == "." ? "." : Unicode.Scalar(scalar.value + 0xFEE0).map { "\($0)" } ?? ""
            }.joined()
            let form = try? EmailAddress("a@\(name).com")
            #expect(form == (try? EmailAddress("a@\(wide).com")), "\(name)")
        }
    }

    /// Pairs that look alike or that only older rules take for the same domain.
    @Test(arguments: [
        ("apple.com", "\u{430}pple.com"), ("apple.com", "\u{430}\u{440}\u{440}\u{4CF}\u{435}.com"),
        ("google.com", "g\u{3BF}ogle.com"), ("paypal.com", "p\u{251}ypal.com"),
        ("strasse.de", "stra\u{DF}e.de"), ("citibank.com", "c\u{131}tibank.com"),
        ("citibank.com", "c\u{130}tibank.com"), ("munchen.de", "m\u{FC}nchen.de"),
        ("\u{3B2}\u{3CC}\u{3BB}\u{3BF}\u{3C3}.com", "\u{3B2}\u{3CC}\u{3BB}\u{3BF}\u{3C2}.com"),
        ("ab.com", "a-b.com"), ("ll.cat", "l\u{B7}l.cat"), ("0rg.com", "org.com"),
    ])
    func `domains that look alike stay different`(one: String, other: String) throws {
        let first = try EmailAddress("alice@\(one)")
        let second = try EmailAddress("alice@\(other)")
        #expect(first != second)
        #expect(first.domain.utf8.allSatisfy { $0 < 0x80 })
        #expect(second.domain.utf8.allSatisfy { $0 < 0x80 })
    }

    @Test func `local parts that look alike stay different`() throws {
        let alice = try EmailAddress("alice@example.com", localPart: .any)
        for localPart in [
            "\u{430}lice", "\u{FF41}lice", "al\u{131}ce", "al\u{130}ce", "\u{E1}lice", "al.ice",
            "alice+a",
            "\u{1D44E}lice",
        ] {
            let other = try EmailAddress("\(localPart)@example.com", localPart: .any)
            #expect(other != alice, "\(localPart)")
        }
    }

    @Test func `no character vanishes from a domain but those that UTS 46 ignores`() throws {
        let plain = try EmailAddress("a@ab.com")
        for value in (0..<0x3000).map(UInt32.init) + stride(from: 0x3000, to: 0x11_0000, by: 61) {
            guard let character = Unicode.Scalar(value) else { continue }
            let typed = "a@a\(character)b.com"
            guard let address = try? EmailAddress(typed) else { continue }
            #expect(try EmailAddress(address.text) == address, "\(value)")
            #expect(address.text.utf8.allSatisfy { 0x21..<0x7F ~= $0 }, "\(value)")
            let isIgnored = character.properties.isDefaultIgnorableCodePoint
            #expect((address == plain) == isIgnored, "\(value)")
        }
    }

    @Test func `addresses differ exactly when they differ in more than case`() throws {
        var random = SeededGenerator(seed: 1)
        let atoms = ["a", "b", "A", "B", "é", "É", "e\u{301}", ".", "+", "-", "1"]
        let labels = ["a", "A", "é", "É", "e\u{301}", "xn--9ca", "ß", "ss", "1"]
        var spellings: [String: String] = [:]
        for _ in 0..<3000 {
            let localPart = pick(1...3, of: atoms, &random).joined()
            let domain = pick(1...3, of: labels, &random).joined(separator: ".")
            guard let address = try? EmailAddress("\(localPart)@\(domain).b", localPart: .any)
            else { continue }
            // Swift compares by canonical equivalence, like NFC.
            let isASCII = localPart.utf8.allSatisfy { $0 < 0x80 }
            let expected =
                (isASCII ? localPart.lowercased() : localPart) + "@"
                + domain.lowercased().replacing("xn--9ca", with: "é")
            let known = spellings.updateValue(expected, forKey: address.text)
            #expect(known == nil || known == expected, "\(address.text)")
            #expect(try EmailAddress(address.text, localPart: .any) == address)
        }
        #expect(spellings.count > 500)
        #expect(Set(spellings.values).count == spellings.count)
    }

    private func pick(
        _ counts: ClosedRange<Int>, of parts: [String], _ random: inout SeededGenerator
    ) -> [String] {
        (0..<Int.random(in: counts, using: &random))
            .compactMap { _ in parts.randomElement(using: &random) }
    }
}
