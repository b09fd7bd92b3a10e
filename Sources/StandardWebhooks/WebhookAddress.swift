import HTTPClient

/// A valid URL of a webhook endpoint: `https`, or `http` to this machine, without secrets.
package struct WebhookAddress: Sendable {
    /// The reason why a text is not a valid URL.
    package enum Flaw: Error {
        /// It is not a URL or has another scheme.
        case form
        /// It contains a user or a password, which lists and backups would expose.
        case userInfo
        /// It has a fragment, which is not part of a request.
        case fragment
    }

    /// The host in lower case, an IPv6 address without brackets, an IPv4 address in its usual form.
    package let host: String

    /// Parses a URL.
    ///
    /// - Throws: the flaw.
    package init(_ text: String) throws(Flaw) {
        guard let address = WebAddress(text) else { throw .form }
        let sections = text.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
        let authority = sections.last?.prefix { !"/?#".contains($0) } ?? ""
        guard !authority.contains("@") else { throw .userInfo }
        guard !text.contains("#") else { throw .fragment }
        host = address.host
    }

    /// Returns a stored URL without secrets, which older releases accepted.
    package static func shown(_ text: String) -> String {
        WebAddress(text)?.withoutSecrets() ?? ""
    }
}
