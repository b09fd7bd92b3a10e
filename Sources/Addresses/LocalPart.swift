internal import UnicodeText

/// The part of an e-mail address before the `@`.
enum LocalPart {
    private static let bytesMax = 64
    /// The characters besides letters and digits that need no quotation marks (RFC 5322, section 3.2.3).
    private static let symbols = Set("!#$%&'*+-/=?^_`{|}~".utf8)

    /// Returns the canonical form: ASCII in lower case, anything else in NFC, whose case is significant.
    ///
    /// The case of other scripts depends on the language, and some ASCII letters have no composed form in
    /// one case only, so that folding them alone would give equivalent texts different forms. Letters that look
    /// alike stay different, as they are for the mail server.
    static func canonical(
        _ typed: Substring, in script: LocalPartScript
    ) throws(EmailAddressFault) -> String {
        guard script == .any || isASCII(typed) else { throw .localPartScript }
        // NFC replaces a few characters by ASCII, such as the Kelvin sign.
        let normal = UnicodeText.nfc(String(typed))
        let text = isASCII(normal) ? normal.lowercased() : normal
        guard !text.isEmpty else { throw .localPartEmpty }
        guard text.utf8.count <= bytesMax else { throw .localPartTooLong }
        var isAfterWord = false
        for character in text.unicodeScalars {
            // A mark at the beginning or on a symbol would be shown on what stands before it.
            guard isAllowed(character), isAfterWord || !UnicodeText.isMark(character) else {
                throw .localPartCharacter
            }
            isAfterWord = UnicodeText.isWordCharacter(character)
        }
        let dot = UInt8(ascii: ".")
        let atoms = text.utf8.split(separator: dot, omittingEmptySubsequences: false)
        guard !atoms.contains(where: \.isEmpty) else { throw .localPartDot }
        return text
    }

    private static func isASCII(_ text: some StringProtocol) -> Bool {
        text.utf8.allSatisfy { $0 < 0x80 }
    }

    private static func isAllowed(_ character: Unicode.Scalar) -> Bool {
        guard character.isASCII else { return UnicodeText.isWordCharacter(character) }
        let byte = UInt8(truncatingIfNeeded: character.value)
        return ASCIIClasses.isLetterOrDigit(byte) || byte == UInt8(ascii: ".")
            || symbols.contains(byte)
    }
}
