internal import UnicodeText

/// The preparation of passwords: the profile OpaqueString of RFC 8265, section 4.2.
///
/// Spaces of other scripts become U+0020, the text is normalised (NFC), and characters outside of the
/// FreeformClass of RFC 8264 are refused: controls, unassigned ones (whose normal form could change), and
/// invisible ones. The context rules against confusable names do not apply, so that joiners of scripts and
/// emoji are allowed anywhere.
enum OpaqueString {
    /// Returns the form that is hashed; nil when a character is not allowed or nothing is left.
    static func prepare(_ text: String) -> String? {
        guard !text.isEmpty else { return nil }
        if text.utf8.allSatisfy({ 0x20...0x7E ~= $0 }) { return text }
        var mapped = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            let isSpace = scalar.properties.generalCategory == .spaceSeparator
            mapped.append(isSpace ? " " : scalar)
        }
        let normalized = UnicodeText.nfc(String(mapped))
        return normalized.unicodeScalars.allSatisfy(isAllowed) ? normalized : nil
    }

    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        let isJoiner = scalar == "\u{200C}" || scalar == "\u{200D}"
        return isJoiner || UnicodeText.isVisible(scalar) && !isOldHangul(scalar)
    }

    /// Conjoining letters that are left after the normalisation, which composes those of modern Korean.
    private static func isOldHangul(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x1100...0x11FF, 0xA960...0xA97F, 0xD7B0...0xD7FF: true
        default: false
        }
    }
}
