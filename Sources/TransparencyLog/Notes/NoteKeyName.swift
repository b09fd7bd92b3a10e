/// The name of a key that signs notes; for a log's own key, the log's origin.
///
/// At least one character; no white space, no plus sign and no control character.
package struct NoteKeyName: Hashable, Sendable, CustomStringConvertible {
    /// The name.
    package let description: String

    /// Takes a name; nil when a note can't carry it.
    package init?(_ text: String) {
        let isFit = text.unicodeScalars.allSatisfy { scalar in
            !scalar.properties.isWhitespace && scalar != "+" && scalar.value >= 0x20
        }
        guard !text.isEmpty, isFit else { return nil }
        description = text
    }

    /// Names are equal when their bytes are; texts would be when they look alike.
    package static func == (left: NoteKeyName, right: NoteKeyName) -> Bool {
        left.description.utf8.elementsEqual(right.description.utf8)
    }

    /// Feeds the bytes of the name.
    package func hash(into hasher: inout Hasher) {
        for byte in description.utf8 {
            hasher.combine(byte)
        }
    }
}
