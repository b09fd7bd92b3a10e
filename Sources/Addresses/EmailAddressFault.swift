/// The reasons why a text is not an e-mail address.
package enum EmailAddressFault: String, Error, Sendable, CaseIterable {
    /// Longer than an address may be.
    case tooLong
    /// No `@`.
    case noAtSign
    /// Nothing before the `@`.
    case localPartEmpty
    /// More than 64 bytes before the `@`.
    case localPartTooLong
    /// A dot at the beginning, at the end or after another dot, which would need quotation marks.
    case localPartDot
    /// White space, a control, a mark without a letter, or a character that would need quotation marks.
    case localPartCharacter
    /// A character outside ASCII, where these are not accepted.
    case localPartScript
    /// An IP address instead of a domain.
    case domainIsIPAddress
    /// A character that no domain has, or an invalid A-label.
    case domainCharacter
    /// A label that is empty or longer than 63 bytes, or begins or ends with a hyphen.
    case domainLabel
    /// A domain of more than 253 bytes.
    case domainTooLong
    /// A single label, such as `localhost`.
    case domainWithoutDot
}
