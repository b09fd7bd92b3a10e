import Cryptography
import Foundation
import Ledger
import LedgerEngine
import LedgerPostgres
import LedgerTestSupport
import Postgres
import Testing

/// The protection of a ledger that a former release began.
@Suite struct ProtectTests {
    private static let tables = ["identities", "sessions", "merges", "api_keys", "rules"]

    @Test func `a ledger of a former release is protected while its servers go on`() async throws {
        try await Self.with { deployment, database in
            let servers = [try await deployment.serve(), try await deployment.serve()]
            let (ada, key) = try await Self.people(deployment, servers[0])
            try await Self.forgetMACs(database)
            try await expectVerified(deployment)
            let end = EndOfTraffic()
            let traffic = Task {
                try await end.traffic(over: servers, of: deployment) { device, turn in
                    let refreshed = try await device.refresh()
                    let linked = try await device.link(deployment.apple, as: "a\(turn)")
                    return [refreshed.status, linked.status]
                }
            }
            let marker = deployment.path("keys/unprotected-logs")
            let one = try await deployment.tool.run(["protect", "--tenant", "default"])
            #expect(one.status == 0, "\(one.output)\(one.errors)")
            #expect(one.output.contains("its log is now protected from position"))
            #expect(FileManager.default.fileExists(atPath: marker), "it has seen one tenant only")
            let protected = try await deployment.tool.run(["protect"])
            end.tell()
            #expect(protected.status == 0, "\(protected.output)\(protected.errors)")
            #expect(protected.output.contains("every log is protected: \(marker) is removed"))
            #expect(!FileManager.default.fileExists(atPath: marker))
            #expect(try await traffic.value == [], "nobody was refused")
            #expect(try await Self.macs(database, "mac IS NULL") == ["0", "0", "0", "0", "0"])
            let again = try await deployment.tool.run(["protect"])
            #expect(again.status == 0 && again.output.contains(": 0 rows"), "\(again)")
            try await expectVerified(deployment)

            // The verification of a former release can't detect this.
            let bearer = ["Authorization": "Bearer \(key)"]
            let read = try await servers[1].client.send("GET", "/v1/events", headers: bearer)
            #expect(read.status == 200)
            try await database.run { connection in
                try connection.execute(
                    """
                    UPDATE api_keys SET role = 'admin';
                    UPDATE sessions SET expires_at = expires_at + interval '1 day'
                    WHERE account_id = '\(ada.userID)'
                    """)
            }
            let refused = try await servers[1].client.send("GET", "/v1/events", headers: bearer)
            #expect(refused.status == 500)
            var device = ada
            #expect(try await device.refresh().status == 500)
            let found = try await deployment.tool.run(["verify"])
            #expect(found.status == 1 && found.output.contains("DOES NOT HOLD: 2 findings"))
            try await database.run { connection in
                try connection.execute(
                    """
                    UPDATE api_keys SET role = 'auditor';
                    UPDATE sessions SET expires_at = expires_at - interval '1 day'
                    WHERE account_id = '\(ada.userID)'
                    """)
            }
            #expect(try await device.refresh().status == 200)
            try await expectVerified(deployment)

            try await Self.removeProtection(database)
            try await eventually("the server to see that the file is gone") {
                try await device.refresh().status == 500 ? true : nil
            }
        }
    }

    @Test func `removed protection of a log is detected`() async throws {
        try await Deployment.with { deployment in
            let server = try await deployment.serve()
            var ada = Device(server.client)
            try await ada.signIn(deployment.google, as: "ada")
            var thief = Device(server.client)
            try await thief.signIn(deployment.google, as: "thief")
            let database = Postgres.Session(url: deployment.superuserURL, applicationName: "test")
            try await Self.removeProtection(database)
            let victim = ada.userID
            try await database.run { connection in
                try connection.execute(
                    """
                    UPDATE identities SET account_id = '\(victim)',
                        last_account_id = '\(victim)', mac = NULL
                    WHERE provider_id = 'thief'
                    """)
            }
            await database.close()
            let refused = try await thief.signIn(deployment.google, as: "thief")
            #expect(refused.status == 500 && refused.errorCode == "INTERNAL")
            let found = try await deployment.tool.run(["verify"])
            #expect(found.status == 1 && found.output.contains("no server has written the head"))
            let protected = try await deployment.tool.run(["protect"])
            #expect(protected.status == 1, "\(protected.output)")
        }
    }

