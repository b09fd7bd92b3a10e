internal import Encodings

/// The service that passkeys are made for: its id, which is a domain, and the origins of its pages and apps.
package struct RelyingParty: Hashable, Sendable {
    /// The domain that authenticators bind credentials to, such as `example.com`.
    package let id: String
    /// The name that browsers show.
    package let name: String
    /// The origins of the pages and apps that may use the credentials, such as `https://login.example.com`.
    package let origins: [String]

    /// Checks the id and the origins; nil when one of them is not of the form below.
    ///
    /// - Parameters:
    ///   - id: a domain in lower case, international ones as A-labels.
    ///   - name: the name that browsers show.
    ///   - origins: at least one. Each is `https://` with the domain or a subdomain, or `http://` with
    ///     `localhost` or a subdomain, for development. A port other than the scheme's own follows. Or it is that of an
    ///     Android app, which the domain names in its `assetlinks.json`: `android:apk-key-hash:` and the base64url
    ///     SHA-256 of the app's certificate.
    package init?(id: String, name: String, origins: [String]) {
        guard
            Self.isDomain(id[...]), !name.isEmpty, !origins.isEmpty,
            origins.allSatisfy({ Self.isOrigin($0, below: id) })
        else { return nil }
        self.id = id
        self.name = name
        self.origins = origins
    }

    private static let appPrefix = "android:apk-key-hash:"
    private static let certificateHashBytes = 32

    private static func isDomain(_ text: Substring) -> Bool {
        let labels = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return text.utf8.count <= 253
            && labels.allSatisfy { label in
                (1...63).contains(label.count) && label.first != UInt8(ascii: "-")
                    && label.last != UInt8(ascii: "-")
                    && label.allSatisfy { byte in
                        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                            || byte == UInt8(ascii: "-")
                    }
            }
    }

    private static func isOrigin(_ origin: String, below domain: String) -> Bool {
        guard !origin.hasPrefix(appPrefix) else {
            let hash = Base64URL.decode(origin.dropFirst(appPrefix.count))
            return hash?.count == certificateHashBytes
        }
        let isSecure = origin.hasPrefix("https://")
        guard isSecure || origin.hasPrefix("http://") else { return false }
        let authority = origin.dropFirst(isSecure ? 8 : 7)
        let host = authority.prefix { $0 != ":" }
        let port = authority.dropFirst(host.count)
        let isBelow = host == domain || host.hasSuffix("." + domain)
        let isLocal = host == "localhost" || host.hasSuffix(".localhost")
        return isDomain(host) && isBelow && (isSecure || isLocal)
            && (port.isEmpty || isPort(port.dropFirst(), besides: isSecure ? 443 : 80))
    }

    /// Checks for a port as browsers write it: without leading zeros, and never the scheme's own.
    private static func isPort(_ text: Substring, besides own: Int) -> Bool {
        guard let port = UInt16(text), port > 0, String(port) == text else { return false }
        return Int(port) != own
    }
}
