internal import Addresses
package import Ledger

/// The parts before the `@` that a tenant takes in the e-mail addresses that people type and files have.
///
/// It decides which texts are addresses, and nothing after that: commands and events have the canonical form. So it
/// is no rule that the log records.
package enum EmailLocalParts: String, Sendable, CaseIterable {
    /// ASCII alone.
    case ascii
    /// Letters of any script as well (RFC 6531).
    case any

    /// Returns the canonical form of a typed address; nil for a text that is no address of the kind.
    package func canonical(_ typed: String, _ kind: AddressKind = .email) -> String? {
        switch kind {
        case .email: try? EmailAddress(typed, localPart: self == .any ? .any : .ascii).text
        case .phone: CodeSettings.number(typed)
        }
    }
}
