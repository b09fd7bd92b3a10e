internal import CUnistring
internal import Glibc

/// Properties of texts as libunistring knows them.
///
/// One library answers all questions, so that they have one version of Unicode: the NFC form of characters
/// that a version does not know may change with a later one.
package enum UnicodeText {
    /// Returns the text in Normalization Form C (UAX #15).
    package static func nfc(_ text: String) -> String {
        let source = Array(text.utf8)
        guard source.contains(where: { $0 >= 0x80 }) else { return text }
        // NFC has at most three times the bytes; the library allocates only what it can't fit.
        var count = source.count * 3
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            let result = unsafe cunistring_nfc(source, source.count, buffer.baseAddress, &count)
            unsafe precondition(
                result != nil && result == buffer.baseAddress, "libunistring has no memory")
            filled = count
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Tells whether a character is a letter, a mark or a decimal digit that is not ignored where a font lacks
    /// it; false for unassigned ones.
    package static func isWordCharacter(_ character: Unicode.Scalar) -> Bool {
        cunistring_is_word_character(character.value)
    }

    /// Tells whether a character is a mark, which is shown with the character before it.
    package static func isMark(_ character: Unicode.Scalar) -> Bool {
        cunistring_is_mark(character.value)
    }

    /// Tells whether a character is a letter, mark, number, punctuation, symbol or space that is not ignored
    /// where a font lacks it; false for unassigned ones.
    package static func isVisible(_ character: Unicode.Scalar) -> Bool {
        cunistring_is_visible(character.value)
    }
}
