import Foundation
import Ledger
import LedgerAudit
import LedgerTestSupport
import Postgres
import Testing
import TransparencyLog

/// The sealer in the server, alone, killed, and on a database that was tampered with.
@Suite struct SealingTests {
    private static let origin = "ledger.example.com/accounts"

    private func settings(_ deployment: Deployment) -> [String: String] {
        [
            "LEDGER_SEALER_STATE": deployment.path("sealer"), "LEDGER_ORIGIN": Self.origin,
        ]
    }

    /// Returns the number of events of the tenant `default`.
    private func size(_ deployment: Deployment) async throws -> Int64 {
        let session = Session(url: deployment.superuserURL, applicationName: "sealing test")
        let size = try await session.run { connection in
            try connection.query(
                Statement(
                    "size",
                    "SELECT next_position FROM ledger_head WHERE tenant_id = 'default'")
            ).int8(0, 0)
        }
        await session.close()
        return size
    }

    private func tamper(_ deployment: Deployment, _ sql: String) async throws {
        let session = Session(url: deployment.superuserURL, applicationName: "sealing test")
        try await session.run { connection in
            try connection.execute(
                """
                ALTER EVENT TRIGGER ledger_guard_ddl DISABLE;
                ALTER TABLE events DISABLE TRIGGER USER;
                \(sql)
                """)
        }
        await session.close()
    }

    /// Waits until everything is signed, and then checks every checkpoint against the one before it.
    private func expectSealed(_ deployment: Deployment) async throws {
        let reads = ProofReads(url: deployment.superuserURL) { _ in }
        let size = try await size(deployment)
        try await eventually("everything to be signed") {
            let latest = try await reads.latestCheckpoint(of: .default)
            return latest?.size ?? 0 >= size ? true : nil
        }
        let all = try await reads.checkpoints(of: .default, sizes: 1...(.max), limit: 1_000)
        let verifiers = try await reads.checkpointKeys(of: .default).compactMap {
            NoteVerifier($0.verifierKey)
        }
        for (old, new) in zip(all, all.dropFirst()) {
            _ = try await reads.consistency(from: old.size, to: new.size, in: .default).get()
        }
        for checkpoint in all {
            let note = try SignedNote(parsing: checkpoint.note)
            #expect(try Checkpoint.open(note, verifiers).size == checkpoint.size)
        }
        await reads.close()
    }

