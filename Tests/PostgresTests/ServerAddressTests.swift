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
}
