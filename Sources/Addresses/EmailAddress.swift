/// An e-mail address in its canonical form.
///
/// Two addresses have the same form when their domains are spellings of one domain and their local parts are
/// equal: those in ASCII but for case, those with other characters in NFC, where the case of all letters is
/// significant. Dots and tags after a `+` are significant, because most servers distinguish them. Mail for the
/// person goes to this form, never to a typed text.
package struct EmailAddress: Hashable, Sendable {
    /// The version of these rules, for storing beside the form.
    package static let formVersion = 1
    /// The maximum length of the form in bytes (RFC 5321, section 4.5.3.1.3, without the brackets).
    package static let bytesMax = 254
    /// The maximum length of a typed text: a domain is often shorter as A-labels.
    package static let typedBytesMax = 1024

    /// The part before the last `@`.
    package let localPart: String
    /// The domain as A-labels in lower case, without a dot at its end.
    package let domain: String

    /// The whole address.
    package var text: String {
        localPart + "@" + domain
    }

    /// Reads a typed address.
    ///
    /// - Parameters:
    ///   - typed: the bare address, without a name, brackets, comments or white space.
    ///   - script: the characters that local parts may have.
    /// - Throws: the first reason why it is not an address.
    package init(
        _ typed: String, localPart script: LocalPartScript = .ascii
    ) throws(EmailAddressFault) {
        guard typed.utf8.count <= Self.typedBytesMax else { throw .tooLong }
        guard let at = typed.utf8.lastIndex(of: UInt8(ascii: "@")) else { throw .noAtSign }
        localPart = try LocalPart.canonical(typed[..<at], in: script)
        domain = try DomainName.canonical(typed[typed.utf8.index(after: at)...])
        guard text.utf8.count <= Self.bytesMax else { throw .tooLong }
    }
}

/// The characters that local parts may have.
package enum LocalPartScript: Sendable, CaseIterable {
    /// ASCII only, as most servers have.
    case ascii
    /// Letters of any script (RFC 6531).
    case any
}
