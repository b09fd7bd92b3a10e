import LedgerTestSupport
import Postgres
import Synchronization
import Testing

/// Counts from several tasks.
private final class Tally: Sendable {
    private let value = Mutex(0)

    var count: Int { value.withLock(\.self) }

    func add() { value.withLock { $0 += 1 } }
}

/// A server whose database is replaced by another one.
@Suite struct FailoverTests {
    @Test func `a standby is not read from, and is served from once it is promoted`()
        async throws
    {
        try await PrivateCluster.with { cluster in
            try await Deployment.with(on: cluster) { deployment in
                let server = try await deployment.serve()
                var ada = Device(server.client)
                try await ada.signIn(deployment.apple, as: "ada")
                #expect(try await ada.account().status == 200)
                try await cluster.stop(mode: "fast")
                try cluster.becomeStandby()
                try await cluster.start()
                // Its data about an account would be out of date.
                try await eventually("the server to find the standby") {
                    let read = try await ada.account()
                    try #require(read.status == 503)
                    return server.log.contains("the server is a standby") ? true : nil
                }
                #expect(try await server.client.call("GET", "/readyz").status == 503)
                let operate = Session(url: cluster.url, applicationName: "operator")
                try await operate.run { try $0.execute("SELECT pg_promote()") }
                await operate.close()
                try await eventually("everything to be served") {
                    var bob = Device(server.client)
                    let answers = [
                        try await bob.signIn(deployment.apple, as: "bob"), try await ada.account(),
                        try await server.client.call("GET", "/readyz"),
                    ]
                    return answers.allSatisfy { $0.status == 200 } ? true : nil
                }
                let verified = try await deployment.tool.run(["verify"])
                #expect(verified.status == 0, "\(verified.errors)")
            }
        }
    }

    @Test func `of several hosts the primary is used, unless the URL says otherwise`()
        async throws
    {
        try await PrivateCluster.with { standby in
            try await standby.stop(mode: "fast")
            try standby.becomeStandby()
            try await standby.start()
            try await PrivateCluster.with { primary in
                let ports = [standby.port, primary.port]
                for (ports, wanted, port) in [
                    (ports, "", primary.port), (ports, "any", standby.port),
                    (ports, "standby", standby.port),
                    (ports.reversed(), "prefer-standby", standby.port),
                    ([primary.port, primary.port], "prefer-standby", primary.port),
                ] {
                    let hosts = ports.map { "127.0.0.1:\($0)" }.joined(separator: ",")
                    let wish = wanted.isEmpty ? "" : "?target_session_attrs=\(wanted)"
                    let url = "postgresql://owner@\(hosts)/postgres\(wish)"
                    let connection = try Connection(url: url, applicationName: "failover test")
                    let found = try connection.query(
                        Statement("port", "SELECT current_setting('port')"))
                    #expect(try found.text(0, 0) == "\(port)")
                    connection.close()
                }
            }
        }
    }

    /// As after a pause: it is still a primary by its own account.
    @Test func `a former primary is left, and not connected to again`() async throws {
        try await PrivateCluster.with { former in
            try await PrivateCluster.with { successor in
                for cluster in [former, successor] { try await cluster.stop(mode: "fast") }
                try await successor.copyData(of: former)
                try successor.becomeStandby()
                for cluster in [former, successor] { try await cluster.start() }
                func url(_ clusters: PrivateCluster...) -> String {
                    let hosts = clusters.map { "127.0.0.1:\($0.port)" }.joined(separator: ",")
                    return "postgresql://owner@\(hosts)/postgres"
                }
                let port = Statement("port", "SELECT current_setting('port')")
                let session = Session(url: url(former, successor), applicationName: "failover test")
                let first = try await session.run { try $0.query(port).text(0, 0) }
                #expect(first == "\(former.port)")
                let operate = Session(url: successor.url, applicationName: "operator")
                try await operate.run { try $0.execute("SELECT pg_promote()") }
                await operate.close()
                // From here on the process knows the new timeline.
                let other = try Connection(
                    url: url(successor, former), applicationName: "failover test")
                #expect(try other.query(port).text(0, 0) == "\(successor.port)")
                other.close()
                let second = try await session.run { try $0.query(port).text(0, 0) }
                #expect(second == "\(successor.port)")
                await session.close()
            }
        }
    }

    /// The command may be on one machine only, but an answer would mean that it is on both.
    @Test func `a commit whose wait for its standby was cancelled is not acknowledged`()
        async throws
    {
        try await PrivateCluster.with { cluster in
            try await Deployment.with(on: cluster) { deployment in
                let server = try await deployment.serve()
                let (client, apple) = (server.client, deployment.apple)
                let operate = Session(url: cluster.url, applicationName: "operator")
                func wait(for standby: String) async throws {
                    try await operate.run { connection in
                        try connection.execute(
                            "ALTER SYSTEM SET synchronous_standby_names = '\(standby)'")
                        try connection.execute("SELECT pg_reload_conf()")
                    }
                }
                try await wait(for: "nobody")
                let acknowledged = Tally()
                let end = EndOfTraffic()
                defer { end.tell() }
                let traffic = Task {
                    while !end.isHere {
                        var person = Device(client)
                        let answer = try? await person.signIn(
                            apple, as: "person-\(acknowledged.count)")
                        if answer?.status == 200 { acknowledged.add() }
                    }
                }
                // Until the cluster has applied the setting, commits do not wait.
                let isWaiting = "wait_event = 'SyncRep' AND application_name LIKE '%sequencer'"
                let before = try await eventually("a commit to wait") {
                    try await cluster.processes(where: isWaiting).isEmpty ? nil : acknowledged.count
                }
                let cancel = Statement(
                    "cancel",
                    "SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE " + isWaiting)
                try await eventually("the server to notice that a wait was cancelled") {
                    _ = try await operate.run { try $0.query(cancel).int8(0, 0) }
                    return server.log.contains("confirm a commit was cancelled") ? true : nil
                }
                #expect(acknowledged.count == before)
                end.tell()
                try await wait(for: "")
                await traffic.value
                await operate.close()
                try await eventually("commands to be executed") {
                    var bob = Device(client)
                    return try await bob.signIn(apple, as: "bob").status == 200 ? true : nil
                }
            }
        }
    }
}
