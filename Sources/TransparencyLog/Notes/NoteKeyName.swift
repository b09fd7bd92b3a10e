/// The name of a key that signs notes; the name of a log's own key is the log's origin.
///
/// At least one character; no white space, no plus sign and no control character.
package struct NoteKeyName: Hashable, Sendable, CustomStringConvertible {
    /// The name.
    package let description: String

    /// Reads a name; nil when a note cannot carry it.
    package init?(_ text: String) {
        let isFit = text.unicodeScalars.allSatisfy { scalar in
            !scalar.properties.isWhitespace && scalar != "+" && scalar.value >= 0x20
        }
        guard !text.isEmpty, isFit else { return nil }
        description = text
    }

    /// Compares bytes; `String` would also equate canonically equivalent texts.
    package static func == (left: NoteKeyName, right: NoteKeyName) -> Bool {
        left.description.utf8.elementsEqual(right.description.utf8)
    }

    /// Hashes the bytes of the name.
    package func hash(into hasher: inout Hasher) {
        for byte in description.utf8 {
            hasher.combine(byte)
        }
    }
}
