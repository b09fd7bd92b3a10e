/// The address that an endpoint may have: `https`, or `http` to this machine, and nothing secret in it.
package struct WebhookAddress: Sendable {
    /// Why a text is no such address.
    package enum Flaw: Error {
        /// It is no address, or has another scheme.
        case form
        /// A user or a password stands before the host: lists and backups would show it.
        case userInfo
        /// It has a fragment, which no request carries.
        case fragment
    }

    /// The host in lower case, an IPv6 address without brackets, an IPv4 address in its usual form.
    package let host: String

    /// Reads an address.
    ///
    /// - Throws: what is wrong with it.
    package init(_ text: String) throws(Flaw) {
        guard let address = WebAddress(text) else { throw .form }
        let sections = text.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
        let authority = sections.last?.prefix { !"/?#".contains($0) } ?? ""
        guard !authority.contains("@") else { throw .userInfo }
        guard !text.contains("#") else { throw .fragment }
        host = address.host
    }

    /// An address that was stored, without what it may not have: older releases took it.
    package static func shown(_ text: String) -> String {
        WebAddress(text)?.withoutSecrets() ?? ""
    }
}
