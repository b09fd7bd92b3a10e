/// A network: the addresses with the same prefix.
struct IPNetwork {
    let address: IPAddress
    let prefixBits: Int

    /// Parses an address or a CIDR network; nil for anything else.
    init?(_ text: some StringProtocol) {
        let parts = Substring(text).split(
            separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = IPAddress(parts[0]) else { return nil }
        self.address = address
        guard parts.count == 2 else {
            prefixBits = address.bitCount
            return
        }
        // The prefix of a mapped network would count from bit 96; such networks are not supported.
        let isMapped = address.isIPv4 && parts[0].contains(":")
        guard
            !isMapped, (1...3).contains(parts[1].utf8.count),
            parts[1].utf8.allSatisfy({ $0 >= ASCII.zero && $0 <= ASCII.nine }),
            let bits = Int(parts[1]), bits <= address.bitCount
        else { return nil }
        prefixBits = bits
    }

    /// Checks whether the network contains an address.
    func contains(_ other: IPAddress) -> Bool {
        address.shares(prefixBits: prefixBits, with: other)
    }
}

extension IPAddress {
    /// Networks that are not public: the special-purpose registries of IANA (RFC 6890), and IPv6 networks
    /// that embed IPv4 addresses.
    private static let special = [
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16",
        "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.168.0.0/16", "198.18.0.0/15",
        "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4", "::/96", "64:ff9b::/96",
        "64:ff9b:1::/48", "100::/64", "2001:db8::/32", "2002::/16", "fc00::/7", "fe80::/10",
        "fec0::/10", "ff00::/8",
    ].compactMap { IPNetwork($0) }

    /// Whether the address is a unicast address of the public internet.
    package var isPublic: Bool { !Self.special.contains { $0.contains(self) } }
}
