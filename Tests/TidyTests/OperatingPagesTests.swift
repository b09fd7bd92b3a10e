import Testing

/// Pages for operators that repeat files: they show the files that the tools try.
@Suite struct OperatingPagesTests {
    @Test(arguments: [
        ("packaging/proxy/nginx.conf", "reverse-proxy"),
        ("packaging/proxy/Caddyfile", "reverse-proxy"),
        ("packaging/patroni/patroni.yml", "failover"),
        ("packaging/patroni/patroni_env.conf", "failover"),
        ("packaging/patroni/etcd", "failover"),
        ("packaging/postgres/archive-wal", "backup"),
    ])
    func `the page shows the settings that are tried`(file: String, name: String) throws {
        let settings = try SourceTree.lines(of: file)
            .map { $0.isEmpty ? "" : "    \($0)" }.joined(separator: "\n")
        let page = try SourceTree.lines(of: "docs/operating/\(name).md").joined(separator: "\n")
        #expect(settings.count > 500)
        #expect(page.contains(settings))
    }

    @Test func `proxies listen on IPv4 and IPv6, and both loopback addresses are trusted`() throws {
        let ports = ["80;", "443 ssl http2;"]
        let listens = try SourceTree.lines(of: "packaging/proxy/nginx.conf")
            .compactMap { $0.firstMatch(of: /^ *listen (.*)$/).map { String($0.output.1) } }
        #expect(listens == ports.flatMap { [$0, "[::]:" + $0] })
        let settings = try SourceTree.lines(of: "packaging/environment")
        #expect(settings.contains("LEDGER_TRUSTED_PROXIES=127.0.0.1,::1"))
    }

    @Test func `the table of migrations has the existing ones in order`() throws {
        let listed = try SourceTree.lines(of: "docs/releases.md")
            .compactMap { $0.prefixMatch(of: /\| (V[0-9]{3}) \|/).map { String($0.output.1) } }
        let existing = try SourceTree(["migrations"], suffix: ".sql").files
            .compactMap { $0.path.firstMatch(of: /\/(V[0-9]{3})_/).map { String($0.output.1) } }
        #expect(existing.count >= 35)
        #expect(listed == existing)
    }

    @Test func `the changelog has a section for the version`() throws {
        let version = try #require(
            try SourceTree.lines(of: "Sources/account-ledger/Settings/Version.swift")
                .joined(separator: "\n").firstMatch(of: /static let text = "([0-9.]+)"/)?.output.1)
        let changes = try SourceTree.lines(of: "CHANGELOG.md").joined(separator: "\n")
        #expect(changes.contains(version))
    }
}
