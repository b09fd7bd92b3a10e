import Cryptography
import Foundation
import LedgerTestSupport
import Postgres
import Testing
import TransparencyLog

/// Exports of a real ledger, verified by the executable and by the program in the bundle.
@Suite struct ExportTests {
    @Test func `an exported bundle is verified by both programs, and by hand`() async throws {
        try await Deployment.with { deployment in
            let story = try await Story(deployment)
            let sealed = try await story.seal(every: 3)
            for scope in [["--all"], ["--account", story.ada.userID]] {
                let path = deployment.path("bundle\(scope.count).tar")
                let export = try await deployment.tool.run(
                    ["export", "--output", path, "--since", "3"] + scope)
                #expect(export.status == 0, "\(export.errors)")
                #expect(export.output.contains("up to the checkpoint of \(sealed.size) entries"))
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

    @Test func `what a bundle discloses is recorded first, and its digests are in the entries`()
        async throws
    {
        try await Deployment.with { deployment in
            let story = try await Story(deployment)
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
            let accesses = try await deployment.tool.run(["access-log"])
            #expect(accesses.output.contains("log.export"))
            #expect(accesses.output.contains("case 17"))
        }
    }

    @Test func `lines and rows hold every event, and a file is never overwritten`() async throws {
        try await Deployment.with { deployment in
            let story = try await Story(deployment)
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
                let again = try await deployment.tool.run(arguments)
                #expect(again.status == 1)
                #expect(again.errors.contains("exists already"))
                #expect(try contents(path) == text)
            }
        }
    }

    @Test func `without a checkpoint there is no bundle, and no file`() async throws {
        try await Deployment.with { deployment in
            _ = try await Story(deployment)
            let path = deployment.path("none.tar")
            let export = try await deployment.tool.run(["export", "--all", "--output", path])
            #expect(export.status == 1)
            #expect(export.errors.contains("sealer"), "\(export.errors)")
            #expect(!FileManager.default.fileExists(atPath: path))
            #expect(!FileManager.default.fileExists(atPath: path + ".partial"))
        }
    }

    @Test(arguments: [["--all"], ["--account"]])
    func `what is not what was signed is not exported`(scope: [String]) async throws {
        try await Deployment.with { deployment in
            let story = try await Story(deployment)
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

    private func python(_ bundle: String, _ vkey: String) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = [
            "-c",
            "tar xfO \"$0\" verify.py > \"$0.py\" && /usr/bin/python3 -I \"$0.py\" --vkey \"$1\" \"$0\"",
            bundle, vkey,
        ]
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let text = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return String(decoding: text, as: UTF8.self)
    }

    private func contents(_ path: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
    }
}

/// Some people sign in and link, and their log can be sealed.
private struct Story {
    let ada: Device
    let events: Int
    private let session: Session

    init(_ deployment: Deployment) async throws {
        let server = try await deployment.serve()
        var ada = Device(server.client)
        try await ada.signIn(deployment.apple, as: "ada", email: "ada@example.org")
        _ = try await ada.link(deployment.google, as: "ada", email: "ada@example.org")
        for name in ["ben", "cleo", "dora"] {
            var other = Device(server.client)
            try await other.signIn(deployment.google, as: name)
            _ = try await ada.link(deployment.google, as: name)
        }
        try await server.stop()
        self.ada = ada
        session = Session(url: deployment.superuserURL, applicationName: "export test")
        events = try await session.run { connection in
            Int(try connection.query(Statement("count", "SELECT count(*) FROM events")).int8(0, 0))
        }
    }

    func run(_ script: String) async throws {
        try await session.run { try $0.execute(script) }
    }

    /// Writes the hashes and a checkpoint every so many entries, as a sealer would; the last one
    /// leaves the last event out.
    func seal(every: Int64) async throws -> (size: Int64, vkey: String) {
        let name = try #require(NoteKeyName("ledger.example/default"))
        let signer = NoteSigner(name: name, privateKey: .generate())
        let size = try await session.run { connection in
            let rows = try connection.query(
                Statement("entries", "SELECT entry FROM events ORDER BY position"))
            var (tree, stored) = (CompactRange(), [TreeHash]())
            for row in 0..<(rows.rowCount - 1) {
                tree.append(.leaf(try rows.bytes(row, 0)), completing: &stored)
                guard tree.size % every == 0 || row == rows.rowCount - 2 else { continue }
                let checkpoint = Checkpoint(origin: name, size: tree.size, root: tree.root)
                _ = try connection.query(
                    Statement(
                        "checkpoint",
                        "INSERT INTO checkpoints VALUES ('default', $1, $2, $3, $4, now())"),
                    [
                        .text(name.description), .int8(tree.size), .bytes(tree.root.bytes),
                        .text(checkpoint.signed(by: [signer]).description),
                    ])
            }
            // Rows of other lengths than a sealer's are read as well.
            for start in stride(from: 0, to: stored.count, by: 10) {
                _ = try connection.query(
                    Statement("nodes", "INSERT INTO merkle_nodes VALUES ('default', $1, $2)"),
                    [
                        .int8(Int64(start)),
                        .bytes(stored[start..<min(start + 10, stored.count)].flatMap(\.bytes)),
                    ])
            }
            _ = try connection.query(
                Statement("key", "INSERT INTO checkpoint_keys VALUES ('default', $1, now())"),
                [.text(signer.verifier.vkey)])
            return tree.size
        }
        return (size: size, vkey: signer.verifier.vkey)
    }
}
