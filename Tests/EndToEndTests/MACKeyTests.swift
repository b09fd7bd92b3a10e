import LedgerEngine
import LedgerTestSupport
import Postgres
import Testing

/// The rotation of the key that authenticates events, while two servers append.
@Suite struct MACKeyTests {
    @Test func `a MAC key changes under traffic, every command goes through, and verify holds`()
        async throws
    {
        try await Deployment.with { deployment in
            let servers = [try await deployment.serve(), try await deployment.serve()]
            let old = try #require(try await Self.keys(deployment)["in use"])
            let end = EndOfTraffic()
            let traffic = Task {
                try await end.traffic(over: servers, of: deployment) { device, turn in
                    let linked = try await device.link(
                        deployment.apple, as: "a\(turn)", email: "a\(turn)@example.org")
                    return [linked.status]
                }
            }
            for round in 1...2 {
                let before = try await Self.log(deployment).count
                try await eventually("traffic", within: .seconds(60)) {
                    try await Self.log(deployment).count > before + 12 ? true : nil
                }
                guard round == 1 else { break }
                let rotated = try await deployment.tool.run(["keys", "rotate", "mac"])
                #expect(rotated.status == 0, "\(rotated.errors)")
            }
            end.tell()
            #expect(try await traffic.value == [], "no command was refused")
            for server in servers { try await server.stop() }

            let keys = try await Self.keys(deployment)
            let new = try #require(keys["in use"])
            #expect(keys["former"] == old && new != old)
            let log = try await Self.log(deployment)
            let mark = try #require(log.firstIndex { $0.type == "KeyRotated" })
            #expect(log[..<mark].allSatisfy { $0.key == old })
            #expect(log[mark...].allSatisfy { $0.key == new } && log.count > mark + 12)
            let verified = try await deployment.tool.run(["verify"])
            #expect(verified.status == 0, "\(verified.output)\(verified.errors)")
            #expect(verified.output.contains("macs            \(log.count) checked"))
            let blind = try await CommandLineTool(
                environment: deployment.tool.environment.filter { $0.key != "LEDGER_KEYS" }
            ).run(["verify"])
            #expect(blind.status == 0, "\(blind.output)")
            #expect(blind.output.contains("MACs not checked: there is no MAC key"))
        }
    }

    @Test
    func `a separate sealer checks MACs, and ends without the keys unless told otherwise`()
        async throws
    {
        try await Deployment.with { deployment in
            let server = try await deployment.serve()
            var ada = Device(server.client)
            try await ada.signIn(deployment.google, as: "ada")
            try await server.stop()
            let settings = [
                "LEDGER_SEALER_STATE": deployment.path("sealer"),
                "LEDGER_ORIGIN": "ledger.example.com/accounts",
            ]
            let whole = deployment.tool.environment.merging(settings) { $1 }
            let keyed = CommandLineTool(environment: whole)
            let blind = CommandLineTool(environment: whole.filter { $0.key != "LEDGER_KEYS" })
            let first = try await keyed.run(["seal", "--once"])
            #expect(first.status == 0 && !first.errors.contains("MACs are not checked"))
            let session = Session(url: deployment.superuserURL, applicationName: "test")
            try await session.run { connection in
                try connection.execute(
                    """
                    INSERT INTO events (tenant_id, position, event_id, type, schema_version,
                        recorded_at, account_id, account_seq, command_id, request_id, actor, entry, mac)
                    SELECT tenant_id, position + 1, gen_random_uuid(), type, schema_version,
                        recorded_at, account_id, account_seq, command_id, request_id, actor,
                        convert_to(replace(convert_from(entry, 'UTF8'),
                            '"position":"4"', '"position":"5"'), 'UTF8'), mac
                    FROM events WHERE position = 4;
                    UPDATE ledger_head SET next_position = 6
                    """)
            }
            await session.close()
            let forged = try await keyed.run(["seal", "--once"])
            #expect(forged.status == 1)
            #expect(forged.errors.contains("position 5: the event was not appended by a server"))
            for arguments in [["seal"], ["seal", "--once"]] {
                let refused = try await blind.run(arguments)
                #expect(refused.status == 1 && refused.errors.contains("set LEDGER_KEYS"))
            }
            let unseen = try await blind.run(["seal", "--once", "--without-macs"])
            #expect(unseen.status == 0)
            #expect(unseen.errors.contains("MACs are not checked"))
        }
    }

    /// An event's type, and the id of the key that authenticates it.
    private struct Logged: Sendable {
        let type: String
        let key: String
    }

    private static func log(_ deployment: Deployment) async throws -> [Logged] {
        let session = Session(url: deployment.superuserURL, applicationName: "test")
        let log = try await session.run { connection in
            let rows = try connection.query(
                Statement(
                    "codes",
                    "SELECT type, encode(substr(mac, 1, 4), 'hex') FROM events ORDER BY position"))
            return try (0..<rows.rowCount).map {
                Logged(type: try rows.text($0, 0), key: try rows.text($0, 1))
            }
        }
        await session.close()
        return log
    }

    /// The MAC keys that `keys list` prints, by their use.
    private static func keys(_ deployment: Deployment) async throws -> [String: String] {
        let outcome = try await deployment.tool.run(["keys", "list"])
        #expect(outcome.status == 0, "\(outcome.errors)")
        var found: [String: String] = [:]
        for line in outcome.output.split(separator: "\n") {
            let columns = line.split(separator: "\t").map { String($0) }
            if columns.count == 3, columns[0] == "mac" { found[columns[2]] = columns[1] }
        }
        return found
    }
}
