internal import HTTP

/// An origin as browsers write it in `Origin` (RFC 6454, section 6.2): `https://app.example`,
/// `http://[::1]:3000`.
///
/// Browsers write lower-case letters, addresses in their canonical form, and no default port, so a
/// text that differs in any of these can never match.
enum WebOrigin {
    private static let labelBytesMax = 63
    private static let defaultPorts = ["http://": UInt16(80), "https://": 443]

    /// Checks whether a browser could send the text.
    static func isOne(_ text: String) -> Bool {
        guard let (scheme, defaultPort) = defaultPorts.first(where: { text.hasPrefix($0.key) })
        else { return false }
        let authority = text.dropFirst(scheme.count)
        // The colons of an IPv6 address stand inside its brackets.
        let afterHost = authority.lastIndex(of: "]") ?? authority.startIndex
        guard let colon = authority[afterHost...].firstIndex(of: ":") else {
            return isHost(authority)
        }
        let digits = authority[authority.index(after: colon)...]
        guard let port = UInt16(digits), String(port) == digits, port != 0 else { return false }
        return port != defaultPort && isHost(authority[..<colon])
    }

    private static func isHost(_ host: Substring) -> Bool {
        if host.hasPrefix("["), host.hasSuffix("]") {
            let address = host.dropFirst().dropLast()
            return address.contains(":") && IPAddress(address)?.text == String(address)
        }
        var labels = host.split(separator: ".", omittingEmptySubsequences: false)
        // A trailing dot names the DNS root.
        if labels.count > 1, labels.last == "" { labels.removeLast() }
        guard labels.allSatisfy(isLabel) else { return false }
        // Browsers read a host that ends in a number as an IPv4 address, or refuse it.
        let endsInNumber = labels.last?.utf8.allSatisfy { isDigit($0) } ?? false
        return !endsInNumber || IPAddress(host)?.text == String(host)
    }

    private static func isLabel(_ label: Substring) -> Bool {
        (1...labelBytesMax).contains(label.utf8.count)
            && label.utf8.allSatisfy { byte in
                isDigit(byte) || byte == UInt8(ascii: "-")
                    || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
            }
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
