internal import Encodings

/// Links in messages.
package enum MessageLink {
    /// Returns a link whose secrets stand in the fragment, which browsers send to no server.
    ///
    /// - Parameters:
    ///   - base: `LEDGER_PUBLIC_URL` or the tenant's listed address, without a slash at its end.
    ///   - path: The page, with a slash at its beginning.
    ///   - secrets: Names and values, in order.
    /// - Returns: The link; nil when it is too long or no web address.
    package static func make(
        base: String, path: String, secrets: KeyValuePairs<String, String>
    ) -> String? {
        let fragment = secrets.map { "\(encoded($0))=\(encoded($1))" }.joined(separator: "&")
        let link = base + path + (fragment.isEmpty ? "" : "#" + fragment)
        return MessagePlaceholder.link.accepts(link) ? link : nil
    }

    /// Checks for printable ASCII that begins with `https://`, or with `http://` and this machine.
    package static func isAcceptable(_ text: String) -> Bool {
        guard
            text.utf8.allSatisfy({
                (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x3C && $0 != 0x3E
            })
        else { return false }
        if text.hasPrefix("https://") { return text.utf8.count > 8 }
        return ["127.0.0.1", "localhost", "[::1]"].contains { host in
            let start = "http://" + host
            let next = text.dropFirst(start.count).first
            return text.hasPrefix(start) && (next == nil || ":/#?".contains(next ?? "/"))
        }
    }

    /// Percent-encodes all but unreserved characters.
    private static func encoded(_ text: String) -> String {
        PercentEncoding.encode(text)
    }
}
