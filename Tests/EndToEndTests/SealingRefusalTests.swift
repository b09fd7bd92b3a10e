import Foundation
import LedgerTestSupport
import Postgres
import Testing

/// A log that is no longer signed, because it has a forged checkpoint or forged hashes.
@Suite struct SealingRefusalTests {
    private static let origin = ["LEDGER_ORIGIN": "ledger.example.com/accounts"]

    private func settings(_ deployment: Deployment) -> [String: String] {
        ["LEDGER_SEALER_STATE": deployment.path("sealer")]
    }

    /// The possible changes with a stolen login of the server or the sealer.
    private func makeUp(size: Int, of tenant: String, _ deployment: Deployment) async throws {
        let session = Session(url: deployment.superuserURL, applicationName: "refusal test")
        try await session.run { connection in
            try connection.execute(
                """
                INSERT INTO checkpoints (tenant_id, size, origin, root, note, signed_at)
                VALUES ('\(tenant)', \(size), 'ledger.example.com/accounts/\(tenant)', sha256(''),
                    'made up', now())
                """)
        }
        await session.close()
    }

    /// Waits until sealing of a log is refused, and returns the detailed readiness.
    private func expectRefused(
        _ tenant: String, by server: ServerProcess, _ note: Comment
    ) async throws -> String {
        try await eventually("sealing to be refused, \(note)") {
            let metrics = try await server.admin.call("GET", "/metrics")
            return String(decoding: metrics.body, as: UTF8.self)
                .contains("ledger_sealing_refused{tenant=\"\(tenant)\"} 1\n") ? true : nil
        }
        return try await eventually("readiness to name it, \(note)") {
            let answer = try await server.admin.call("GET", "/readyz")
            let text = String(decoding: answer.body, as: UTF8.self)
            return text.contains("\(tenant) is no longer signed") ? text : nil
        }
    }

    @Test func `a forged checkpoint of one tenant takes no server out of rotation`() async throws {
        try await Deployment.with(settings: Self.origin) { deployment in
            var server = try await deployment.serve(settings: settings(deployment))
            try await server.stop()
            let made = try await deployment.tool.run(["tenant", "create", "acme"])
            #expect(made.status == 0, "\(made.errors)")
            server = try await deployment.serve(settings: settings(deployment))
            try await eventually("both logs to be signed") {
                let metrics = try await server.admin.call("GET", "/metrics")
                let text = String(decoding: metrics.body, as: UTF8.self)
                return text.contains("ledger_signed_size{tenant=\"acme\"} 1\n")
                    && text.contains("ledger_signed_size{tenant=\"default\"} 2\n") ? true : nil
            }
            try await makeUp(size: 500, of: "acme", deployment)
            for note in ["at once", "after a restart"] as [Comment] {
                let detail = try await expectRefused("acme", by: server, note)
                #expect(detail.contains("\"status\":\"ready\""), "\(detail)")
                #expect(try await server.client.call("GET", "/readyz").status == 200)
                #expect(try await server.admin.call("GET", "/readyz").status == 200)
                var phone = Device(server.client)
                #expect(try await phone.signIn(deployment.apple, as: "a").status == 200)
                try await server.stop()
                #expect(server.log.contains("sealing refused"))
                server = try await deployment.serve(settings: settings(deployment))
            }
            // Nor if it is the only tenant, or if all are refused.
            try await makeUp(size: 500, of: "default", deployment)
            let detail = try await expectRefused("default", by: server, "of every log")
            #expect(detail.contains("\"status\":\"ready\""), "\(detail)")
            #expect(try await server.client.call("GET", "/readyz").status == 200)
        }
    }

    /// With the reason of the refusal: hashes after the signed ones, of one event and of part of a tree; one at
    /// the largest index; and one that hides a signed one.
    @Test(arguments: [
        (3, 1, "the log has"), (3, 2, "in the middle of a tree"),
        (Int.max, 1, "in the middle of a tree"), (2, 1, "overlap"),
    ])
    func `forged hashes take no server out of rotation`(
        first: Int, count: Int, reason: String
    ) async throws {
        try await Deployment.with(settings: Self.origin) { deployment in
            var server = try await deployment.serve(settings: settings(deployment))
            try await eventually("the log to be signed") {
                let metrics = try await server.admin.call("GET", "/metrics")
                let text = String(decoding: metrics.body, as: UTF8.self)
                return text.contains("ledger_signed_size{tenant=\"default\"} 2\n") ? true : nil
            }
            try await server.stop()
            let url = try #require(deployment.tool.environment["DATABASE_URL"])
            let session = Session(url: url, applicationName: "refusal test")
            try await session.run { connection in
                try connection.execute(
                    """
                    INSERT INTO merkle_nodes (tenant_id, first_index, hashes)
                    VALUES ('default', \(first), decode(repeat('00', \(count) * 32), 'hex'))
                    """)
            }
            await session.close()
            server = try await deployment.serve(settings: settings(deployment))
            for note in ["at once", "after a sign-in"] as [Comment] {
                let detail = try await expectRefused("default", by: server, note)
                #expect(detail.contains("\"status\":\"ready\""), "\(detail)")
                #expect(note == "after a sign-in" || detail.contains(reason), "\(detail)")
                #expect(try await server.client.call("GET", "/readyz").status == 200)
                var phone = Device(server.client)
                #expect(try await phone.signIn(deployment.apple, as: "a").status == 200)
            }
            try await server.stop()
        }
    }

