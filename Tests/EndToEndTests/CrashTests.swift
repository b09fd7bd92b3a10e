import LedgerTestSupport
import Testing

/// Power cuts under load: what was acknowledged is there, once, and the ledger goes on by itself.
@Suite(.serialized) struct CrashTests {
    private static let rounds = 6
    private static let clients = 12

    @Test func `kill -9 of the server loses and doubles nothing that was acknowledged`()
        async throws
    {
        try await Deployment.with { deployment in
            var acknowledged: [Acknowledged] = []
            for round in 0..<Self.rounds {
                let server = try await deployment.serve()
                let work = Task { await load(server.client, deployment, round: round) }
                try await eventually("work to be acknowledged") {
                    server.log.count(of: "\"status\":200") > 40 * (round + 1) ? true : nil
                }
                try await server.kill()
                acknowledged += await work.value
            }
            let server = try await deployment.serve()
            try await expectAll(acknowledged, deployment, server)
            try await server.stop()
        }
    }

    @Test func `the database stopped at once under load loses nothing and is taken up again`()
        async throws
    {
        try await PrivateCluster.with { cluster in
            try await Deployment.with(on: cluster) { deployment in
                let server = try await deployment.serve()
                var acknowledged: [Acknowledged] = []
                for round in 0..<3 {
                    let work = Task { await load(server.client, deployment, round: round) }
                    let before = server.log.count(of: "\"status\":200")
                    try await eventually("work to be acknowledged") {
                        server.log.count(of: "\"status\":200") > before + 60 ? true : nil
                    }
                    try await cluster.stop(mode: "immediate")
                    try await eventually("readiness to notice") {
                        try await server.client.call("GET", "/readyz").status == 503 ? true : nil
                    }
                    let alive = try await server.client.call("GET", "/healthz")
                    #expect(alive.status == 200)
                    try await cluster.start()
                    try await eventually("the server to be ready again") {
                        try await server.client.call("GET", "/readyz").status == 200 ? true : nil
                    }
                    acknowledged += await work.value
                }
                try await expectAll(acknowledged, deployment, server)
                try await server.stop()
            }
        }
    }

    /// What a client was told: this subject is linked to this account.
    private struct Acknowledged: Sendable {
        let subject: String
        let userID: String
    }

    /// Signs up and links until the server is gone or a number of rounds is done.
    private func load(
        _ client: WireClient, _ deployment: Deployment, round: Int
    ) async -> [Acknowledged] {
        await withTaskGroup(of: [Acknowledged].self) { group in
            for lane in 0..<Self.clients {
                group.addTask {
                    var told: [Acknowledged] = []
                    for number in 0..<40 {
                        let subject = "r\(round)-l\(lane)-n\(number)"
                        var device = Device(client)
                        guard
                            let signedIn = try? await device.signIn(deployment.apple, as: subject),
                            signedIn.status == 200,
                            let linked = try? await device.link(deployment.google, as: subject),
                            linked.status == 200
                        else { continue }
                        told.append(Acknowledged(subject: subject, userID: device.userID))
                    }
                    return told
                }
            }
            return await group.reduce([], +)
        }
    }

    private func expectAll(
        _ acknowledged: [Acknowledged], _ deployment: Deployment, _ server: ServerProcess
    ) async throws {
        #expect(acknowledged.count > 20)
        try await expectVerified(deployment)
        var entries: [String: Int] = [:]
        let log = try await deployment.tool.run(
            ["replay", "--from", "0", "--to", "1000000", "--format", "json"])
        #expect(log.status == 0, "\(log.errors)")
        for line in log.output.split(separator: "\n") where line.contains("\"cause\":\"link\"") {
            for told in line.split(separator: "\"accounts\":[{\"id\":\"").dropFirst().prefix(1) {
                entries[String(told.prefix(36)), default: 0] += 1
            }
        }
        for told in acknowledged {
            #expect(entries[told.userID] == 1, "the link of \(told.userID) is in the log once")
        }
        for told in acknowledged.shuffled().prefix(20) {
            var device = Device(server.client)
            try await device.signIn(deployment.google, as: told.subject)
            #expect(device.userID == told.userID)
        }
    }
}

extension String {
    fileprivate func count(of part: String) -> Int {
        ranges(of: part).count
    }
}
