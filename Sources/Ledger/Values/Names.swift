/// One isolated namespace of accounts.
///
/// Lower-case letters, digits, `-` and `_`, at most 63 characters, beginning with a letter or a digit,
/// so that it needs no escape in a path, in JSON or in a log line.
package struct TenantID: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The tenant that exists in every ledger.
    package static let `default` = TenantID(unchecked: "default")

    package let description: String

    /// Reads a name; nil when it breaks the grammar.
    package init?(_ text: String) {
        guard isName(text, lengthMax: 63, punctuation: "-_") else { return nil }
        description = text
    }

    private init(unchecked text: String) {
        description = text
    }

    package static func < (left: Self, right: Self) -> Bool {
        left.description.utf8.lexicographicallyPrecedes(right.description.utf8)
    }
}

/// The configured name of a kind of identity, such as `apple` or `google`.
///
/// Lower-case letters, digits, `-`, `_` and `.`, at most 63 characters, beginning with a letter or a
/// digit.
package struct ProviderName: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let description: String

    /// Reads a name; nil when it breaks the grammar.
    package init?(_ text: String) {
        guard isName(text, lengthMax: 63, punctuation: "-_.") else { return nil }
        description = text
    }

    package static func < (left: Self, right: Self) -> Bool {
        left.description.utf8.lexicographicallyPrecedes(right.description.utf8)
    }
}

private func isName(_ text: String, lengthMax: Int, punctuation: String) -> Bool {
    guard let first = text.utf8.first, text.utf8.count <= lengthMax,
        isLowercaseLetter(first) || isDigit(first)
    else { return false }
    return text.utf8.allSatisfy {
        isLowercaseLetter($0) || isDigit($0) || punctuation.utf8.contains($0)
    }
}

private func isLowercaseLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
}

private func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
}
