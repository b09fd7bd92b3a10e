import Foundation
import LedgerTestSupport
import LoopbackServers
import Postgres
import Testing

/// `doctor`, beside a ledger with and without problems.
@Suite struct DoctorTests {
    private func diagnose(
        _ deployment: Deployment, _ settings: [String: String] = [:], _ options: [String] = []
    ) async throws -> (status: Int32, text: String) {
        let tool = CommandLineTool(
            environment: deployment.tool.environment.merging(settings) { $1 })
        let result = try await tool.run(["doctor"] + options)
        return (result.status, result.output + result.errors)
    }

    @Test func `a ledger in order has no problem`() async throws {
        try await Deployment.with { deployment in
            _ = try await deployment.serve()
            let sealer = [
                "LEDGER_SEALER_STATE": deployment.path("sealer"), "LEDGER_ORIGIN": "a.example",
            ]
            try FileManager.default.createDirectory(
                atPath: deployment.path("sealer"), withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
            let seal = CommandLineTool(
                environment: deployment.tool.environment.merging(sealer) { $1 })
            #expect(try await seal.run(["seal", "--once"]).status == 0)
            let (status, text) = try await diagnose(deployment, sealer)
            // The tests' own cluster may do without fsync, which is a problem like any other.
            let problems = text.split(separator: "\n").filter { $0.hasPrefix("problem") }
            #expect(problems.allSatisfy { $0.hasPrefix("problem  durability: ") }, "\(text)")
            #expect(status == (problems.isEmpty ? 0 : 1))
            for line in [
                "ok       settings: are valid", "ok       files: ", "ok       keys: are those",
                "ok       server: Postgres 1", "ok       clock: ", "ok       schema: ",
                "ok       projections: ", "ok       rules: ",
                "ok       sealer's record: agrees with the 1 logs that are signed",
                "ok       provider: google of default: its keys can be fetched",
            ] {
                #expect(text.contains(line), "\(line) in\n\(text)")
            }
        }
    }

    @Test func `a sealer that never signed or no longer signs is a warning`() async throws {
        try await Deployment.with { deployment in
            let server = try await deployment.serve()
            let sealer = [
                "LEDGER_SEALER_STATE": deployment.path("sealer"), "LEDGER_ORIGIN": "a.example",
            ]
            func line(_ settings: [String: String], _ expected: String) async throws {
                let (_, text) = try await diagnose(deployment, settings, ["--offline"])
                #expect(text.contains(expected), "\(expected) in\n\(text)")
            }
            try await line([:], "warning  sealer: LEDGER_SEALER_STATE is not set\n")
            try await line(
                sealer, "warning  sealer's record: no event of tenant default was ever signed\n")
            let seal = CommandLineTool(
                environment: deployment.tool.environment.merging(sealer) { $1 })
            #expect(try await seal.run(["seal", "--once"]).status == 0)
            try await line([:], "ok       sealer: LEDGER_SEALER_STATE is not set, and another")
            var ada = Device(server.client)
            #expect(try await ada.signIn(deployment.google, as: "ada").status == 200)
            // An event that has only just been recorded is no sign of a sealer that stopped.
            try await line(sealer, "ok       sealer's record: agrees with the 1 logs")
            #expect(try await seal.run(["seal", "--once"]).status == 0)
            let head = "SELECT next_position FROM ledger_head WHERE tenant_id = 'default'"
            try await deployment.asSuperuser(
                """
                INSERT INTO events (tenant_id, position, event_id, type, schema_version,
                    recorded_at, account_id, account_seq, command_id, request_id, actor, entry, mac)
                SELECT tenant_id, (\(head)), gen_random_uuid(), type, schema_version,
                    recorded_at - interval '11 minutes', account_id, account_seq, command_id,
                    request_id, actor, entry, mac
                FROM events WHERE tenant_id = 'default' AND position = (\(head)) - 1
                """)
            try await deployment.asSuperuser(
                "UPDATE ledger_head SET next_position = next_position + 1")
            for settings in [sealer, [:]] {
                let (_, text) = try await diagnose(deployment, settings, ["--offline"])
                #expect(text.contains("warning  sealer's record: the event "), "\(text)")
                #expect(text.contains(/of tenant default has waited 1\d minutes/), "\(text)")
            }
        }
    }

    @Test func `each problem is named with what to do, and the others are still checked`()
        async throws
    {
        try await Deployment.with { deployment in
            _ = try await deployment.serve()
            let file = Deployment.providersFile(google: deployment.google, apple: deployment.apple)
            let unreachable = file.replacing(
                /"jwks_uri":"[^"]*"/, with: "\"jwks_uri\":\"http://127.0.0.1:1/keys\"",
                maxReplacements: 1)
            let path = try deployment.write(unreachable, to: "unreachable.json")
            let keys = try #require(deployment.tool.environment["LEDGER_KEYS"])
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: keys)
            let (status, text) = try await diagnose(
                deployment,
                [
                    "LEDGER_PROVIDERS": path, "LEDGER_REAUTHENTICATION_SECONDS": "700",
                    "LEDGER_PROVIDER": "x",
                ])
            #expect(status == 1)
            for line in [
                "warning  settings: LEDGER_PROVIDER is unknown",
                "problem  keys: LEDGER_KEYS: \(keys) is accessible to other users",
                "problem  rules: tenant default has others than the configuration",
                "problem  provider: ", "-> check jwks_uri", "ok       schema: ",
            ] {
                #expect(text.contains(line), "\(line) in\n\(text)")
            }
            let (offline, quiet) = try await diagnose(
                deployment, ["LEDGER_PROVIDERS": path], ["--offline"])
            #expect(offline == 1 && !quiet.contains("provider: "), "\(quiet)")
        }
    }

    @Test func `servers of mail, SMS and OAuth 2.0 are connected to, and get nothing to act on`()
        async throws
    {
        try await Deployment.with { deployment in
            let (sink, graph) = (try MailSink(), try LoopbackServer(answer: []))
            let secret = "whsec_\(Data(repeating: 7, count: 32).base64EncodedString())"
            try deployment.configure(
                providers: """
                    {"name":"facebook","type":"oauth2","preset":"facebook","client_id":"1",
                     "client_secret":"f3c1","api_url":"http://127.0.0.1:\(graph.port)"},
                    {"name":"other","type":"oauth2","client_id":"1","client_secret":"f3c2",
                     "issuer":"other","introspection_url":"http://127.0.0.1:1/introspect"},
                    {"name":"anonymous","type":"anonymous","attestation":
                     {"url":"http://127.0.0.1:\(graph.port)/a","secret":"\(secret)"}}
                    """)
            var settings = [
                "LEDGER_SMTP_URL": "smtp://127.0.0.1:\(sink.port)",
                "LEDGER_MAIL_FROM": "noreply@example.com",
                "LEDGER_SMS_HOOK_URL": "http://127.0.0.1:\(graph.port)/sms",
                "LEDGER_SMS_HOOK_SECRET_FILE": try deployment.write(secret, to: "sms"),
            ]
            let host = "127.0.0.1:\(graph.port) can be connected to"
            let (_, text) = try await diagnose(deployment, settings)
            for line in [
                "ok       provider: facebook of default: \(host)",
                "problem  provider: other of default: 127.0.0.1:1 can't be connected to",
                "-> check api_url, introspection_url, token_url or attestation.url",
                "ok       provider: anonymous of default: \(host)",
                "ok       mail server: takes a session", "ok       SMS service: \(host)",
            ] {
                #expect(text.contains(line), "\(line) in\n\(text)")
            }
            #expect(sink.mails.isEmpty && !sink.commands.contains { $0.hasPrefix("MAIL") })
            let heads = graph.requestHeads.filter { !$0.isEmpty }
            #expect(heads.isEmpty)
            #expect(!text.contains("f3c") && !text.contains("whsec_"))
            sink.stop()
            settings["LEDGER_SMS_HOOK_URL"] = "http://127.0.0.1:1/sms"
            let (status, refused) = try await diagnose(deployment, settings)
            #expect(status == 1)
            for line in [
                "problem  mail server: can't be connected to", "-> check LEDGER_SMTP_URL",
                "problem  SMS service: 127.0.0.1:1 can't be connected to",
                "-> check LEDGER_SMS_HOOK_URL",
            ] {
                #expect(refused.contains(line), "\(line) in\n\(refused)")
            }
            let (_, offline) = try await diagnose(deployment, settings, ["--offline"])
            #expect(!offline.contains("mail server") && !offline.contains("SMS service"))
        }
    }

    /// Starts a cluster again with an archive that takes nothing, or without one.
    private func restart(_ cluster: PrivateCluster, archiveMode: String) async throws {
        let connection = try Connection(url: cluster.url, applicationName: "operator")
        try connection.execute("ALTER SYSTEM SET archive_mode = '\(archiveMode)'")
        try connection.execute("ALTER SYSTEM SET archive_command = 'false'")
        connection.close()
        try await cluster.stop(mode: "fast")
        try await cluster.start()
    }

    @Test func `a primary without its standby, and WAL that no archive takes, are named`()
        async throws
    {
        try await PrivateCluster.with { cluster in
            try await restart(cluster, archiveMode: "on")
            try await Deployment.with(on: cluster) { deployment in
                let operate = Session(url: cluster.url, applicationName: "operator")
                func wait(for standby: String) async throws {
                    try await operate.run { connection in
                        try connection.execute(
                            "ALTER SYSTEM SET synchronous_standby_names = '\(standby)'")
                        try connection.execute("SELECT pg_reload_conf()")
                    }
                }
                let standby = "problem  standby: none is connected, and commits wait for one\n"
                let (_, before) = try await diagnose(deployment, [:], ["--offline"])
                #expect(!before.contains(standby), "\(before)")
                try await operate.run { try $0.execute("SELECT pg_switch_wal()") }
                try await wait(for: "nobody")
                let found = try? await eventually("both to be named") {
                    let (_, text) = try await diagnose(deployment, [:], ["--offline"])
                    let archive = "warning  archive: the last attempt to archive WAL failed, at 0"
                    return text.contains(standby) && text.contains(archive) ? text : nil
                }
                // The end of the test drops databases, which would wait as well.
                try await wait(for: "")
                await operate.close()
                #expect(found?.contains("docs/operating/failover.md") == true)
                // The failure stays in the statistics.
                try await restart(cluster, archiveMode: "off")
                let (_, after) = try await diagnose(deployment, [:], ["--offline"])
                #expect(!after.contains("  archive: "), "\(after)")
            }
        }
    }

    @Test func `a missing database and a wrong setting are one line each`() async throws {
        try await Deployment.with { deployment in
            _ = try await deployment.tool.run(["keys", "init"])
            let (status, text) = try await diagnose(
                deployment, ["DATABASE_URL": "postgresql://127.0.0.1:1/none"])
            #expect(status == 1 && text.contains("problem  database: "), "\(text)")
            let (wrong, line) = try await diagnose(deployment, ["LEDGER_LISTEN": "nowhere"])
            #expect(wrong == 1 && line.hasPrefix("problem  settings: LEDGER_LISTEN"), "\(line)")
        }
    }

    @Test func `lost and missing parts are problems, as they are for a server`() async throws {
        try await Deployment.with { deployment in
            let sealer = [
                "LEDGER_SEALER_STATE": deployment.path("sealer"), "LEDGER_ORIGIN": "a.example",
            ]
            let server = try await deployment.serve(settings: sealer)
            var ada = Device(server.client)
            #expect(try await ada.signIn(deployment.google, as: "ada").status == 200)
            #expect(try await server.stop() == 0)
            let seal = CommandLineTool(
                environment: deployment.tool.environment.merging(sealer) { $1 })
            #expect(try await seal.run(["seal", "--once"]).status == 0)
            let file = Deployment.providersFile(google: deployment.google, apple: deployment.apple)
            let path = try deployment.write(
                "{\"tenants\":{\"default\":\(file),\"acme\":\(file)}}", to: "tenants.json")
            let other = try #require(deployment.tool.environment["DATABASE_URL"])
                .replacing(/dbname=\w+/, with: "dbname=postgres")
            for (settings, line) in [
                (["LEDGER_KEYS": deployment.path("none")], "problem  keys: "),
                (["LEDGER_SEALER_STATE": deployment.path("none")], "problem  sealer's record: "),
                (["LEDGER_STAFF": deployment.path("none")], "problem  files: LEDGER_STAFF"),
                (["LEDGER_PROVIDERS": path], "problem  rules: tenant acme does not exist"),
                (["DATABASE_URL": other], "problem  schema: the database has no ledger yet"),
            ] {
                let (status, text) = try await diagnose(
                    deployment, sealer.merging(settings) { $1 }, ["--offline"])
                #expect(status == 1 && text.contains(line), "\(line) in\n\(text)")
            }
        }
    }
}
