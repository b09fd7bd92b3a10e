import HTTP
import Testing

struct AddressTests {
    @Test(arguments: [
        ("127.0.0.1:8080", "127.0.0.1", 8080, true),
        ("0.0.0.0:0", "0.0.0.0", 0, false),
        ("[::1]:65535", "::1", 65535, true),
        ("[::]:80", "::", 80, false),
        ("[::ffff:127.0.0.1]:80", "::ffff:127.0.0.1", 80, true),
        ("localhost:8080", "127.0.0.1", 8080, true),
        ("127.8.9.1:1", "127.8.9.1", 1, true),
        ("10.0.0.1:1", "10.0.0.1", 1, false),
    ])
    func `an address is read`(text: String, host: String, port: Int, isLoopback: Bool) throws {
        let address = try #require(ListenAddress(text))
        #expect(address.host == host)
        #expect(address.port == UInt16(port))
        #expect(address.isLoopback == isLoopback)
    }

    @Test(arguments: [
        "", ":", ":80", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1",
        "127.0.0.1:+1", "127.0.0.1: 1", "127.0.0.1:000080", "::1:80", "[127.0.0.1]:80", "[::1]",
        "[::1:80", "example.com:80", "256.0.0.1:80", "127.1:80", "[fe80::1%eth0]:80",
        "[localhost]:80", "127.0.0.1:８０",
    ])
    func `a text that is no address is refused`(text: String) {
        #expect(ListenAddress(text) == nil)
    }

    @Test(arguments: [
        // No proxy is trusted
        ("", "203.0.113.9", ["198.51.100.1"], "203.0.113.9"),
        ("  ", "203.0.113.9", ["198.51.100.1"], "203.0.113.9"),
        // The peer is not trusted
        ("10.0.0.0/8", "203.0.113.9", ["198.51.100.1"], "203.0.113.9"),
        // The peer is trusted
        ("10.0.0.0/8", "10.1.2.3", ["198.51.100.1"], "198.51.100.1"),
        ("10.0.0.0/8", "10.1.2.3", [], "10.1.2.3"),
        ("10.0.0.0/8", "10.1.2.3", [""], "10.1.2.3"),
        ("0.0.0.0/0", "10.1.2.3", ["198.51.100.1"], "198.51.100.1"),
        // The client's own entries are on the left and not trusted
        ("10.0.0.0/8", "10.1.2.3", ["127.0.0.1, 198.51.100.1"], "198.51.100.1"),
        ("10.0.0.0/8", "10.1.2.3", ["127.0.0.1", "198.51.100.1"], "198.51.100.1"),
        ("10.0.0.0/8", "10.1.2.3", ["1.1.1.1, 198.51.100.1, 10.0.0.7 ,\t10.0.0.8"], "198.51.100.1"),
        // All are trusted: the left-most
        ("10.0.0.0/8", "10.1.2.3", ["10.0.0.6, 10.0.0.7"], "10.0.0.6"),
        // An invalid entry ends the search at the last known hop
        ("10.0.0.0/8", "10.1.2.3", ["198.51.100.1, unknown"], "10.1.2.3"),
        ("10.0.0.0/8", "10.1.2.3", ["198.51.100.1, unknown, 10.0.0.7"], "10.0.0.7"),
        // IPv6, mapped addresses, ports
        ("::1/128, fd00::/8", "fd00::5", ["2001:DB8::0001"], "2001:db8::1"),
        ("10.0.0.0/8", "::ffff:10.1.2.3", ["::ffff:198.51.100.1"], "198.51.100.1"),
        ("10.0.0.0/8", "10.1.2.3", ["198.51.100.1:4711"], "198.51.100.1"),
        ("10.0.0.0/8", "10.1.2.3", ["[2001:db8::1]:4711"], "2001:db8::1"),
        ("10.0.0.0/8", "10.1.2.3", ["[2001:db8::1]"], "2001:db8::1"),
        ("10.0.0.0/8", "10.1.2.3", ["localhost:80"], "10.1.2.3"),
        ("::/0", "10.1.2.3", ["198.51.100.1"], "10.1.2.3"),
        ("127.0.0.1", "127.0.0.1", ["198.51.100.1"], "198.51.100.1"),
        ("127.0.0.1,::1", "::1", ["2001:db8::1"], "2001:db8::1"),
        ("127.0.0.1", "::1", ["198.51.100.1"], "::1"),
        ("10.1.2.0/25", "10.1.2.128", ["198.51.100.1"], "10.1.2.128"),
        ("10.1.2.0/25", "10.1.2.127", ["198.51.100.1"], "198.51.100.1"),
        // A peer without an address
        ("10.0.0.0/8", "", ["198.51.100.1"], ""),
    ])
    func `the client is the right-most address that no proxy has`(
        list: String, peer: String, forwardedFor: [String], client: String
    ) throws {
        let proxies = try #require(TrustedProxies(list))
        #expect(proxies.clientAddress(peer: peer, forwardedFor: forwardedFor) == client)
    }

    @Test(arguments: [
        ("8.8.8.8", true), ("9.255.255.255", true), ("10.0.0.0", false), ("11.0.0.0", true),
        ("127.255.0.1", false), ("169.254.169.254", false), ("172.15.255.255", true),
        ("172.16.0.0", false), ("172.31.255.255", false), ("172.32.0.0", true),
        ("100.63.255.255", true), ("100.64.0.0", false), ("192.168.255.255", false),
        ("0.0.0.0", false), ("255.255.255.255", false), ("::", false), ("::1", false),
        ("::ffff:10.0.0.1", false), ("::ffff:8.8.8.8", true), ("fbff::1", true),
        ("fc00::1", false), ("fdff::1", false), ("fe80::1", false), ("febf::1", false),
        ("64:ff9b::a00:1", false), ("2606:4700::1111", true), ("ff02::1", false),
    ])
    func `addresses of networks of one's own are not public`(
        text: String, isPublic: Bool
    ) throws {
        #expect(try #require(IPAddress(text)).isPublic == isPublic)
    }

    @Test func `a long list of proxies is followed only so far`() throws {
        let proxies = try #require(TrustedProxies("10.0.0.0/8"))
        let hops = (0..<100).map { "10.0.0.\($0)" }.joined(separator: ",")
        #expect(proxies.clientAddress(peer: "10.9.9.9", forwardedFor: [hops]) == "10.0.0.68")
    }

    @Test(arguments: [
        "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/8/8", "::1/129", "example.com",
        "10.0.0.1,", ",", "10.0.0.1,,10.0.0.2", "10.0.0.1 10.0.0.2", "::ffff:10.0.0.0/104", "/8",
    ])
    func `a list with an entry that is no network is refused`(list: String) {
        #expect(TrustedProxies(list) == nil)
    }
}
