import Testing
import UnicodeText

/// Normalization Form C and the categories of characters.
@Suite struct UnicodeTextTests {
    @Test(arguments: [
        ("", ""), ("plain\0", "plain\0"), ("e\u{301}", "\u{E9}"), ("\u{E9}", "\u{E9}"),
        ("\u{212B}", "\u{C5}"), ("\u{1100}\u{1161}\u{11A8}", "\u{AC01}"),
        ("a\u{323}\u{307}", "\u{1EA1}\u{307}"), ("a\u{307}\u{323}", "\u{1EA1}\u{307}"),
        // Compatibility characters stay, characters that composition excludes do not.
        ("\u{FB01}\u{FF41}", "\u{FB01}\u{FF41}"), ("\u{FB2C}", "\u{5E9}\u{5BC}\u{5C1}"),
        ("\u{1D160}", "\u{1D158}\u{1D165}\u{1D16E}"),
    ])
    func `texts are composed`(text: String, composed: String) {
        #expect(UnicodeText.nfc(text).utf8.elementsEqual(composed.utf8))
    }

    @Test func `normalization keeps the equality of texts and changes nothing twice`() {
        for value in stride(from: UInt32(0x80), to: 0x3_0000, by: 7) {
            guard let character = Unicode.Scalar(value) else { continue }
            let text = "a\(character)\u{301}\u{323}b"
            let composed = UnicodeText.nfc(text)
            #expect(UnicodeText.nfc(composed).utf8.elementsEqual(composed.utf8), "\(value)")
            // Swift compares by canonical equivalence.
            #expect(composed == text, "\(value)")
        }
    }

    @Test func `long texts are composed`() {
        let text = String(repeating: "\u{1D160}e\u{301}", count: 20_000)
        let composed = String(repeating: "\u{1D158}\u{1D165}\u{1D16E}\u{E9}", count: 20_000)
        #expect(UnicodeText.nfc(text).utf8.elementsEqual(composed.utf8))
    }

    @Test func `letters, marks and digits are word characters`() {
        let words = "aZ9\u{E9}\u{436}\u{5D0}\u{E33}\u{65E5}\u{301}\u{663}\u{FF41}"
        for character in words.unicodeScalars {
            #expect(UnicodeText.isWordCharacter(character), "\(character)")
        }
        let others =
            " .-_\0\u{A0}\u{AD}\u{200D}\u{202E}\u{2028}\u{20AC}\u{E000}\u{378}\u{1F600}"
            // Letters and marks without a glyph.
            + "\u{34F}\u{115F}\u{1160}\u{3164}\u{FFA0}\u{17B4}\u{180B}\u{FE0F}\u{E0100}"
        for character in others.unicodeScalars {
            #expect(!UnicodeText.isWordCharacter(character), "\(character.value)")
        }
    }

    @Test func `marks are told from letters, digits and symbols`() {
        for character in "\u{301}\u{E31}\u{20DD}\u{903}".unicodeScalars {
            #expect(UnicodeText.isMark(character), "\(character.value)")
        }
        for character in "a9.+\u{E9}\u{E33}\u{200D}\u{378}".unicodeScalars {
            #expect(!UnicodeText.isMark(character), "\(character.value)")
        }
    }

    @Test func `characters without a glyph are not visible`() {
        let visible = "aZ9 \u{A0}\u{3000}\u{301}\u{2163}\u{A9}\u{2019}\u{1F600}\u{65E5}"
        for character in visible.unicodeScalars {
            #expect(UnicodeText.isVisible(character), "\(character.value)")
        }
        let others =
            "\0\n\u{7F}\u{85}\u{AD}\u{200B}\u{200D}\u{2028}\u{E000}\u{378}\u{FE0F}\u{3164}\u{FFFF}"
        for character in others.unicodeScalars {
            #expect(!UnicodeText.isVisible(character), "\(character.value)")
        }
    }
}
