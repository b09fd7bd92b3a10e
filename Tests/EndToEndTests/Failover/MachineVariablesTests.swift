import Foundation
import LedgerTestSupport
import Testing

/// The variables of `packaging/patroni`, as the trials of a failover read them.
@Suite struct MachineVariablesTests {
    private func values(of file: String, _ number: Int) throws -> [String: String] {
        var root = URL(fileURLWithPath: #filePath)
        for _ in 0..<4 { root.deleteLastPathComponent() }
        let url = root.appendingPathComponent("packaging/patroni/\(file)")
        return try MachineVariables(String(contentsOf: url, encoding: .utf8)).values(of: number)
    }

    @Test func `a machine has its own name and address, and the addresses of all`() throws {
        let patroni = try values(of: "patroni_env.conf", 2)
        #expect(patroni["PATRONI_NAME"] == "db2")
        #expect(patroni["PATRONI_POSTGRESQL_LISTEN"] == "192.0.2.2:5432")
        let hosts = "192.0.2.1:2379,192.0.2.2:2379,192.0.2.3:2379"
        #expect(patroni["PATRONI_ETCD_HOSTS"] == hosts)
        #expect(patroni["PATRONI_SUPERUSER_PASSWORD"] == "choose-one")
        let etcd = try values(of: "etcd", 3)
        #expect(etcd["ETCD_NAME"] == "db3")
        #expect(etcd["ETCD_LISTEN_PEER_URLS"] == "http://192.0.2.3:2380")
        let members = (1...3).map { "db\($0)=http://192.0.2.\($0):2380" }
        #expect(etcd["ETCD_INITIAL_CLUSTER"] == members.joined(separator: ","))
        // A member that has begun elsewhere keeps its cluster, and Debian's package begins one in this directory.
        #expect(etcd["ETCD_DATA_DIR"] != "/var/lib/etcd/default")
    }

    @Test(arguments: [
        "A", "=b", "A=", " A=b", "A =b", "A= b", "A=b c", "A='b'", "A=\"b\"", "A=$B", "A=b#c",
        "A=b\\", "A=b\r\n", "export A=b", "a=b", "A=b\nA=c",
    ])
    func `a line that systemd and a shell could read differently is refused`(text: String) {
        #expect(throws: MachineVariables.Malformed.self) { try MachineVariables(text) }
    }
}