    @Test func `a server with the sealer's directory signs its events`() async throws {
        try await Deployment.with { deployment in
            let server = try await deployment.serve(settings: settings(deployment))
            let reads = ProofReads(url: deployment.superuserURL) { _ in }
            var phone = Device(server.client)
            for number in 0..<5 {
                try await phone.signIn(deployment.apple, as: "person-\(number)")
                let size = try await size(deployment)
                try await eventually("the sign-in to be signed") {
                    try await reads.latestCheckpoint(of: .default)?.size ?? 0 >= size ? true : nil
                }
            }
            let latest = try #require(try await reads.latestCheckpoint(of: .default))
            #expect(latest.origin == Self.origin + "/default")
            try await expectSealed(deployment)
            let detail = try await server.admin.call("GET", "/readyz")
            #expect(
                String(decoding: detail.body, as: UTF8.self).contains("1 of 1 logs sealed here"))
            let metrics = try await server.admin.call("GET", "/metrics")
            let text = String(decoding: metrics.body, as: UTF8.self)
            #expect(text.contains("ledger_signed_size{tenant=\"default\"} \(latest.size)\n"))
            #expect(text.contains("ledger_sealing_refused{tenant=\"default\"} 0\n"))
            await reads.close()
        }
    }

    @Test func `sealing continues where a killed sealer stopped`() async throws {
        try await Deployment.with { deployment in
            let server = try await deployment.serve()
            let apple = deployment.apple
            let end = EndOfTraffic()
            let traffic = Task {
                var number = 0
                while !end.isHere {
                    var phone = Device(server.client)
                    _ = try? await phone.signIn(apple, as: "person-\(number)")
                    number += 1
                }
                return number
            }
            let reads = ProofReads(url: deployment.superuserURL) { _ in }
            var generator = SeededGenerator(seed: 7)
            for _ in 0..<6 {
                let before = try await reads.latestCheckpoint(of: .default)?.size ?? 0
                let sealer = try RunningProcess(
                    executable: CommandLineTool.executable, arguments: ["seal"],
                    environment: deployment.tool.environment.merging(settings(deployment)) { $1 })
                // It has replaced the killed one, and signs.
                try await eventually("another checkpoint: \(sealer.errors.text)") {
                    try await reads.latestCheckpoint(of: .default)?.size ?? 0 > before ? true : nil
                }
                try await Task.sleep(for: .milliseconds(Int.random(in: 0...120, using: &generator)))
                sealer.send(SIGKILL)
                _ = try await sealer.exitStatus(within: .seconds(60))
            }
            end.tell()
            #expect(await traffic.value > 10)
            let outcome = try await deployment.tool(with: settings(deployment)).run(
                ["seal", "--once"])
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(outcome.output.contains("default\tsigned up to size "))
            try await expectSealed(deployment)
            await reads.close()
        }
    }

    @Test func `a restored older database is not signed, and readiness gives the reason`()
        async throws
    {
        try await Deployment.with { deployment in
            let server = try await deployment.serve(settings: settings(deployment))
            var phone = Device(server.client)
            try await phone.signIn(deployment.apple, as: "person-0")
            try await expectSealed(deployment)
            let before = try await size(deployment)
            try await phone.signIn(deployment.apple, as: "person-1")
            try await expectSealed(deployment)
            #expect(try await server.client.call("GET", "/readyz").status == 200)
            let size = try await size(deployment)
            try await tamper(
                deployment,
                """
                DELETE FROM events WHERE position >= \(before);
                UPDATE ledger_head SET next_position = \(before)
                """)
            let detail = try await eventually("readiness to say so") {
                let answer = try await server.admin.call("GET", "/readyz")
                return answer.status == 503 ? String(decoding: answer.body, as: UTF8.self) : nil
            }
            #expect(detail.contains("has \(before) events, and \(size) were signed"))
            #expect(try await server.client.call("GET", "/readyz").status == 503)
            try await eventually("the log to say so") {
                server.log.contains("\"msg\":\"sealing refused\"") ? true : nil
            }
            let metrics = try await server.admin.call("GET", "/metrics")
            #expect(
                String(decoding: metrics.body, as: UTF8.self)
                    .contains("ledger_sealing_refused{tenant=\"default\"} 1\n"))
            let tool = deployment.tool(with: settings(deployment))
            // While the server has the lease, then alone, after one that had it and has ended, and beside one
            // that has it while the checkpoints are gone as well, as in a backup that was restored.
            for round in 0..<4 {
                if round == 1 { try await server.stop() }
                if round == 3 {
                    try await tamper(
                        deployment,
                        """
                        ALTER TABLE checkpoints DISABLE TRIGGER USER;
                        DELETE FROM checkpoints WHERE size > \(before);
                        INSERT INTO sealer_leases (tenant_id, holder, expires_at)
                        VALUES ('default', gen_random_uuid(), now() + interval '4 seconds')
                        """)
                }
                let outcome = try await tool.run(["seal", "--once"])
                #expect(outcome.status == 1)
                #expect(outcome.errors.contains("went back"), "\(outcome.errors)")
            }
        }
    }

    @Test(arguments: [SIGTERM, SIGINT])
    func `sealing once that cannot go on can be stopped`(signal: Int32) async throws {
        try await Deployment.with { deployment in
            let server = try await deployment.serve()
            var phone = Device(server.client)
            try await phone.signIn(deployment.apple, as: "person-0")
            let lock = Session(url: deployment.superuserURL, applicationName: "sealing test")
            try await lock.step { connection in
                try connection.execute("BEGIN; LOCK TABLE sealer_leases")
            }
            let sealing = try RunningProcess(
                executable: CommandLineTool.executable, arguments: ["seal", "--once"],
                environment: deployment.tool.environment.merging(settings(deployment)) { $1 })
            try await eventually("the sealer to run: \(sealing.errors.text)") {
                sealing.errors.text.contains("\"msg\":\"sealing\"") ? true : nil
            }
            sealing.send(signal)
            #expect(try await sealing.exitStatus(within: .seconds(60)) == 1)
            #expect(sealing.errors.text.contains("stopped before all events were signed"))
            #expect(sealing.output.text.isEmpty)
            await lock.close()
        }
    }

    @Test func `an entry that was rewritten long after it was signed is found`() async throws {
        try await Deployment.with { deployment in
            let first = try await deployment.serve(settings: settings(deployment))
            var phone = Device(first.client)
            for number in 0..<4 {
                try await phone.signIn(deployment.apple, as: "person-\(number)")
                try await expectSealed(deployment)
            }
            try await first.stop()
            try await tamper(
                deployment,
                """
                UPDATE events SET entry = convert_to(replace(convert_from(entry, 'UTF8'),
                    '"provider":"apple"', '"provider":"zpple"'), 'UTF8') WHERE position = 6
                """)
            let server = try await deployment.serve(settings: settings(deployment))
            let detail = try await eventually("readiness to say so") {
                let answer = try await server.admin.call("GET", "/readyz")
                return answer.status == 503 ? String(decoding: answer.body, as: UTF8.self) : nil
            }
            #expect(detail.contains("position 6: "), "\(detail)")
            let reads = ProofReads(url: deployment.superuserURL) { _ in }
            let signed = try await reads.latestCheckpoint(of: .default)
            phone = Device(server.client)
            try await phone.signIn(deployment.apple, as: "later")
            let metrics = try await server.admin.call("GET", "/metrics")
            #expect(metrics.status == 200)
            #expect(try await reads.latestCheckpoint(of: .default) == signed)
            await reads.close()
        }
    }

    @Test func `a start without the directory that has signed ends with one line`() async throws {
        try await Deployment.with { deployment in
            let server = try await deployment.serve(settings: settings(deployment))
            try await expectSealed(deployment)
            try await server.stop()
            let other = settings(deployment).merging([
                "LEDGER_SEALER_STATE": deployment.path("other")
            ]) { $1 }
            for arguments in [["serve"], ["seal", "--once"]] {
                let outcome = try await deployment.tool(with: other).run(arguments)
                #expect(outcome.status == 1)
                let lines = outcome.errors.split(separator: "\n")
                #expect(lines.count == 1 && lines[0].contains("LEDGER_SEALER_STATE"), "\(lines)")
            }
            for (wrong, name) in [("https://a.example", "LEDGER_ORIGIN"), ("a+b", "LEDGER_ORIGIN")]
            {
                let outcome = try await deployment.tool(
                    with: settings(deployment).merging(["LEDGER_ORIGIN": wrong]) { $1 }
                ).run(["seal", "--once"])
                #expect(outcome.status == 1 && outcome.errors.contains(name), "\(outcome.errors)")
            }
            // In production a log's name must be set.
            var nameless = settings(deployment)
            nameless["LEDGER_ORIGIN"] = ""
            let outcome = try await deployment.tool(with: nameless).run(["seal", "--once"])
            #expect(outcome.errors.contains("LEDGER_ORIGIN is not set"), "\(outcome.errors)")
        }
    }

    @Test func `a login with the sealer's rights alone can seal`() async throws {
        try await Deployment.with { deployment in
            let server = try await deployment.serve()
            var phone = Device(server.client)
            try await phone.signIn(deployment.apple, as: "person")
            let login = "sealer_\(UInt32.random(in: 0...(.max)))"
            let session = Session(url: deployment.superuserURL, applicationName: "sealing test")
            try await session.run { connection in
                try connection.execute(
                    """
                    CREATE ROLE \(login) LOGIN PASSWORD 'x';
                    DO $$ BEGIN EXECUTE format('GRANT %I TO \(login)',
                        current_database() || '_ledger_sealer'); END $$
                    """)
            }
            let url = try #require(deployment.tool.environment["DATABASE_URL"])
            let own = url + "&user=\(login)&password=x"
            let outcome = try await deployment.tool(
                with: settings(deployment).merging(["DATABASE_URL": own]) { $1 }
            ).run(["seal", "--once"])
            #expect(outcome.status == 0, "\(outcome.errors)")
            try await expectSealed(deployment)
            try await session.run { connection in
                try connection.execute(
                    "DO $$ BEGIN EXECUTE format('REVOKE %I FROM \(login)', current_database()"
                        + " || '_ledger_sealer'); END $$; DROP ROLE \(login)")
            }
            await session.close()
        }
    }
}

extension Deployment {
    /// The program with further settings.
    fileprivate func tool(with settings: [String: String]) -> CommandLineTool {
        CommandLineTool(environment: tool.environment.merging(settings) { $1 })
    }
}
