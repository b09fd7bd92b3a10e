import Foundation
import LedgerTestSupport
import Postgres
import Testing

/// Operation: readiness, metrics, stopping, modes, tenants, and the content of logs and entries.
@Suite struct OperationTests {
    @Test func `readiness and metrics tell how it does`() async throws {
        try await Deployment.with { deployment in
            let server = try await deployment.serve()
            var phone = Device(server.client)
            try await phone.signIn(deployment.apple, as: "a")
            _ = try await phone.account()
            #expect(try await server.client.call("GET", "/healthz").status == 200)
            #expect(try await server.client.call("GET", "/readyz").status == 200)
            #expect(try await server.client.call("GET", "/metrics").status == 404)
            let detail = try await server.admin.call("GET", "/readyz")
            #expect(detail.status == 200)
            let metrics = try await server.admin.call("GET", "/metrics")
            let text = String(decoding: metrics.body, as: UTF8.self)
            for name in [
                "ledger_http_requests_total", "ledger_commit_seconds", "ledger_queue_depth",
                "ledger_projection_lag_events", "ledger_head_position",
            ] {
                #expect(text.contains(name), "\(name)")
            }
            #expect(text.contains("route=\"/v1/auth/sign-in/{provider}\""))
            #expect(text.contains("projection=\"user_providers\""))
        }
    }

    @Test func `a read-only database makes it not ready`() async throws {
        try await Deployment.with { deployment in
            let server = try await deployment.serve()
            let token = deployment.apple.token(subject: "a")
            // Keeps its own session, which may write.
            let operate = Session(url: deployment.superuserURL, applicationName: "operator")
            for (value, status) in [("on", 503), ("off", 200)] {
                try await operate.run { connection in
                    try connection.execute(
                        """
                        DO $$ BEGIN EXECUTE format(
                            'ALTER DATABASE %I SET default_transaction_read_only = \(value)',
                            current_database()); END $$;
                        """)
                    guard value == "on" else { return }
                    // Otherwise the unusable connections would not be closed.
                    try connection.execute(
                        """
                        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                        WHERE datname = current_database()
                            AND application_name LIKE 'account-ledger %'
                        """)
                }
                try await eventually("readiness to be \(status), and to say why") {
                    let detail = try await server.admin.call("GET", "/readyz")
                    let text = String(decoding: detail.body, as: UTF8.self)
                    let isSaid = text.contains("is read-only") == (status == 503)
                    return detail.status == status && isSaid ? true : nil
                }
                if status == 503 {
                    let refused = try await server.client.call(
                        "POST", "/v1/auth/sign-in/apple", ["id_token": token])
                    #expect(refused.status == 503)
                }
            }
            await operate.close()
            try await eventually("commands to be executed") {
                try await server.client.call(
                    "POST", "/v1/auth/sign-in/apple", ["id_token": token]
                ).status == 200 ? true : nil
            }
        }
    }