    /// With a row of the serving login for a tenant that was never sealed: one of two, or the only one.
    @Test(arguments: ["acme", "default"])
    func `a forged checkpoint key keeps no server from starting`(tenant: String) async throws {
        try await Deployment.with(settings: Self.origin) { deployment in
            try await deployment.serve().stop()
            if tenant != "default" {
                let made = try await deployment.tool.run(["tenant", "create", tenant])
                #expect(made.status == 0, "\(made.errors)")
            }
            try await Thief(deployment: deployment).run { connection in
                try connection.execute(
                    """
                    INSERT INTO checkpoint_keys (tenant_id, vkey, added_at)
                    VALUES ('\(tenant)', 'forged', now())
                    """)
            }
            let server = try await deployment.serve(settings: settings(deployment))
            let detail = try await expectRefused(tenant, by: server, "a forged key")
            #expect(detail.contains("\"status\":\"ready\""), "\(detail)")
            #expect(detail.contains("checkpoint_keys"), "\(detail)")
            #expect(server.log.contains("\"msg\":\"sealing refused\",\"tenant\":\"\(tenant)\""))
            #expect(try await server.client.call("GET", "/readyz").status == 200)
            var phone = Device(server.client)
            #expect(try await phone.signIn(deployment.apple, as: "a").status == 200)
            try await server.stop()

            let tool = CommandLineTool(
                environment: deployment.tool.environment.merging(settings(deployment)) { $1 })
            let outcome = try await tool.run(["seal", "--once"])
            #expect(outcome.status == 1)
            #expect(outcome.errors.contains("tenant \(tenant) is not signed: "), "\(outcome)")
            #expect(outcome.output.contains("default\tsigned up to") == (tenant != "default"))
        }
    }

    /// Commands of the log fail, too, as its head was moved without a key.
    @Test(arguments: [true, false])
    func `a forged event takes a server out of rotation only if it has no other log`(
        isOnly: Bool
    ) async throws {
        try await Deployment.with(settings: Self.origin) { deployment in
            let file = Deployment.providersFile(google: deployment.google, apple: deployment.apple)
            let tenants = isOnly ? ["default"] : ["default", "zeta"]
            let sections = tenants.map { "\"\($0)\":\(file)" }.joined(separator: ",")
            let given = [
                "LEDGER_PROVIDERS": try deployment.write(
                    "{\"tenants\":{\(sections)}}", to: "tenants.json")
            ]
            _ = try await deployment.tool.run(["keys", "init"])
            for tenant in tenants {
                #expect(try await deployment.tool.run(["tenant", "create", tenant]).status == 0)
            }
            let server = try await deployment.serve(
                settings: settings(deployment).merging(given) { $1 })
            #expect(try await server.client.call("GET", "/readyz").status == 200)
            try await Thief(deployment: deployment).run { connection in
                try connection.execute(
                    """
                    INSERT INTO events (tenant_id, position, event_id, type, schema_version,
                        recorded_at, command_id, actor, entry, mac)
                    SELECT tenant_id, position + 1, gen_random_uuid(), type, schema_version,
                        recorded_at, command_id, actor, entry, mac
                    FROM events WHERE tenant_id = 'default' ORDER BY position DESC LIMIT 1;
                    UPDATE ledger_head SET next_position = next_position + 1
                    WHERE tenant_id = 'default'
                    """)
            }
            let detail = try await expectRefused("default", by: server, "a forged event")
            #expect(detail.contains("its MAC is wrong"), "\(detail)")
            for client in [server.client, server.admin] {
                let ready = try await eventually("readiness to be asked again") {
                    let answer = try await client.call("GET", "/readyz")
                    return (answer.status == 503) == isOnly ? answer : nil
                }
                #expect(ready.status == (isOnly ? 503 : 200))
            }
            for tenant in tenants {
                let answer = try await server.client.call(
                    "POST", "/t/\(tenant)/v1/auth/sign-in/apple",
                    ["id_token": deployment.apple.token(subject: "a")])
                #expect(answer.status == (tenant == "default" ? 500 : 200), "\(tenant)")
            }
        }
    }

    @Test(arguments: [1, 500])
    func `sealing once refuses a log with a forged checkpoint`(size: Int) async throws {
        try await Deployment.with(settings: Self.origin) { deployment in
            let server = try await deployment.serve()
            var phone = Device(server.client)
            try await phone.signIn(deployment.apple, as: "a")
            try await server.stop()
            let made = try await deployment.tool.run(["tenant", "create", "zebra"])
            #expect(made.status == 0, "\(made.errors)")
            let tool = CommandLineTool(
                environment: deployment.tool.environment.merging(settings(deployment)) { $1 })
            #expect(try await tool.run(["seal", "--once"]).status == 0)
            try await makeUp(size: size, of: "default", deployment)
            let outcome = try await tool.run(["seal", "--once"])
            #expect(outcome.status == 1)
            #expect(outcome.errors.contains("tenant default is not signed: "), "\(outcome.errors)")
            #expect(outcome.errors.contains("checkpoint of size \(size) "), "\(outcome.errors)")
            // The others are.
            #expect(outcome.output.contains("zebra\tsigned up to size 1"), "\(outcome.output)")
            #expect(!outcome.output.contains("default"))
        }
    }
}