    @Test func `a row that was changed before gets no MAC`() async throws {
        try await Self.with { deployment, database in
            let server = try await deployment.serve()
            _ = try await Self.people(deployment, server)
            try await Self.forgetMACs(database)
            let move = """
                UPDATE identities i SET account_id = o.account_id, last_account_id = o.account_id
                FROM identities o WHERE i.provider_id = 'ada' AND o.provider_id = 'bob'
                """
            try await database.run { connection in
                try connection.execute("CREATE TABLE kept AS TABLE identities; \(move)")
            }
            let refused = try await deployment.tool.run(["protect"])
            #expect(refused.status == 1, "\(refused.output)")
            #expect(refused.errors.contains("account_id of identity"), "\(refused.errors)")
            // Ids have these letters, too, in the middle of others.
            #expect(!refused.errors.contains(/\bada\b/), "no subject is named")
            #expect(try await Self.macs(database, "mac IS NOT NULL") == ["0", "0", "0", "0", "0"])
            #expect(try await Self.protectedFrom(database) == "-")
            try await database.run { connection in
                try connection.execute(
                    """
                    UPDATE identities i SET account_id = k.account_id,
                        last_account_id = k.last_account_id
                    FROM kept k WHERE i.provider_id = k.provider_id; DROP TABLE kept
                    """)
            }
            let mended = try await deployment.tool.run(["protect"])
            #expect(mended.status == 0, "\(mended.errors)")
            #expect(try await Self.protectedFrom(database) != "-")
            try await expectVerified(deployment)
        }
    }

