/// The reverse proxies whose word about the client's address is taken.
package struct TrustedProxies: Sendable {
    /// A request that claims to have come through more proxies than this is not followed further.
    static let hopsMax = 32

    private let networks: [IPNetwork]

    /// Reads addresses and CIDR networks separated by commas; nil when one of them is neither.
    ///
    /// An empty list trusts nobody.
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

    /// The address of the client: the right-most one that no trusted proxy has.
    ///
    /// Reads `X-Forwarded-For` from its end, the only part that a client can't write, and only
    /// while the hop that wrote it is trusted. An entry that is no address ends the search at the
    /// hop before it.
    ///
    /// - Parameters:
    ///   - peer: The numeric address of the TCP peer in its usual form, as requests have it.
    ///   - forwardedFor: The values of every `X-Forwarded-For` field, in order.
    /// - Returns: A numeric address, IPv4-mapped ones as IPv4; the peer itself if it is no address.
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

    /// Reads one entry; some proxies add the port, and then put brackets around an IPv6 address.
    private static func address(_ entry: Substring) -> IPAddress? {
        var text = ASCII.trimmed(entry)
        if let (host, _) = ListenAddress.split(text) { return IPAddress(host) }
        if text.hasPrefix("["), text.hasSuffix("]") { text = text.dropFirst().dropLast() }
        return IPAddress(text)
    }
}
