import Foundation
import LedgerEngine
import LedgerTestSupport
import Postgres
import Testing

/// An operator's commands after a restore.
@Suite struct RestoreTests {
    static let origin = "ledger.example.com/accounts"

    @Test func `a restore is noticed, taken, and mended`() async throws {
        try await Deployment.with { deployment in
            let tool = tool(of: deployment)
            var server = try await deployment.serve()
            var ada = Device(server.client)
            try await ada.signIn(deployment.apple, as: "subject-of-ada", email: "a@priv.example")
            try await server.stop()
            #expect(try await tool.run(["seal", "--once"]).status == 0)
            let whole = try await tool.run(["restore-check"])
            #expect(whole.status == 0, "\(whole.output)\(whole.errors)")
            #expect(!whole.output.contains("BACK: "), "\(whole.output)")
            let elsewhere = try await tool.run(["restore-check", "--state", deployment.path("no")])
            #expect(elsewhere.status == 1 && elsewhere.errors.contains("does not exist"))
            let key = try await deployment.apiKey("auditor")

            try await run(Self.backUp, on: deployment)
            server = try await deployment.serve()
            var bob = Device(server.client)
            try await bob.signIn(deployment.google, as: "bob")
            try await server.stop()
            #expect(try await tool.run(["erase", ada.userID, "--reason", "r"]).status == 0)
            #expect(try await tool.run(["seal", "--once"]).status == 0)
            try await run(Self.restore, on: deployment)

            let refused = try await tool.run(["seal", "--once"])
            #expect(refused.status == 1, "the sealer signs nothing over it")
            let found = try await tool.run(["restore-check"])
            #expect(found.status == 1)
            #expect(found.output.contains("LOST: 9 events were signed"), "\(found.output)")
            #expect(found.output.contains("UNDONE: account \(ada.userID)"), "\(found.output)")
            #expect(found.output.contains("VALID: API key "), "\(found.output)")
            #expect(
                found.output.contains(
                    /BACK: passwords, .* the last event is of [0-9-]+T[0-9:.]+Z\n/),
                "\(found.output)")
            try await deployment.expectMoved(tool, key: key, account: ada.userID)
            let alone = try await tool.run(["restore-check", "--revoke-keys"])
            #expect(alone.status == 64)
            let accepted = try await tool.run(["restore-check", "--accept", "--revoke-keys"])
            #expect(accepted.status == 0, "\(accepted.output)\(accepted.errors)")
            #expect(accepted.output.contains("continues as \(Self.origin)/default/2"))
            let again = try await tool.run(["restore-check", "--accept"])
            #expect(again.status == 0 && again.output.contains("none of 1 erasures"))

            let sealed = try await tool.run(["seal", "--once"])
            #expect(sealed.status == 0, "\(sealed.errors)")
            let verified = try await tool.run(["verify"])
            #expect(verified.status == 0, "\(verified.output)\(verified.errors)")
            server = try await deployment.serve()
            ada = Device(server.client)
            try await ada.signIn(deployment.apple, as: "subject-of-ada")
            #expect(try await ada.account().status == 200)
            let refusedKey = try await server.client.send(
                "GET", "/v1/log/checkpoint", headers: ["Authorization": "Bearer \(key)"])
            #expect(refusedKey.status == 401)
        }
    }

    @Test func `after a restore without a loss API keys are listed and revoked, too`() async throws
    {
        try await withSealedLog { deployment, tool in
            let key = try await deployment.apiKey("auditor")
            let listed = try await tool.run(["restore-check", "--accept", "--restored"])
            #expect(listed.status == 0 && listed.output.contains("VALID: API key "), "\(listed)")
            #expect(listed.output.contains("BACK: passwords, addresses"), "\(listed)")
            let revoked = try await tool.run(["restore-check", "--accept", "--revoke-keys"])
            #expect(revoked.status == 0 && revoked.output.contains("was revoked"), "\(revoked)")
            let server = try await deployment.serve()
            let refused = try await server.client.send(
                "GET", "/v1/log/checkpoint", headers: ["Authorization": "Bearer \(key)"])
            #expect(refused.status == 401)
        }
    }

    @Test
    func
        `after a loss the log's number and its MAC key are others, and the lost end counts no more`()
        async throws
    {
        try await withSealedLog { deployment, tool in
            try await run(Self.backUp, on: deployment)
            var server = try await deployment.serve()
            var bob = Device(server.client)
            try await bob.signIn(deployment.google, as: "bob")
            try await server.stop()
            #expect(try await tool.run(["seal", "--once"]).status == 0)
            try await run(
                "CREATE SCHEMA lost; CREATE TABLE lost.events AS TABLE public.events",
                on: deployment)
            try await run(Self.restore, on: deployment)
            let accepted = try await tool.run(["restore-check", "--accept"])
            #expect(accepted.status == 0, "\(accepted.output)\(accepted.errors)")
            #expect(accepted.output.contains("now authenticates new events"))
            server = try await deployment.serve()
            var ada = Device(server.client)
            #expect(try await ada.signIn(deployment.apple, as: "ada").status == 200)
            try await server.stop()
            #expect(
                try await texts(
                    """
                    SELECT type || ' ' || (substr(mac, 1, 4) = (SELECT substr(mac, 1, 4) FROM lost.events
                        WHERE position = 0))::text FROM events WHERE position > 4 ORDER BY position
                    """, on: deployment) == [
                        "LedgerRestored true", "KeyRotated false", "SignedIn false",
                    ])
            #expect(
                try await texts("SELECT log_number::text FROM ledger_head", on: deployment) == ["2"]
            )
            let verified = try await tool.run(["verify"])
            #expect(verified.status == 0, "\(verified.output)\(verified.errors)")
            for position in 5...7 {
                try await exchange(position, on: deployment)
                let found = try await tool.run(["verify"])
                #expect(found.status == 1 && found.output.contains(", macs: "), "\(found.output)")
                try await exchange(position, on: deployment)
            }
            #expect(try await tool.run(["verify"]).status == 0)
        }
    }

    @Test func `after a loss of unsigned events the MAC key is changed on an operator's order`()
        async throws
    {
        try await withSealedLog { deployment, tool in
            try await run(Self.backUp, on: deployment)
            var server = try await deployment.serve()
            var bob = Device(server.client)
            try await bob.signIn(deployment.google, as: "bob")
            try await server.stop()
            try await run(
                "CREATE SCHEMA lost; CREATE TABLE lost.events AS TABLE public.events",
                on: deployment)
            try await run(Self.restore, on: deployment)
            try await run(Self.unsentMessage, on: deployment)
            try await run(Self.erasureRequest, on: deployment)
            let unaware = try await tool.run(["restore-check", "--accept"])
            #expect(try await texts("SELECT state FROM messages", on: deployment) == ["pending"])
            #expect(unaware.status == 0 && !unaware.output.contains("MAC key"), "\(unaware)")
            #expect(try await tool.run(["restore-check", "--restored"]).status == 64)
            let accepted = try await tool.run(["restore-check", "--accept", "--restored"])
            #expect(
                try await texts(
                    "SELECT concat(state, octet_length(sealed)) FROM messages", on: deployment)
                    == ["withdrawn"])
            #expect(
                try await texts("SELECT request_id::text FROM erasure_requests", on: deployment)
                    == [], "a request that may have been withdrawn can't be confirmed")
            #expect(accepted.status == 0, "\(accepted.output)\(accepted.errors)")
            #expect(accepted.output.contains("now authenticates new events"))
            server = try await deployment.serve()
            var ada = Device(server.client)
            #expect(try await ada.signIn(deployment.apple, as: "ada").status == 200)
            try await server.stop()
            #expect(try await tool.run(["verify"]).status == 0)
            try await exchange(6, on: deployment)
            let found = try await tool.run(["verify"])
            #expect(found.status == 1 && found.output.contains(", macs: "), "\(found.output)")
        }
    }

    @Test func `a backup from before 'protect' is accepted on an operator's order`() async throws {
        try await ProtectTests.with { deployment, _ in
            let tool = tool(of: deployment)
            var server = try await deployment.serve()
            var ada = Device(server.client)
            try await ada.signIn(deployment.apple, as: "ada")
            try await server.stop()
            #expect(try await tool.run(["seal", "--once"]).status == 0)
            try await run(Self.backUp, on: deployment)
            #expect(try await tool.run(["protect"]).status == 0)
            #expect(try await tool.run(["seal", "--once"]).status == 0)
            try await run(Self.restore, on: deployment)

            let error = await #expect(throws: TestTimeout.self) { try await deployment.serve() }
            #expect(error?.description.contains("does not say that it is protected") == true)
            for arguments in [["restore-check"], ["restore-check", "--accept"]] {
                let found = try await tool.run(arguments)
                #expect(found.status == 1 && found.output.contains("UNPROTECTED: "), "\(found)")
            }
            #expect(try await tool.run(["protect"]).status == 1)
            let marker = deployment.path("keys/unprotected-logs")
            #expect(FileManager.default.createFile(atPath: marker, contents: nil))
            let accepted = try await tool.run(["restore-check", "--accept"])
            #expect(accepted.status == 0, "\(accepted.output)\(accepted.errors)")
            server = try await deployment.serve()
            ada = Device(server.client)
            #expect(try await ada.signIn(deployment.apple, as: "ada").status == 200)
            try await eventually("the read models to go on") {
                try await tool.run(["protect"]).status == 0 ? true : nil
            }
            #expect(!FileManager.default.fileExists(atPath: marker))
            #expect(try await tool.run(["seal", "--once"]).status == 0)
            #expect(try await tool.run(["verify"]).status == 0)
        }
    }

    @Test func `a rotation after a restore makes a key that every log names`() async throws {
        try await withSealedLog { deployment, tool in
            #expect(try await tool.run(["tenant", "create", "acme"]).status == 0)
            #expect(try await tool.run(["seal", "--once"]).status == 0)
            try await run(Self.backUp, on: deployment)
            let server = try await deployment.serve()
            var bob = Device(server.client)
            try await bob.signIn(deployment.google, as: "bob")
            try await server.stop()
            #expect(try await tool.run(["seal", "--once"]).status == 0)
            try await run(Self.restore, on: deployment)
            let accepted = try await tool.run(["restore-check", "--accept"])
            #expect(accepted.status == 0, "\(accepted.output)\(accepted.errors)")
            let inUse = "SELECT encode(substr(mac, 1, 4), 'hex') FROM ledger_head"
            let former = Set(try await texts(inUse, on: deployment))
            #expect(former.count == 2, "only the restored log has another key")
            let rotated = try await tool.run(["keys", "rotate", "mac"])
            #expect(rotated.status == 0, "\(rotated.output)\(rotated.errors)")
            let new = Set(try await texts(inUse, on: deployment))
            #expect(new.count == 1 && new.isDisjoint(with: former), "\(new), \(former)")
            #expect(try await tool.run(["verify"]).status == 0)
        }
    }

    /// Exchanges the lost event and the current one at its position.
    private func exchange(_ position: Int, on deployment: Deployment) async throws {
        try await run(
            """
            BEGIN;
            ALTER EVENT TRIGGER ledger_guard_ddl DISABLE;
            ALTER EVENT TRIGGER ledger_guard_drop DISABLE;
            ALTER TABLE events DISABLE TRIGGER USER;
            CREATE TABLE lost.now AS SELECT * FROM events WHERE position = \(position);
            DELETE FROM events WHERE position = \(position);
            INSERT INTO events SELECT * FROM lost.events WHERE position = \(position);
            DELETE FROM lost.events WHERE position = \(position);
            INSERT INTO lost.events TABLE lost.now;
            DROP TABLE lost.now;
            COMMIT
            """, on: deployment)
        // Restores the guards.
        #expect(try await deployment.tool.run(["migrate"]).status == 0)
    }

    func texts(_ sql: String, on deployment: Deployment) async throws -> [String] {
        let session = Session(url: deployment.superuserURL, applicationName: "restore test")
        let texts = try await session.run { connection in
            let rows = try connection.query(Statement("texts", sql))
            return try (0..<rows.rowCount).map { try rows.text($0, 0) }
        }
        await session.close()
        return texts
    }

    @Test func `a tenant that a restore has removed is reported`() async throws {
        try await withSealedLog { deployment, tool in
            try await run(Self.backUp, on: deployment)
            #expect(try await tool.run(["tenant", "create", "acme"]).status == 0)
            #expect(try await tool.run(["seal", "--once"]).status == 0)
            try await run(Self.restore, on: deployment)

            let verified = try await tool.run(["verify"])
            #expect(verified.status == 1, "\(verified.output)")
            #expect(verified.output.contains("acme"), "\(verified.output)")
            let refused = try await tool.run(["seal", "--once"])
            #expect(refused.status == 1 && refused.errors.contains("tenant acme"))
            for arguments in [["restore-check"], ["restore-check", "--accept"]] {
                let found = try await tool.run(arguments)
                #expect(found.status == 1)
                #expect(found.output.contains("tenant acme: not in the database"))
            }
            #expect(try await tool.run(["tenant", "create", "acme"]).status == 0)
            let accepted = try await tool.run(["restore-check", "--accept"])
            #expect(accepted.status == 0, "\(accepted.output)\(accepted.errors)")
            #expect(try await tool.run(["seal", "--once"]).status == 0)
            let whole = try await tool.run(["verify"])
            #expect(whole.status == 0, "\(whole.output)\(whole.errors)")
        }
    }

    @Test func `a forged checkpoint stops the sealer, and the log continues under another name`()
        async throws
    {
        try await withSealedLog { deployment, tool in
            try await run(
                """
                INSERT INTO checkpoints SELECT tenant_id, origin, size + n, root, note, 'infinity'
                FROM checkpoints, unnest('{-1, 1}'::int[]) n
                """, on: deployment)
            #expect(try await tool.run(["seal", "--once"]).status == 1)
            let bundle = deployment.path("bundle.tar")
            let export = try await tool.run(["export", "--all", "--output", bundle])
            #expect(export.status == 0, "\(export.errors)")
            #expect(export.errors.contains("left out 1 checkpoints without a signature"))
            let offline = try await tool.run(["verify", "--offline", bundle])
            #expect(offline.status == 0, "\(offline.output)\(offline.errors)")

            let found = try await tool.run(["restore-check"])
            #expect(found.status == 1 && found.output.contains("LOST: the log's name"))
            let accepted = try await tool.run(["restore-check", "--accept"])
            #expect(accepted.status == 0, "\(accepted.output)\(accepted.errors)")
            #expect(accepted.output.contains("continues as \(Self.origin)/default/2"))
            #expect(try await tool.run(["restore-check"]).status == 0)
            let sealed = try await tool.run(["seal", "--once"])
            #expect(sealed.status == 0, "\(sealed.errors)")
            let verified = try await tool.run(["verify"])
            #expect(verified.status == 1 && verified.output.contains("contradicts its row"))
        }
    }

    /// The executable, as a sealer's operator runs it.
    func tool(of deployment: Deployment) -> CommandLineTool {
        let settings = [
            "LEDGER_SEALER_STATE": deployment.path("sealer"), "LEDGER_ORIGIN": Self.origin,
        ]
        return CommandLineTool(
            environment: deployment.tool.environment.merging(settings) { $1 })
    }

    /// A deployment whose log has one person and is sealed; nothing runs.
    func withSealedLog(
        _ body: (Deployment, CommandLineTool) async throws -> Void
    ) async throws {
        try await Deployment.with { deployment in
            let tool = tool(of: deployment)
            let server = try await deployment.serve()
            var ada = Device(server.client)
            try await ada.signIn(deployment.apple, as: "ada")
            try await server.stop()
            #expect(try await tool.run(["seal", "--once"]).status == 0)
            try await body(deployment, tool)
        }
    }

    func run(_ sql: String, on deployment: Deployment) async throws {
        let session = Session(url: deployment.superuserURL, applicationName: "restore test")
        try await session.run { try $0.execute(sql) }
        await session.close()
    }

    private static let unsentMessage = """
        INSERT INTO messages (tenant_id, message_id, channel, template, language, wrapping_key, sealed,
            recipient_key, recipient_digest, created_at, expires_at, next_attempt_at)
        VALUES ('default', gen_random_uuid(), 'email', 'sign_in_code', 'en', 'x', 'x', 'x', 'x', now(),
            now() + interval '1 hour', now())
        """

    private static let erasureRequest = """
        INSERT INTO erasure_requests (tenant_id, account_id, request_id, principal, plan, basis, reason,
            asked_at, expires_at)
        VALUES ('default', gen_random_uuid(), gen_random_uuid(), 'x', 'x', 'x', 'x', now(),
            now() + interval '1 hour')
        """

    static let backUp = """
        CREATE SCHEMA backup;
        DO $$ DECLARE place text; BEGIN
            FOR place IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' LOOP
                EXECUTE format('CREATE TABLE backup.%I AS TABLE public.%I', place, place);
            END LOOP;
        END $$
        """

    static let restore = """
        ALTER EVENT TRIGGER ledger_guard_ddl DISABLE;
        ALTER EVENT TRIGGER ledger_guard_drop DISABLE;
        DO $$ DECLARE place text; guard text; BEGIN
            FOR place IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' LOOP
                EXECUTE format('ALTER TABLE public.%I DISABLE TRIGGER USER', place);
                EXECUTE format('DELETE FROM public.%I', place);
                EXECUTE format('INSERT INTO public.%I SELECT * FROM backup.%I', place, place);
                FOR guard IN SELECT tgname FROM pg_trigger
                    WHERE tgrelid = format('public.%I', place)::regclass AND NOT tgisinternal
                LOOP
                    EXECUTE format('ALTER TABLE public.%I ENABLE ALWAYS TRIGGER %I', place, guard);
                END LOOP;
            END LOOP;
        END $$;
        DROP SCHEMA backup CASCADE;
        ALTER EVENT TRIGGER ledger_guard_drop ENABLE ALWAYS;
        ALTER EVENT TRIGGER ledger_guard_ddl ENABLE ALWAYS
        """
}