    @Test func `interrupted between two tables, the same command continues`() async throws {
        try await Self.with { deployment, database in
            let server = try await deployment.serve()
            let (ada, _) = try await Self.people(deployment, server)
            try await Self.forgetMACs(database)
            let letGo = DispatchSemaphore(value: 0)
            let holder = Postgres.Session(url: deployment.superuserURL, applicationName: "holder")
            async let held: Void = holder.run { connection in
                try connection.execute("BEGIN; LOCK TABLE sessions IN SHARE ROW EXCLUSIVE MODE")
                letGo.wait()
                try connection.execute("COMMIT")
            }
            // Declared after it, so that it is released before it is awaited.
            defer { letGo.signal() }
            let running = try RunningProcess(
                executable: CommandLineTool.executable, arguments: ["protect"],
                environment: deployment.tool.environment)
            try await eventually("it to come to the sessions") {
                try await Self.texts(
                    database,
                    """
                    SELECT wait_event_type FROM pg_stat_activity
                    WHERE datname = current_database() AND wait_event_type = 'Lock'
                        AND application_name = 'account-ledger protect'
                    """) == ["Lock"] ? true : nil
            }
            running.send(SIGKILL)
            _ = try await running.exitStatus(within: .seconds(60))
            // Its statement would be executed as soon as it has the lock, even without a client.
            #expect(
                try await Self.texts(
                    database,
                    """
                    SELECT pg_terminate_backend(pid, 60000)::text FROM pg_stat_activity
                    WHERE datname = current_database() AND wait_event_type = 'Lock'
                        AND application_name = 'account-ledger protect'
                    """) == ["true"])
            letGo.signal()
            try await held
            let macs = try await Self.macs(database, "mac IS NULL")
            #expect(macs[0] == "0" && macs[1] != "0", "\(macs)")
            #expect(try await Self.protectedFrom(database) == "-")
            let finished = try await deployment.tool.run(["protect"])
            #expect(finished.status == 0, "\(finished.errors)")
            #expect(try await Self.macs(database, "mac IS NULL") == ["0", "0", "0", "0", "0"])
            var device = ada
            #expect(try await device.refresh().status == 200)
            try await expectVerified(deployment)
        }
    }

    @Test func `a server with a directory of its own needs the MAC key of the first one`()
        async throws
    {
        try await Self.with { deployment, _ in
            let files = FileManager.default
            let key = "mac-\(try #require(try Self.names("mac-", ".key", deployment).first)).key"
            let (whole, copy) = (deployment.path("keys"), deployment.path("copy"))
            let settings = ["LEDGER_KEYS": copy]
            try files.copyItem(atPath: whole, toPath: copy)
            for file in [key, "unprotected-logs"] {
                try files.removeItem(atPath: "\(copy)/\(file)")
            }
            let first = try await deployment.serve()
            var ada = Device(first.client)
            #expect(try await ada.signIn(deployment.google, as: "ada").status == 200)

            let second = try await deployment.serve(settings: settings)
            var bob = Device(second.client)
            let refused = try await bob.signIn(deployment.google, as: "bob")
            #expect(refused.status == 500 && refused.errorCode == "INTERNAL")
            try await eventually("an alarm") {
                second.log.contains("ledger_head.mac of tenant default") ? true : nil
            }
            let made = try files.contentsOfDirectory(atPath: copy).filter { $0.hasPrefix("mac-") }
            #expect(made.count == 1 && made != [key], "it has made a key of its own")
            let marker = try files.attributesOfItem(atPath: "\(copy)/unprotected-logs")
            #expect(marker[.posixPermissions] as? Int == 0o600, "and has the same logs count")
            for file in made { try files.removeItem(atPath: "\(copy)/\(file)") }
            try files.copyItem(atPath: "\(whole)/\(key)", toPath: "\(copy)/\(key)")
            try await eventually("the key to be found") {
                try await bob.signIn(deployment.google, as: "bob").status == 200 ? true : nil
            }
            try await second.stop()

            #expect(try await deployment.tool.run(["protect"]).status == 0)
            try files.removeItem(atPath: "\(copy)/\(key)")
            let late = try await CommandLineTool(
                environment: deployment.tool.environment.merging(settings) { $1 }
            ).run(["serve"])
            #expect(late.status == 1 && late.errors.contains("lacks the MAC key"), "\(late.errors)")
        }
    }

    @Test func `a former MAC key can be removed once no row has a code by it`() async throws {
        try await Deployment.with { deployment in
            let server = try await deployment.serve()
            let people = try await Self.people(deployment, server)
            var ada = people.ada
            let old = try #require(try Self.names("mac-", ".key", deployment).first)
            let removal = ["keys", "remove", "mac", old]
            let inUse = try await deployment.tool.run(removal)
            #expect(inUse.status == 1 && inUse.errors.contains("authenticates new events"))
            let rotated = try await deployment.tool.run(["keys", "rotate", "mac"])
            #expect(rotated.status == 0, "\(rotated.errors)")
            let early = try await deployment.tool.run(removal)
            #expect(early.status == 1 && early.errors.contains("protect"), "\(early.errors)")
            let protected = try await deployment.tool.run(["protect"])
            #expect(protected.status == 0, "\(protected.errors)")
            #expect(
                protected.output.contains("protected from position 0 on"), "\(protected.output)")
            let removed = try await deployment.tool.run(removal)
            #expect(removed.status == 0, "\(removed.errors)")
            #expect(try await ada.refresh().status == 200)
            let bearer = ["Authorization": "Bearer \(people.key)"]
            #expect(
                try await server.client.send("GET", "/v1/events", headers: bearer).status == 200)
            try await server.stop()
            let restarted = try await deployment.serve()
            var device = Device(restarted.client)
            #expect(try await device.signIn(deployment.google, as: "ada").status == 200)
            try await expectVerified(deployment)
        }
    }

    // MARK: Support

    /// An installation whose log names no MAC key.
    static func with(
        _ body: (Deployment, Postgres.Session) async throws -> Void
    ) async throws {
        try await Deployment.with { deployment in
            let made = try await deployment.tool.run(["keys", "init"])
            #expect(made.status == 0, "\(made.errors)")
            func key(_ prefix: String) throws -> (id: String, key: SymmetricKey) {
                let id = try #require(try names(prefix, ".key", deployment).first)
                let path = deployment.path("keys/\(prefix)\(id).key")
                let bytes = try #require(FileManager.default.contents(atPath: path))
                return (id: id, key: try #require(SymmetricKey(bytes: Array(bytes))))
            }
            #expect(
                FileManager.default.createFile(
                    atPath: deployment.path("keys/unprotected-logs"), contents: nil,
                    attributes: [.posixPermissions: 0o600]))
            let encryption = try key("encryption-")
            let keyring = WrappingKeyring(
                currentID: encryption.id, current: encryption.key,
                macs: MACKeys(current: MACKey(try key("mac-").key), allowsUnprotected: true))
            let url = try #require(deployment.tool.environment["DATABASE_URL"])
            let sequencer = Sequencer(
                configuration: SequencerConfiguration(url: url), policy: { _ in nil },
                keyring: keyring, onCommit: { _ in }, onFault: { _ in })
            let running = Task { await sequencer.run() }
            let fact = LedgerOpened(
                mode: .production, encryptionKey: encryption.id, macKey: nil,
                tokenKey: try #require(try names("token-", ".jwk", deployment).first))
            _ = try await sequencer.submit(
                Command(
                    id: CommandID(bits: 1), tenant: .default,
                    origin: Command.Origin(request: nil, clientIP: nil, userAgent: nil),
                    intent: .openLedger(OpenLedger(fact)))
            ).get()
            sequencer.close()
            await running.value
            let database = Postgres.Session(url: deployment.superuserURL, applicationName: "test")
            try await body(deployment, database)
            await database.close()
        }
    }

    /// Returns the names of the keys whose file names have this prefix.
    private static func names(
        _ prefix: String, _ suffix: String, _ deployment: Deployment
    ) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: deployment.path("keys")).filter {
            $0.hasPrefix(prefix) && $0.hasSuffix(suffix)
        }.map { String($0.dropFirst(prefix.count).dropLast(suffix.count)) }
    }

    /// Ada, with two identities, Bob, and an auditor's key.
    private static func people(
        _ deployment: Deployment, _ server: ServerProcess
    ) async throws -> (ada: Device, key: String) {
        var ada = Device(server.client)
        try await ada.signIn(deployment.google, as: "ada")
        #expect(try await ada.link(deployment.apple, as: "ada-a").status == 200)
        var bob = Device(server.client)
        try await bob.signIn(deployment.google, as: "bob")
        return (ada: ada, key: try await deployment.apiKey("auditor"))
    }

    /// Changes the rows to the state in which the migration leaves those of a former release.
    private static func forgetMACs(_ database: Postgres.Session) async throws {
        try await database.run { connection in
            for table in tables + ["ledger_head"] {
                try connection.execute("UPDATE \(table) SET mac = NULL")
            }
        }
    }

    /// Returns the number of such live rows of each table.
    private static func macs(_ database: Postgres.Session, _ condition: String) async throws
        -> [String]
    {
        try await texts(
            database,
            """
            SELECT count(*) FILTER (WHERE \(condition))::text FROM identities
            UNION ALL SELECT count(*) FILTER (WHERE \(condition) AND ended_position IS NULL)::text
                FROM sessions
            UNION ALL SELECT count(*) FILTER (WHERE \(condition))::text FROM merges
            UNION ALL SELECT count(*) FILTER (WHERE \(condition) AND revoked_at IS NULL)::text
                FROM api_keys
            UNION ALL SELECT count(*) FILTER (WHERE \(condition))::text FROM rules
            """)
    }

    /// Clears the columns of the log's protection, as the owner of the tables can.
    private static func removeProtection(_ database: Postgres.Session) async throws {
        try await database.run { connection in
            try connection.execute(
                """
                ALTER EVENT TRIGGER ledger_guard_ddl DISABLE;
                ALTER TABLE events DISABLE TRIGGER USER;
                UPDATE events SET schema_version = 1;
                UPDATE ledger_head SET mac = NULL, protected_from = NULL
                """)
        }
    }

    private static func protectedFrom(_ database: Postgres.Session) async throws -> String? {
        try await texts(database, "SELECT coalesce(protected_from::text, '-') FROM ledger_head")
            .first
    }

    private static func texts(_ database: Postgres.Session, _ sql: String) async throws -> [String]
    {
        try await database.run { connection in
            let rows = try connection.query(Statement(sql, sql))
            return try (0..<rows.rowCount).map { try rows.text($0, 0) }
        }
    }
}
