import CMicroHTTPD
import Glibc

/// An IP address as a number; an IPv4-mapped IPv6 address becomes the IPv4 address.
package struct IPAddress: Equatable {
    /// The value, an IPv4 address in the low 32 bits.
    let value: UInt128
    let isIPv4: Bool

    private static let mappedPrefix: UInt128 = 0xFFFF << 32

    /// The width in bits: 32 or 128.
    var bitCount: Int { isIPv4 ? 32 : 128 }

    /// Parses the numeric form, without brackets, port or zone.
    package init?(_ text: some StringProtocol) {
        let text = String(text)
        var four = in_addr()
        if unsafe inet_pton(AF_INET, text, &four) == 1 {
            self.init(ipv4: four)
            return
        }
        var six = in6_addr()
        guard unsafe inet_pton(AF_INET6, text, &six) == 1 else { return nil }
        self.init(ipv6: six)
    }

    init(ipv4: in_addr) {
        value = UInt128(UInt32(bigEndian: ipv4.s_addr))
        isIPv4 = true
    }

    init(ipv6: in6_addr) {
        let number = UInt128(bigEndian: unsafe unsafeBitCast(ipv6, to: UInt128.self))
        isIPv4 = number >> 32 == Self.mappedPrefix >> 32
        value = isIPv4 ? number & 0xFFFF_FFFF : number
    }

    /// Reads the address of a socket; nil unless it is IPv4 or IPv6.
    init?(socketAddress: UnsafePointer<sockaddr>) {
        let raw = unsafe UnsafeRawPointer(socketAddress)
        switch Int32(unsafe socketAddress.pointee.sa_family) {
        case AF_INET: self.init(ipv4: unsafe raw.loadUnaligned(as: sockaddr_in.self).sin_addr)
        case AF_INET6: self.init(ipv6: unsafe raw.loadUnaligned(as: sockaddr_in6.self).sin6_addr)
        default: return nil
        }
    }

    /// The low 32 bits as the system's type.
    var ipv4: in_addr { in_addr(s_addr: UInt32(truncatingIfNeeded: value).bigEndian) }

    /// All bits as the system's type.
    var ipv6: in6_addr { unsafe unsafeBitCast(value.bigEndian, to: in6_addr.self) }

    /// Whether the address is in 127.0.0.0/8 or is ::1.
    var isLoopback: Bool { isIPv4 ? value >> 24 == 127 : value == 1 }

    /// Checks whether both addresses are of the same family and share the first bits.
    func shares(prefixBits: Int, with other: IPAddress) -> Bool {
        guard isIPv4 == other.isIPv4 else { return false }
        return prefixBits == 0 || (value ^ other.value) >> (bitCount - prefixBits) == 0
    }

    /// Returns the first address of the network of an IPv6 address; an IPv4 address as it is.
    package func network(ipv6Bits bits: Int) -> IPAddress {
        isIPv4 ? self : IPAddress(ipv6Value: value & (UInt128.max << (128 - bits)))
    }

    private init(ipv6Value value: UInt128) {
        self.value = value
        isIPv4 = false
    }

    /// The usual numeric form, RFC 5952 for IPv6.
    package var text: String {
        var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        if isIPv4 {
            var four = ipv4
            unsafe inet_ntop(AF_INET, &four, &buffer, socklen_t(buffer.count))
        } else {
            var six = ipv6
            unsafe inet_ntop(AF_INET6, &six, &buffer, socklen_t(buffer.count))
        }
        return String(
            decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
