internal import CCurl

/// An address that may be asked over the web; owns libcurl's reading of it.
///
/// The transfer is given this reading, not the text, so that what was checked is what is asked.
@safe struct WebAddress: ~Copyable {
    private static let hostsOfThisMachine = ["127.0.0.1", "[::1]", "localhost"]

    /// libcurl's reading; lives as long as the address.
    let parts: OpaquePointer

    /// The scheme in lower case, `https` or `http`.
    let scheme: String

    /// The host in lower case as libcurl reads it, an IPv6 address without brackets.
    let host: String

    /// Whether the host is this machine.
    let isOfThisMachine: Bool

    /// Reads an address; nil unless it is `https`, or `http` to this machine.
    init?(_ text: String) {
        guard WebAddress.namesHost(text), let made = unsafe curl_url() else {
            return nil
        }
        guard
            unsafe curl_url_set(made, CURLUPART_URL, text, 0) == CURLUE_OK,
            let scheme = unsafe WebAddress.part(CURLUPART_SCHEME, of: made),
            let host = unsafe WebAddress.part(CURLUPART_HOST, of: made),
            case let isOfThisMachine = WebAddress.hostsOfThisMachine.contains(host),
            scheme == "https" || (scheme == "http" && isOfThisMachine)
        else {
            unsafe curl_url_cleanup(made)
            return nil
        }
        unsafe parts = made
        self.scheme = scheme
        self.host = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        self.isOfThisMachine = isOfThisMachine
    }

    /// The address without user, password and fragment.
    consuming func withoutSecrets() -> String? {
        for part in [CURLUPART_USER, CURLUPART_PASSWORD, CURLUPART_OPTIONS, CURLUPART_FRAGMENT] {
            unsafe curl_url_set(parts, part, nil, 0)
        }
        return unsafe WebAddress.text(CURLUPART_URL, of: parts)
    }

    deinit {
        unsafe curl_url_cleanup(parts)
    }

    /// Whether a host stands between two slashes and the path; libcurl takes one slash and three too.
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
