import Foundation
import Ledger
import LedgerTestSupport
import Testing

/// Servers and commands of a ledger of which one tenant's log is damaged or invented.
@Suite struct DamagedTenantTests {
    private static let origin = "ledger.example.com/accounts"

    /// Changes the bytes of the first event of a log, as a superuser or the disk can.
    private static func damageFirstEvent(of name: String, _ deployment: Deployment) async throws {
        for sql in [
            "ALTER EVENT TRIGGER ledger_guard_ddl DISABLE",
            "ALTER TABLE events DISABLE TRIGGER USER",
            "UPDATE events SET entry = 'garbage' WHERE tenant_id = '\(name)' AND position = 0",
            "ALTER EVENT TRIGGER ledger_guard_ddl ENABLE",
        ] { _ = try await deployment.asSuperuser(sql) }
    }

    /// Runs the body with a sealed ledger of three tenants, and no server.
    private static func withSealedTenants(
        _ body: (Deployment, CommandLineTool) async throws -> Void
    ) async throws {
        try await Deployment.with { deployment in
            let settings = [
                "LEDGER_SEALER_STATE": deployment.path("sealer"), "LEDGER_ORIGIN": origin,
            ]
            let tool = CommandLineTool(
                environment: deployment.tool.environment.merging(settings) { $1 })
            _ = try await tool.run(["keys", "init"])
            for name in ["default", "acme", "zeta"] {
                #expect(try await tool.run(["tenant", "create", name]).status == 0)
            }
            #expect(try await tool.run(["seal", "--once"]).status == 0)
            try await body(deployment, tool)
        }
    }

    /// The tenants whose logs record a rotation.
    private static func rotated(_ deployment: Deployment) async throws -> [String] {
        try await deployment.asSuperuser(
            """
            SELECT tenant_id FROM events WHERE type = 'KeyRotated' AND position > 0
            ORDER BY tenant_id, position
            """)
    }

    @Test(arguments: [false, true])
    func `after a restore one MAC key is made for all logs, without that of an invented tenant`(
        isInvented: Bool
    ) async throws {
        try await Self.withSealedTenants { deployment, tool in
            if isInvented { try await Thief(deployment: deployment).invent("aaa") }
            let before = try await Self.keyCount("mac", tool)
            let outcome = try await tool.run(["restore-check", "--accept", "--restored"])
            #expect(outcome.status == (isInvented ? 1 : 0), "\(outcome)")
            #expect(outcome.errors.contains("tenant aaa was left out: ") == isInvented)
            let named = try await deployment.asSuperuser(
                """
                SELECT DISTINCT substr(mac, 1, 4)::text FROM events WHERE type = 'KeyRotated'
                    AND tenant_id IN ('acme', 'default', 'zeta')
                """)
            #expect(try await Self.rotated(deployment) == ["acme", "default", "zeta"])
            #expect(named.count == 1, "one key")
            #expect(try await Self.keyCount("mac", tool) == before + 1)
        }
    }

    private static func keyCount(_ kind: String, _ tool: CommandLineTool) async throws -> Int {
        let listed = try await tool.run(["keys", "list"])
        return listed.output.split(separator: "\n").count { $0.hasPrefix("\(kind)\t") }
    }

    @Test func `a rotation leaves room in the key directory`() async throws {
        try await Deployment.with { deployment in
            _ = try await deployment.tool.run(["keys", "init"])
            #expect(try await deployment.tool.run(["tenant", "create", "default"]).status == 0)
            let files = FileManager.default
            let count = try files.contentsOfDirectory(atPath: deployment.path("keys")).count
            for number in count..<254 {
                let path = deployment.path("keys/note-\(number)")
                #expect(files.createFile(atPath: path, contents: nil))
            }
            let full = try await deployment.tool.run(["keys", "rotate", "mac"])
            #expect(full.status == 1 && full.errors.contains("254 files"), "\(full)")
            #expect(try await Self.rotated(deployment) == [])
        }
    }

    @Test func `a server without a sound log does not start, and makes no key`() async throws {
        try await Deployment.with { deployment in
            try await deployment.serve().stop()
            try await Self.damageFirstEvent(of: "default", deployment)
            let files = FileManager.default
            for name in try files.contentsOfDirectory(atPath: deployment.path("keys"))
            where name.hasPrefix("mac-") || name == "current" {
                try files.removeItem(atPath: deployment.path("keys/\(name)"))
            }
            let keys = try files.contentsOfDirectory(atPath: deployment.path("keys")).sorted()
            let error = await #expect(throws: TestTimeout.self) { try await deployment.serve() }
            #expect(error?.description.contains("the log of tenant default is damaged") == true)
            let after = try files.contentsOfDirectory(atPath: deployment.path("keys")).sorted()
            #expect(after == keys)
        }
    }