    @Test func `a server that fails all commands is not ready until they cease`()
        async throws
    {
        try await Deployment.with { deployment in
            let server = try await deployment.serve()
            let operate = Session(url: deployment.superuserURL, applicationName: "operator")
            try await operate.step { connection in
                try connection.execute("BEGIN; SELECT 1 FROM ledger_head FOR UPDATE")
            }
            let token = deployment.apple.token(subject: "a")
            try await eventually("readiness to notice") {
                let refused = try await server.client.call(
                    "POST", "/v1/auth/sign-in/apple", ["id_token": token])
                #expect(refused.status == 503)
                return try await server.client.call("GET", "/readyz").status == 503 ? true : nil
            }
            // Without further commands it becomes ready again.
            try await eventually("readiness to forget") {
                try await server.client.call("GET", "/readyz").status == 200 ? true : nil
            }
            await operate.close()
            #expect(
                try await server.client.call(
                    "POST", "/v1/auth/sign-in/apple", ["id_token": token]
                ).status == 200)
        }
    }

    @Test func `a stop answers accepted requests and leaves nothing half done`() async throws {
        try await Deployment.with { deployment in
            let server = try await deployment.serve()
            let google = deployment.google
            let answers = Task {
                await withTaskGroup(of: Int?.self) { group in
                    for lane in 0..<16 {
                        group.addTask {
                            var last: Int?
                            for number in 0..<500 {
                                let token = google.token(subject: "s\(lane)-\(number)")
                                guard
                                    let answer = try? await server.client.call(
                                        "POST", "/v1/auth/sign-in/google", ["id_token": token])
                                else { return last }
                                last = answer.status
                                if answer.status != 200 { return last }
                            }
                            return last
                        }
                    }
                    return await group.reduce(into: []) { $0.append($1) }
                }
            }
            try await eventually("requests to be answered") {
                server.log.contains("\"status\":200") ? true : nil
            }
            #expect(try await server.stop() == 0)
            let seen = await answers.value.compactMap(\.self)
            #expect(seen.allSatisfy { $0 == 200 || $0 == 503 }, "\(seen)")
            let next = try await deployment.serve()
            try await expectVerified(deployment)
            try await next.stop()
        }
    }

    @Test func `requests leave no memory behind`() async throws {
        try await Deployment.with { deployment in
            let server = try await deployment.serve()
            var phone = Device(server.client)
            try await phone.signIn(deployment.apple, as: "a")
            let reader = phone
            try await reads(500, by: reader)
            let before = try await residentBytes(of: server)
            try await reads(4000, by: reader)
            let grown = try await residentBytes(of: server) - before
            // A few kilobytes a request would be tens of megabytes.
            #expect(grown < 10_000_000, "\(grown) bytes for 4,000 requests")
        }
    }

    private func reads(_ count: Int, by device: Device) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<count / 8 {
                        let status = try await device.account().status
                        #expect(status == 200)
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    private func residentBytes(of server: ServerProcess) async throws -> Double {
        let metrics = try await server.admin.call("GET", "/metrics")
        let lines = String(decoding: metrics.body, as: UTF8.self).split(separator: "\n")
        let line = try #require(lines.first { $0.hasPrefix("process_resident_memory_bytes ") })
        return try #require(Double(line.split(separator: " ")[1]))
    }

    @Test func `no personal data is in an entry or a log line`() async throws {
        try await Deployment.with(settings: ["LEDGER_LOG_LEVEL": "debug"]) { deployment in
            let server = try await deployment.serve()
            var phone = Device(server.client)
            let subject = "subject-to-secrecy"
            try await phone.signIn(deployment.apple, as: subject, email: "ada@private.example")
            _ = try await phone.link(
                deployment.google, as: subject + "-google", email: "ada2@private.example")
            var other = Device(server.client)
            try await other.signIn(deployment.apple, as: "other-to-secrecy")
            _ = try await other.link(deployment.google, as: subject + "-google", key: "key-of-ada")
            _ = try await other.client.call(
                "POST", "/v1/auth/link/google?email=ada@private.example",
                ["id_token": "garbage-to-secrecy"], token: other.accessToken)
            try await phone.refresh()
            _ = try await phone.unlink(deployment.google)
            try await server.stop()

            let secrets = [
                "to-secrecy", "private.example", phone.accessToken, phone.refreshToken,
                String(phone.accessToken.split(separator: ".")[1]), "key-of-ada",
            ]
            for secret in secrets {
                #expect(!server.log.contains(secret), "the log shows \(secret)")
            }
            let replay = try await deployment.tool.run(
                ["replay", "--from", "0", "--format", "json"])
            #expect(replay.output.contains("ProviderLinked"))
            for secret in secrets + ["127.0.0.1"] {
                #expect(!replay.output.contains(secret), "an entry shows \(secret)")
            }
            let disclosed = try await deployment.tool.run([
                "replay", "--account", phone.userID, "--disclose", "--reason", "a test",
            ])
            #expect(disclosed.output.contains(subject), "\(disclosed.errors)")
        }
    }

    @Test func `request ids are accepted, returned and recorded`() async throws {
        try await Deployment.with { deployment in
            let server = try await deployment.serve()
            let id = "0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b"
            let token = deployment.google.token(subject: "a")
            let answer = try await server.client.call(
                "POST", "/v1/auth/sign-in/google", ["id_token": token],
                headers: ["X-Request-Id": id])
            #expect(answer.header("X-Request-Id") == id)
            let made = try await server.client.call(
                "GET", "/v1/account", headers: ["X-Request-Id": "bad id\"}"])
            #expect(UUID(uuidString: made.header("X-Request-Id") ?? "") != nil)
            let replay = try await deployment.tool.run([
                "replay", "--from", "0", "--format", "json",
            ])
            #expect(replay.output.contains("\"request\":\"\(id)\""))
            #expect(server.log.contains(id))
        }
    }

    @Test func `a tenant keeps its own accounts`() async throws {
        try await Deployment.with { deployment in
            _ = try await deployment.tool.run(["keys", "init"])
            let unknown = try deployment.write(
                tenants(deployment, ["default", "acme"]), to: "t.json")
            let settings = ["LEDGER_PROVIDERS": unknown]
            let early = try await CommandLineTool(
                environment: deployment.tool.environment.merging(settings) { $1 }
            ).run(["serve"])
            #expect(early.status == 1 && early.errors.contains("tenant create acme"))
            #expect(try await deployment.tool.run(["tenant", "create", "acme"]).status == 0)
            let list = try await deployment.tool.run(["tenant", "list"])
            #expect(list.output.contains("acme"))

            let server = try await deployment.serve(settings: settings)
            let token = deployment.google.token(subject: "a")
            var users: Set<String?> = []
            for path in ["/v1", "/t/acme/v1"] {
                let answer = try await server.client.call(
                    "POST", path + "/auth/sign-in/google", ["id_token": token])
                #expect(answer.status == 200)
                users.insert(answer.text("user_id"))
                let own = try await server.client.call(
                    "GET", path + "/account", token: answer.text("access_token"))
                #expect(own.status == 200)
            }
            #expect(users.count == 2, "one identity, two tenants, two accounts")
            try await expectVerified(deployment)
        }
    }

    @Test func `modes and keys that do not fit the ledger end the start`() async throws {
        try await Deployment.with { deployment in
            let first = try await deployment.serve()
            try await first.stop()
            for (settings, said) in [
                (["LEDGER_MODE": "development"], "development"),
                (["LEDGER_KEYS": deployment.path("other-keys")], "key"),
            ] {
                let tool = CommandLineTool(
                    environment: deployment.tool.environment.merging(settings) { $1 })
                if settings["LEDGER_KEYS"] != nil { _ = try await tool.run(["keys", "init"]) }
                let outcome = try await tool.run(["serve"])
                #expect(outcome.status == 1)
                #expect(outcome.errors.split(separator: "\n").count == 1, "\(outcome.errors)")
                #expect(outcome.errors.contains(said), "\(outcome.errors)")
            }
        }
        try await Deployment.with(settings: ["LEDGER_MODE": "development"]) { deployment in
            let first = try await deployment.serve()
            try await first.stop()
            let production = CommandLineTool(
                environment: deployment.tool.environment.merging(["LEDGER_MODE": "production"]) {
                    $1
                })
            let outcome = try await production.run(["serve"])
            #expect(outcome.status == 1 && outcome.errors.contains("development"))
            let open = CommandLineTool(
                environment: deployment.tool.environment.merging(["LEDGER_LISTEN": "0.0.0.0:0"]) {
                    $1
                })
            let refused = try await open.run(["serve"])
            #expect(refused.status == 1 && refused.errors.contains("LEDGER_LISTEN"))
        }
    }

    @Test func `verify finds tampering, and rebuild repairs a read model`()
        async throws
    {
        try await Deployment.with { deployment in
            let server = try await deployment.serve()
            var phone = Device(server.client)
            try await phone.signIn(deployment.apple, as: "a", email: "a@example.org")
            _ = try await phone.link(deployment.google, as: "a")
            try await expectVerified(deployment)
            try await server.stop()

            let session = Session(url: deployment.superuserURL, applicationName: "attacker")
            try await session.run { connection in
                try connection.execute("UPDATE user_providers SET provider = 'facebook'")
            }
            let found = try await deployment.tool.run(["verify"])
            #expect(found.status == 1)
            #expect((found.output + found.errors).contains("user_providers"))
            let repaired = try await deployment.tool.run(["rebuild", "user_providers"])
            #expect(repaired.output.contains("different"), "\(repaired.output)\(repaired.errors)")
            #expect(try await deployment.tool.run(["verify"]).status == 0)

            try await session.run { connection in
                try connection.execute(
                    "UPDATE accounts SET next_seq = next_seq + 1")
            }
            let broken = try await deployment.tool.run(["verify"])
            #expect(broken.status == 1)
            #expect((broken.output + broken.errors).contains(phone.userID))
        }
    }

    private func tenants(_ deployment: Deployment, _ names: [String]) -> String {
        let file = Deployment.providersFile(google: deployment.google, apple: deployment.apple)
        let members = names.map { "\"\($0)\":\(file)" }.joined(separator: ",")
        return "{\"tenants\":{\(members)}}"
    }
}
