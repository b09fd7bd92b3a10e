/// The reverse proxies that are trusted to report the client's address.
package struct TrustedProxies: Sendable {
    /// The most hops that are evaluated.
    static let hopsMax = 32

    private let networks: [IPNetwork]

    /// Parses comma-separated addresses and CIDR networks; nil when one of them is malformed.
    ///
    /// An empty list trusts no proxy.
    package init?(_ list: String) {
        var networks: [IPNetwork] = []
        for part in list.split(separator: ",", omittingEmptySubsequences: false) {
            let text = ASCII.trimmed(part)
            if text.isEmpty {
                guard ASCII.trimmed(list[...]).isEmpty else { return nil }
                continue
            }
            guard let network = IPNetwork(text) else { return nil }
            networks.append(network)
        }
        self.networks = networks
    }

    /// Returns the address of the client: the right-most one that is not a trusted proxy's.
    ///
    /// Reads `X-Forwarded-For` from its end, the only part that clients can't forge, and only while the
    /// hop that wrote it is trusted. A malformed entry ends the search at the previous hop.
    ///
    /// - Parameters:
    ///   - peer: The numeric address of the TCP peer, as in requests.
    ///   - forwardedFor: The values of every `X-Forwarded-For` field, in order.
    /// - Returns: A numeric address, IPv4-mapped ones as IPv4; the peer itself if it is malformed.
    package func clientAddress(peer: String, forwardedFor: [String]) -> String {
        guard !networks.isEmpty, var client = IPAddress(peer) else { return peer }
        var hops = 0
        for field in forwardedFor.reversed() {
            for entry in field.split(separator: ",").reversed() {
                guard hops < Self.hopsMax, isTrusted(client), let next = Self.address(entry) else {
                    return client.text
                }
                client = next
                hops += 1
            }
        }
        return client.text
    }

    private func isTrusted(_ address: IPAddress) -> Bool {
        networks.contains { $0.contains(address) }
    }

    /// Parses an entry; some proxies add the port, and then brackets around an IPv6 address.
    private static func address(_ entry: Substring) -> IPAddress? {
        var text = ASCII.trimmed(entry)
        if let (host, _) = ListenAddress.split(text) { return IPAddress(host) }
        if text.hasPrefix("["), text.hasSuffix("]") { text = text.dropFirst().dropLast() }
        return IPAddress(text)
    }
}
