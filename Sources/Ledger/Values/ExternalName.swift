/// The system in which accounts have external ids, such as `auth0`.
///
/// Lower-case letters, digits, `-`, `_` and `.`, at most 63 characters, beginning with a letter or a
/// digit, as in the name of a provider.
package struct NameSource: Hashable, Sendable, CustomStringConvertible {
    package let description: String

    /// Reads a name; nil when it breaks the grammar.
    package init?(_ text: String) {
        guard let name = ProviderName(text) else { return nil }
        description = name.description
    }
}

/// An account's id in another system.
package struct ExternalName: Hashable, Sendable {
    /// The maximum length of an id, in UTF-8 bytes.
    package static let idBytesMax = 255

    package let source: NameSource
    /// The id there: personal data, never part of an entry or a log line.
    package let id: String

    /// Creates a name; nil when the id is empty, too long or contains control characters.
    package init?(source: NameSource, id: String) {
        let bytes = id.utf8
        guard !bytes.isEmpty, bytes.count <= Self.idBytesMax,
            bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
        else { return nil }
        self.source = source
        self.id = id
    }

    /// Compares bytes: ids that Unicode calls equivalent are different in another system.
    package static func == (left: Self, right: Self) -> Bool {
        left.source == right.source && left.id.utf8.elementsEqual(right.id.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(source)
        // Equal values have the same bytes, hence the same string.
        hasher.combine(id)
    }
}

/// A name of an account in the log.
package struct HeldName: Hashable, Sendable {
    /// The position of the `AccountNamed`, which discloses the external id.
    package let position: LogPosition
    package let source: NameSource
    /// The account that got it; merges do not change it.
    package let account: AccountID

    /// Describes a name.
    package init(position: LogPosition, source: NameSource, account: AccountID) {
        self.position = position
        self.source = source
        self.account = account
    }
}
