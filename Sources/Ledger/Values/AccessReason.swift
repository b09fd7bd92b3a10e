/// The rules for the reason of an access.
package enum AccessReason {
    /// The maximum length of a reason, in characters.
    package static let charactersMax = 255
    /// The maximum length of a reason in UTF-8, in bytes.
    package static let bytesMax = 4 * charactersMax
    /// The rule in words.
    package static let form =
        "1 to \(charactersMax) characters, some visible and none a control character"

    /// Checks whether a text is a valid reason.
    ///
    /// Characters that change the direction of what follows are refused: a reason stands in lists, whose other words
    /// they would move. Spaces at the ends, and a text that shows nothing, would be no reason to its reader.
    package static func allows(_ text: String) -> Bool {
        // By code points: a grapheme may have any number of them.
        guard let first = text.unicodeScalars.first, let last = text.unicodeScalars.last else {
            return false
        }
        return text.unicodeScalars.count <= charactersMax && text.utf8.count <= bytesMax
            && ![first, last].contains { $0.properties.generalCategory == .spaceSeparator }
            && text.unicodeScalars.contains(where: isVisible)
            && text.unicodeScalars.allSatisfy { scalar in
                switch scalar.properties.generalCategory {
                case .control, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse,
                    .unassigned:
                    false
                default: !scalar.properties.isBidiControl
                }
            }
    }

    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .format, .spaceSeparator: false
        default: !scalar.properties.isDefaultIgnorableCodePoint
        }
    }
}
