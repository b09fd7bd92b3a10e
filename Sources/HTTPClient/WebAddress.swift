internal import CCurl

/// A URL that may be requested; owns libcurl's parsed form.
///
/// Transfers use the parsed form, not the text, so that exactly the checked URL is requested.
@safe package struct WebAddress: ~Copyable {
    private static let hostsOfThisMachine = ["127.0.0.1", "[::1]", "localhost"]

    /// libcurl's parsed form; lives as long as this value.
    let parts: OpaquePointer

    /// The scheme in lower case, `https` or `http`.
    let scheme: String

    /// The host in lower case as parsed by libcurl, an IPv6 address without brackets.
    package let host: String

    /// Whether the host is this machine.
    let isLoopback: Bool

    /// Parses a URL; nil unless it is `https`, or `http` to this machine.
    package init?(_ text: String) {
        guard WebAddress.namesHost(text), let made = unsafe curl_url() else {
            return nil
        }
        guard
            unsafe curl_url_set(made, CURLUPART_URL, text, 0) == CURLUE_OK,
            let scheme = unsafe WebAddress.part(CURLUPART_SCHEME, of: made),
            let host = unsafe WebAddress.part(CURLUPART_HOST, of: made),
            case let isLoopback = WebAddress.hostsOfThisMachine.contains(host),
            scheme == "https" || (scheme == "http" && isLoopback)
        else {
            unsafe curl_url_cleanup(made)
            return nil
        }
        unsafe parts = made
        self.scheme = scheme
        self.host = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        self.isLoopback = isLoopback
    }

    /// Returns the URL without user, password and fragment.
    package consuming func withoutSecrets() -> String? {
        for part in [CURLUPART_USER, CURLUPART_PASSWORD, CURLUPART_OPTIONS, CURLUPART_FRAGMENT] {
            unsafe curl_url_set(parts, part, nil, 0)
        }
        return unsafe WebAddress.text(CURLUPART_URL, of: parts)
    }

    deinit {
        unsafe curl_url_cleanup(parts)
    }

    /// Checks whether exactly two slashes precede the host; libcurl also accepts one and three.
    private static func namesHost(_ text: String) -> Bool {
        let sections = text.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        return sections.count >= 3 && sections[1].isEmpty && !sections[2].isEmpty
            && !text.utf8.contains(0)
    }

    private static func part(_ part: CURLUPart, of parts: OpaquePointer) -> String? {
        unsafe text(part, of: parts)?.lowercased()
    }

    private static func text(_ part: CURLUPart, of parts: OpaquePointer) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard
            unsafe curl_url_get(parts, part, &text, 0) == CURLUE_OK, let text = unsafe text
        else {
            return nil
        }
        defer { unsafe curl_free(text) }
        return unsafe String(cString: text)
    }
}