    @Test func `a tenant with a damaged first event is refused, and names no issuer`() async throws
    {
        try await Deployment.with { deployment in
            let file = Deployment.providersFile(google: deployment.google, apple: deployment.apple)
            let providers = try deployment.write(
                "{\"tenants\":{\"default\":\(file),\"zeta\":\(file)}}", to: "two.json")
            _ = try await deployment.tool.run(["keys", "init"])
            _ = try await deployment.tool.run(["tenant", "create", "zeta"])
            let settings = ["LEDGER_PROVIDERS": providers]
            try await deployment.serve(settings: settings).stop()
            try await Self.damageFirstEvent(of: "default", deployment)

            let server = try await deployment.serve(settings: settings)
            for (prefix, status) in [("", 503), ("/t/zeta", 200)] {
                let answer = try await server.client.call(
                    "POST", "\(prefix)/v1/auth/sign-in/google",
                    ["id_token": deployment.google.token(subject: "ada")])
                #expect(answer.status == status, "\(prefix)")
            }
            #expect(server.log.contains("\"msg\":\"tenant refused\",\"tenant\":\"default\""))
            try await server.stop()
            let error = await #expect(throws: TestTimeout.self) {
                try await deployment.serve(settings: settings.merging(["LEDGER_ISSUER": ""]) { $1 })
            }
            #expect(error?.description.contains("set LEDGER_ISSUER") == true)
        }
    }

    @Test func `a rotation of the checkpoint keys names the tenants that it leaves out`()
        async throws
    {
        try await Self.withSealedTenants { deployment, tool in
            try await Self.damageFirstEvent(of: "acme", deployment)
            let leftOut = "tenant acme was left out: "
            for arguments in [[], [], ["--retire"], ["--retire"]] {
                let outcome = try await tool.run(["keys", "rotate", "checkpoint"] + arguments)
                #expect(outcome.status == 1 && outcome.errors.contains(leftOut), "\(outcome)")
            }
            #expect(try await Self.rotated(deployment) == ["default", "zeta"])
        }
    }

    @Test func `a rotation that a log refuses names also the tenants that it leaves out`()
        async throws
    {
        try await Self.withSealedTenants { deployment, tool in
            try await Thief(deployment: deployment).invent("aaa")
            // The position after the end of the log is taken.
            try await Thief(deployment: deployment).run { connection in
                try Thief.insert(Array("garbage".utf8), at: 1, in: "zeta", on: connection)
            }
            for kind in ["token", "encryption", "mac", "checkpoint"] {
                let outcome = try await tool.run(["keys", "rotate", kind])
                #expect(outcome.status == 1, "\(outcome)")
                for text in ["tenant aaa was left out: ", "zeta does not record the rotation"] {
                    #expect(outcome.errors.contains(text), "\(outcome)")
                }
            }
        }
    }

    @Test(arguments: [false, true])
    func `a tenant is not created under a name that a forged log has`(hasEvent: Bool) async throws {
        try await Self.withSealedTenants { deployment, tool in
            let thief = Thief(deployment: deployment)
            if hasEvent {
                try await thief.invent("beta")
            } else {
                try await thief.run { try Thief.moveHead(to: 1, in: "beta", on: $0) }
            }
            let refused = try await tool.run(["tenant", "create", "beta"])
            #expect(refused.status == 1 && refused.errors.contains("tenant beta"), "\(refused)")
            let again = try await tool.run(["tenant", "create", "acme"])
            #expect(again.status == 0 && again.output == "tenant acme already exists\n")
        }
    }

    @Test func `commands that can't authenticate events say so`() async throws {
        try await Self.withSealedTenants { deployment, tool in
            for (number, arguments) in [
                ["replay", "--from", "0"], ["owner", "google", "ada"],
                ["export", "--all", "--output"],
            ].enumerated() {
                func outcome(_ keys: String, _ file: String) async throws -> CommandLineTool.Outcome
                {
                    let bundle = number == 2 ? [deployment.path(file)] : []
                    return try await CommandLineTool(
                        environment: tool.environment.merging(
                            ["LEDGER_KEYS": deployment.path(keys)]) { $1 }
                    ).run(arguments + bundle)
                }
                let missing = try await outcome("kesy", "first.tar")
                #expect(missing.status == 1 && missing.errors.contains("kesy does not exist"))
                let empty = deployment.path("empty")
                try FileManager.default.createDirectory(
                    atPath: empty, withIntermediateDirectories: true,
                    attributes: [.posixPermissions: 0o700])
                let blind = try await outcome("empty", "second.tar")
                #expect(blind.errors.contains("events are not authenticated"), "\(blind)")
                let keyed = try await outcome("keys", "third.tar")
                #expect(!keyed.errors.contains("authenticated") && keyed.status == blind.status)
            }
        }
    }
}
