import Testing

@testable import Postgres

@Suite struct ServerAddressTests {
    private func hosts(_ given: [String: String]) -> [[String]] {
        ServerAddress.each(in: given).map { $0.settings.map { "\($0)=\($1)" } }
    }

    @Test func `each host has its own port, or the one of all`() {
        #expect(hosts(["host": "a"]) == [["host=a"]])
        #expect(hosts(["host": "a,b"]) == [["host=a"], ["host=b"]])
        #expect(
            hosts(["host": "a,b", "port": "1"]) == [["host=a", "port=1"], ["host=b", "port=1"]])
        #expect(
            hosts(["host": "a,b", "port": "1,2"]) == [["host=a", "port=1"], ["host=b", "port=2"]])
        #expect(
            hosts(["host": "a,b", "port": ",2"]) == [["host=a", "port="], ["host=b", "port=2"]])
        #expect(
            hosts(["host": "a,b", "hostaddr": "::1,::2"])
                == [["host=a", "hostaddr=::1"], ["host=b", "hostaddr=::2"]])
    }

    @Test func `what is no list is left to libpq`() {
        #expect(hosts([:]).isEmpty)
        #expect(hosts(["port": "1,2"]).isEmpty)
        #expect(hosts(["host": "a,b", "port": "1,2,3"]).isEmpty)
        #expect(hosts(["host": "a,b,c", "hostaddr": "::1,::2"]).isEmpty)
    }

    private func addresses(_ given: [String: String], _ found: [String]) -> [[String]] {
        ServerAddress.each(in: given).flatMap { $0.each { _ in found } }
            .map { $0.settings.map { "\($0)=\($1)" } }
    }

    @Test func `a name of several addresses is tried at each`() {
        #expect(
            addresses(["host": "a", "port": "1"], ["::1", "127.0.0.1"])
                == [
                    ["host=a", "hostaddr=::1", "port=1"],
                    ["host=a", "hostaddr=127.0.0.1", "port=1"],
                ])
        #expect(
            addresses(["host": "a,b", "hostaddr": "::2,"], ["::1", "::3"])
                == [
                    ["host=a", "hostaddr=::2"], ["host=b", "hostaddr=::1"],
                    ["host=b", "hostaddr=::3"],
                ])
    }

    @Test func `a name that nobody knows is left to libpq`() {
        #expect(addresses(["host": "a"], []) == [["host=a"]])
    }

    @Test func `an address is its own, and the folder of a socket has none`() {
        #expect(HostName.addresses(of: "127.0.0.1") == ["127.0.0.1"])
        #expect(HostName.addresses(of: "::1") == ["::1"])
        #expect(HostName.addresses(of: "/var/run/postgresql") == [])
        #expect(HostName.addresses(of: "@abstract") == [])
        // RFC 6761 section 6.4: never a name that the network knows.
        #expect(HostName.addresses(of: "nobody.invalid") == [])
    }
}
