import Testing

@testable import Postgres

@Suite struct ServerAddressTests {
    private func hosts(_ given: [String: String]) -> [[String: String]] {
        ServerAddress.each(in: given).map(\.settings)
    }

    @Test func `each host has its own port, or the common one`() {
        #expect(hosts(["host": "a"]) == [["host": "a"]])
        #expect(hosts(["host": "a,b"]) == [["host": "a"], ["host": "b"]])
        #expect(
            hosts(["host": "a,b", "port": "1"])
                == [["host": "a", "port": "1"], ["host": "b", "port": "1"]])
        #expect(
            hosts(["host": "a,b", "port": "1,2"])
                == [["host": "a", "port": "1"], ["host": "b", "port": "2"]])
    }

    @Test func `an empty item is the default and shifts no other`() {
        // As libpq reads `a,b` and `a,b:2` in a URL.
        #expect(
            hosts(["host": "a,b", "port": ","])
                == [["host": "a", "port": "5432"], ["host": "b", "port": "5432"]])
        #expect(
            hosts(["host": "a,b", "port": ",2"])
                == [["host": "a", "port": "5432"], ["host": "b", "port": "2"]])
        #expect(
            hosts(["host": "/tmp,b", "hostaddr": ",::2"])
                == [["host": "/tmp"], ["host": "b", "hostaddr": "::2"]])
        #expect(hosts(["host": ",b"]) == [[:], ["host": "b"]])
    }

    @Test func `settings without a list, or with addresses from elsewhere, are left to libpq`() {
        #expect(hosts([:]).isEmpty)
        #expect(hosts(["port": "1,2"]).isEmpty)
        #expect(hosts(["host": "a,b", "port": "1,2,3"]).isEmpty)
        #expect(hosts(["host": "a,b,c", "hostaddr": "::1,::2"]).isEmpty)
        #expect(hosts(["host": "a", "service": "here"]).isEmpty)
    }

    private func addresses(_ given: [String: String], _ found: [String]) throws -> [String] {
        try ServerAddress.each(in: given).flatMap { try $0.each { _ in found } }
            .map { "\($0.settings["host"] ?? "") at \($0.settings["hostaddr"] ?? "")" }
    }

    @Test func `a name is expanded to its addresses`() throws {
        #expect(
            try addresses(["host": "a"], ["::1", "127.0.0.1"]) == ["a at ::1", "a at 127.0.0.1"])
        #expect(
            try addresses(["host": "a,b", "hostaddr": "::2,"], ["::1", "::3"])
                == ["a at ::2", "b at ::1", "b at ::3"])
        #expect(
            try addresses(["host": "/tmp,@abstract"], ["::1"]) == ["/tmp at ", "@abstract at "])
    }

    @Test func `an address stays as it is, and an unknown name is reported`() throws {
        #expect(try HostName.addresses(of: "127.0.0.1") == ["127.0.0.1"])
        #expect(try HostName.addresses(of: "::1") == ["::1"])
        // Longer than a label may be (RFC 1035 section 2.3.4), so that no name server is queried.
        let unknown = String(repeating: "a", count: 64)
        #expect {
            try HostName.addresses(of: unknown)
        } throws: { error in
            guard case PostgresError.connectionFailed(let reason) = error else { return false }
            return reason.hasPrefix("the host name \(unknown) has no address: ")
        }
    }
}
