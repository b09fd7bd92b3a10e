import ChildProcesses
import Foundation
import LedgerTestSupport
import Postgres
import Testing

/// Exports of a real ledger, verified by the executable and by the program in the bundle.
@Suite struct ExportTests {
    @Test func `an exported bundle is verified by both programs, and by hand`() async throws {
        try await Deployment.with { deployment in
            let story = try await ExportStory(deployment)
            let sealed = try await story.seal(every: 3)
            for scope in [["--all"], ["--account", story.ada.userID]] {
                let path = deployment.path("bundle\(scope.count).tar")
                let export = try await deployment.tool.run(
                    ["export", "--output", path, "--since", "3"] + scope)
                #expect(export.status == 0, "\(export.errors)")
                #expect(export.output.contains("up to the checkpoint of \(sealed.size) entries"))
                #expect(
                    export.output.contains("scanned to its end")
                        == scope.contains("--account"))
                let offline = try await CommandLineTool(environment: [:])
                    .run(["verify", "--offline", path, "--vkey", sealed.vkey])
                #expect(offline.status == 0, "\(offline.output)\(offline.errors)")
                #expect(offline.output.contains("disclosures  0"))
                let conclusion = try #require(offline.output.split(separator: "\n").last)
                #expect(conclusion.hasPrefix("everything holds"))
                #expect(try python(path, sealed.vkey).hasSuffix(conclusion + "\n"))
                #expect(try !contents(path).contains("ada@example.org"))
            }
        }
    }

    @Test func `disclosures of a bundle are recorded first, and their digests are in the entries`()
        async throws
    {
        try await Deployment.with { deployment in
            let story = try await ExportStory(deployment)
            let sealed = try await story.seal(every: 100)
            let path = deployment.path("disclosed.tar")
            let arguments = ["export", "--account", story.ada.userID, "--output", path]
            let without = try await deployment.tool.run(arguments + ["--disclose"])
            #expect(without.status == 64)
            let export = try await deployment.tool.run(
                arguments + ["--disclose", "--reason", "case 17"])
            #expect(export.status == 0, "\(export.errors)")
            let offline = try await deployment.tool.run(
                ["verify", "--offline", path, "--vkey", sealed.vkey])
            #expect(offline.status == 0, "\(offline.output)")
            #expect(!offline.output.contains("disclosures  0"))
            let conclusion = try #require(offline.output.split(separator: "\n").last)
            #expect(conclusion.hasPrefix("everything holds up to seq "))
            #expect(try python(path, sealed.vkey).hasSuffix(conclusion + "\n"))
            // Only its owner may read it.
            let rights = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
            #expect(rights as? Int == 0o600)
            let accesses = try await deployment.tool.run(["access-log"])
            #expect(accesses.output.contains("log.export"))
            #expect(accesses.output.contains("case 17"))
        }
    }

    @Test func `lines and rows hold every event, and a file is never overwritten`() async throws {
        try await Deployment.with { deployment in
            let story = try await ExportStory(deployment)
            for format in ["jsonl", "csv"] {
                let path = deployment.path("events.\(format)")
                let arguments = ["export", "--all", "--format", format, "--output", path]
                let export = try await deployment.tool.run(
                    arguments + ["--disclose", "--reason", "audit"])
                #expect(export.status == 0, "\(export.errors)")
                let text = try contents(path)
                let heads = format == "csv" ? 1 : 0
                #expect(text.utf8.filter { $0 == 0x0A }.count == story.events + heads)
                #expect(text.contains("ada@example.org"))
                let rights = try FileManager.default.attributesOfItem(atPath: path)
                #expect(rights[.posixPermissions] as? Int == 0o600)
                let again = try await deployment.tool.run(arguments)
                #expect(again.status == 1)
                #expect(again.errors.contains("already exists"))
                #expect(try contents(path) == text)
            }
        }
    }

    @Test func `without a checkpoint there is no bundle, and no file`() async throws {
        try await Deployment.with { deployment in
            _ = try await ExportStory(deployment)
            let path = deployment.path("none.tar")
            let export = try await deployment.tool.run(["export", "--all", "--output", path])
            #expect(export.status == 1)
            #expect(export.errors.contains("sealer"), "\(export.errors)")
            #expect(!FileManager.default.fileExists(atPath: path))
            #expect(!FileManager.default.fileExists(atPath: path + ".partial"))
        }
    }

    @Test(arguments: [["--all"], ["--account"]])
    func `data that differ from the signed log are not exported`(scope: [String]) async throws {
        try await Deployment.with { deployment in
            let story = try await ExportStory(deployment)
            _ = try await story.seal(every: 3)
            try await story.run(
                """
                DO $$ BEGIN
                    EXECUTE (SELECT coalesce(string_agg(format(
                        'ALTER EVENT TRIGGER %I DISABLE', evtname), '; '), 'SELECT 1')
                        FROM pg_event_trigger);
                END $$;
                ALTER TABLE events DISABLE TRIGGER ALL;
                UPDATE events SET entry = convert_to(replace(
                    convert_from(entry, 'UTF8'), '"seq":"2"', '"seq":"2" '), 'UTF8')
                WHERE account_seq = 2;
                """)
            let path = deployment.path("damaged.tar")
            let account = scope == ["--account"] ? [story.ada.userID] : []
            let export = try await deployment.tool.run(
                ["export", "--output", path] + scope + account)
            #expect(export.status == 1)
            #expect(export.errors.contains("position"), "\(export.errors)")
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }

    /// Mallory tries to link Ben's identity: the refusal is in both histories, but its disclosures are about
    /// Mallory.
    @Test func `the holder of a conflict learns nothing about the caller`() async throws {
        try await Deployment.with { deployment in
            let server = try await deployment.serve()
            var (ben, mallory) = (Device(server.client), Device(server.client))
            try await ben.signIn(deployment.google, as: "google-of-ben", email: "ben@example.org")
            try await mallory.signIn(
                deployment.apple, as: "apple-of-mallory", email: "mallory@example.org")
            let refused = try await server.client.call(
                "POST", "/v1/auth/link/google",
                ["id_token": deployment.google.token(subject: "google-of-ben")],
                token: mallory.accessToken, headers: ["User-Agent": "browser-of-mallory"])
            #expect(refused.status == 409)
            try await ben.signIn(deployment.google, as: "google-of-ben", email: "ben@example.org")
            try await server.stop()
            let story = ExportStory(deployment, ada: ben)
            let sealed = try await story.seal(every: 100)
            let disclose = ["--account", ben.userID, "--disclose"]
            for format in ["bundle", "jsonl", "csv"] {
                let path = deployment.path("ben.\(format)")
                let export = try await deployment.tool.run(
                    ["export", "--format", format, "--output", path, "--reason", "r"] + disclose)
                #expect(export.status == 0, "\(export.errors)")
                #expect(!export.output.contains("WITHHELD"), "\(export.output)")
                let shown = try format == "bundle" ? disclosures(path) : contents(path)
                #expect(shown.contains("ben@example.org"))
                #expect(!shown.contains("mallory"), "\(format): \(shown)")
                // A bundle's head names every type of event.
                if format != "bundle" {
                    #expect(try contents(path).contains("ConflictRejected"))
                }
            }
            let offline = try await deployment.tool.run(
                ["verify", "--offline", deployment.path("ben.bundle"), "--vkey", sealed.vkey])
            #expect(offline.status == 0, "\(offline.output)")
            #expect(offline.output.contains(" left out: they belong to other accounts\n"))
            let conclusion = try #require(offline.output.split(separator: "\n").last)
            #expect(
                try python(deployment.path("ben.bundle"), sealed.vkey).hasSuffix(conclusion + "\n"))
            // Mallory's own history has it.
            let own = try await deployment.tool.run(
                ["replay", "--account", mallory.userID, "--disclose", "--reason", "case 1"])
            #expect(own.output.contains("browser-of-mallory"))
            for format in ["text", "json"] {
                let replay = try await deployment.tool.run(
                    ["replay", "--format", format, "--reason", "r"] + disclose)
                #expect(replay.status == 0, "\(replay.errors)")
                #expect(replay.output.contains("ConflictRejected"))
                #expect(replay.output.contains("ben@example.org"))
                #expect(!replay.output.contains("mallory"), "\(replay.output)")
            }
        }
    }

    /// The tables that the serving login may change deny the account's last event.
    @Test(arguments: [false, true])
    func `an end that tables deny is found in the log`(isHeadSetBack: Bool) async throws {
        try await Deployment.with { deployment in
            let story = try await ExportStory(deployment)
            _ = try await story.seal(every: 100)
            let account = story.ada.userID
            let url = try #require(deployment.tool.environment["DATABASE_URL"])
            let login = Session(url: url, applicationName: "export test")
            try await login.run { connection in
                try connection.execute(
                    """
                    UPDATE accounts SET next_seq = next_seq - 1, last_position = e.position,
                        last_leaf = sha256('\\x00'::bytea || e.entry)
                    FROM events e, jsonb_array_elements(
                        convert_from(e.entry, 'UTF8')::jsonb -> 'accounts') AS a (part)
                    WHERE accounts.account_id = '\(account)' AND part ->> 'id' = '\(account)'
                        AND part ->> 'seq' = (next_seq - 2)::text;
                    DELETE FROM account_audit_1 a USING accounts
                    WHERE accounts.account_id = '\(account)' AND a.account_id = '\(account)'
                        AND a.account_seq >= next_seq
                    """)
            }
            let last = try await story.number(
                """
                SELECT max(position) FROM events
                WHERE convert_from(entry, 'UTF8') LIKE '%"id":"\(account)"%'
                """)
            if isHeadSetBack {
                try await login.run { connection in
                    try connection.execute("UPDATE ledger_head SET next_position = \(last)")
                }
            }
            await login.close()
            for format in ["bundle", "jsonl"] {
                let path = deployment.path("short.\(format)")
                let export = try await deployment.tool.run(
                    ["export", "--account", account, "--format", format, "--output", path])
                #expect(export.status == 1)
                #expect(
                    export.errors.contains("position \(last): account \(account)"),
                    "\(export.errors)")
                #expect(!FileManager.default.fileExists(atPath: path))
            }
            let replay = try await deployment.tool.run(["replay", "--account", account])
            #expect(replay.status == 1)
            #expect(replay.errors.contains("next_seq is"), "\(replay.errors)")
            #expect(replay.output.contains("#\(last)  "))
        }
    }

    /// The bundle goes up to a checkpoint that does not cover the erasure.
    @Test func `data erased since the checkpoint is announced`() async throws {
        try await Deployment.with { deployment in
            let story = try await ExportStory(deployment)
            let sealed = try await story.seal(every: 100)
            let erased = try await deployment.tool.run(
                ["erase", story.ada.userID, "--reason", "case 17"])
            #expect(erased.status == 0, "\(erased.errors)")
            let path = deployment.path("bundle.tar")
            let export = try await deployment.tool.run(
                ["export", "--all", "--output", path, "--disclose", "--reason", "r"])
            #expect(export.status == 0, "\(export.errors)")
            #expect(export.output.contains("a verifier will report them as WITHHELD"))
            let offline = try await deployment.tool.run(
                ["verify", "--offline", path, "--vkey", sealed.vkey])
            #expect(offline.status == 1)
            #expect(offline.output.contains(" disclosures are WITHHELD from here on"))
            #expect(try python(path, sealed.vkey) == offline.output)
        }
    }

    /// A verifier would refuse a bundle that has one of these.
    @Test(arguments: [Stray.forged, .ofAnotherSize])
    func `an invalid checkpoint on the way is left out`(stray: Stray) async throws {
        try await Deployment.with { deployment in
            let story = try await ExportStory(deployment)
            let sealed = try await story.seal(every: 3, adding: stray)
            let path = deployment.path("bundle.tar")
            let export = try await deployment.tool.run(["export", "--all", "--output", path])
            #expect(export.status == 0, "\(export.errors)")
            #expect(export.errors.contains("left out 1 checkpoints without a signature"))
            let offline = try await deployment.tool.run(
                ["verify", "--offline", path, "--vkey", sealed.vkey])
            #expect(offline.status == 0, "\(offline.output)\(offline.errors)")
            #expect(try python(path, sealed.vkey).contains("everything holds"))
        }
    }

    @Test func `a signed checkpoint on the way that contradicts the log ends the export`()
        async throws
    {
        try await Deployment.with { deployment in
            let story = try await ExportStory(deployment)
            _ = try await story.seal(every: 3, adding: .ofAnotherRoot)
            let path = deployment.path("bundle.tar")
            let export = try await deployment.tool.run(["export", "--all", "--output", path])
            #expect(export.status == 1)
            #expect(export.errors.contains("checkpoint") || export.errors.contains("position"))
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }

    /// The disclosures of a bundle's lines, decoded.
    private func disclosures(_ bundle: String) throws -> String {
        let text = try contents(bundle)
        return text.matches(of: /"disclosures":\[([^\]]*)\]/).flatMap { match in
            match.output.1.split(separator: ",").map { disclosure in
                let padded = disclosure.filter { $0 != "\"" }
                    .replacing("-", with: "+").replacing("_", with: "/")
                let padding = String(repeating: "=", count: (4 - padded.count % 4) % 4)
                return String(
                    decoding: Data(base64Encoded: padded + padding) ?? Data(), as: UTF8.self)
            }
        }.joined(separator: "\n")
    }

    private func python(_ bundle: String, _ vkey: String) throws -> String {
        try ChildProcess.run(
            "/bin/sh",
            [
                "-c",
                "tar xfO \"$0\" verify.py > \"$0.py\" && /usr/bin/python3 -I \"$0.py\" --vkey \"$1\" \"$0\"",
                bundle, vkey,
            ]
        ).text
    }

    private func contents(_ path: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
    }
}
