/// A host and a port to listen on, as configuration spells it: `127.0.0.1:8080`, `[::1]:8080`.
package struct ListenAddress: Sendable, Equatable {
    /// The numeric address, without brackets.
    package let host: String
    /// The port; 0 asks the system for a free one.
    package let port: UInt16

    /// Reads an address; nil unless it is a numeric host, a colon and a port of decimal digits.
    ///
    /// The name `localhost` is taken for 127.0.0.1; no other name is looked up.
    package init?(_ text: String) {
        let name = "localhost:"
        let numeric = text.hasPrefix(name) ? "127.0.0.1:" + text.dropFirst(name.count) : text
        guard let (host, port) = Self.split(numeric[...]) else { return nil }
        self.host = String(host)
        self.port = port
    }

    /// True when only this machine can reach the address.
    package var isLoopback: Bool { IPAddress(host)?.isLoopback ?? false }

    /// Cuts a numeric address and its port apart; an IPv6 address, and no other, stands in
    /// brackets.
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
