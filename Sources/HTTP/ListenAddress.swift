/// A host and a port to listen on, in the form `127.0.0.1:8080` or `[::1]:8080`.
package struct ListenAddress: Sendable, Equatable {
    /// The numeric address, without brackets.
    package let host: String
    /// The port; 0 asks the system for a free one.
    package let port: UInt16

    /// Parses an address; nil unless it is a numeric host, a colon and a decimal port.
    ///
    /// The name `localhost` means 127.0.0.1; other names are not resolved.
    package init?(_ text: String) {
        let name = "localhost:"
        let numeric = text.hasPrefix(name) ? "127.0.0.1:" + text.dropFirst(name.count) : text
        guard let (host, port) = Self.split(numeric[...]) else { return nil }
        self.host = String(host)
        self.port = port
    }

    /// Whether only this machine can reach the address.
    package var isLoopback: Bool { IPAddress(host)?.isLoopback ?? false }

    /// Splits a numeric address and its port; only IPv6 addresses have brackets.
    static func split(_ text: Substring) -> (host: Substring, port: UInt16)? {
        guard let colon = text.lastIndex(of: ":") else { return nil }
        let digits = text[text.index(after: colon)...].utf8
        guard
            (1...5).contains(digits.count),
            digits.allSatisfy({ $0 >= ASCII.zero && $0 <= ASCII.nine }),
            let port = UInt16(Substring(digits))
        else { return nil }
        var host = text[..<colon]
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        if isBracketed { host = host.dropFirst().dropLast() }
        guard IPAddress(host) != nil, host.contains(":") == isBracketed else { return nil }
        return (host, port)
    }
}
