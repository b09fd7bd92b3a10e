import LedgerTestSupport
import Postgres
import Testing

/// Account histories on the command line.
@Suite struct HistoryCommandTests {
    private static let someID = "01234567-89ab-7cde-8f01-23456789abcd"

    @Test func `personal data is shown for a reason, and not before it is written down`()
        async throws
    {
        try await Deployment.with { deployment in
            let server = try await deployment.serve()
            var ada = Device(server.client)
            try await ada.signIn(deployment.apple, as: "ada", email: "ada@private.example")
            try await server.stop()
            let commands = [
                ["history", ada.userID, "--as-of", "4"], ["replay", "--account", ada.userID],
                ["replay", "--from", "2", "--to", "4"],
            ]
            for (number, command) in commands.enumerated() {
                let shown = try await deployment.tool.run(
                    command + ["--disclose", "--reason", "case \(number)"])
                #expect(shown.output.contains("ada@private.example"), "\(shown.errors)")
            }
            let log = try await deployment.tool.run(["access-log"])
            let lines = log.output.split(separator: "\n").map {
                $0.split(separator: "\t").map { String($0) }
            }
            try #require(lines.count == 3, "\(log.output)")
            #expect(lines.map { $0[2] } == ["operator", "operator", "operator"])
            #expect(lines.map { $0[4] } == ["account.history", "account.history", "event.list"])
            #expect(lines.map { $0[6] } == [ada.userID, ada.userID, "-"])
            #expect(lines.map { $0[8] } == ["disclosed", "disclosed", "disclosed"])
            #expect(lines.map { $0[9] } == ["case 0", "case 1", "case 2"])
            #expect(
                lines.map { $0[10] } == [#"{"as_of":"4"}"#, "{}", #"{"from":"2","to":"4"}"#])

            let database = Session(url: deployment.superuserURL, applicationName: "test")
            try await database.run { connection in
                try connection.execute(
                    """
                    DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = on',
                        current_database()); END $$
                    """)
            }
            await database.close()
            for command in commands {
                let hidden = try await deployment.tool.run(
                    command + ["--disclose", "--reason", "case 9"])
                #expect(hidden.status == 1 && hidden.output.isEmpty)
                #expect(hidden.errors.contains("nothing was disclosed"), "\(hidden.errors)")
                // Commands that show no personal data are not recorded and need no reason.
                #expect(try await deployment.tool.run(command).status == 0)
            }
        }
    }

    @Test func `an account as of any moment, what changed, and who held an identity`()
        async throws
    {
        try await Deployment.with { deployment in
            let server = try await deployment.serve()
            var ada = Device(server.client)
            try await ada.signIn(deployment.apple, as: "ada", email: "ada@private.example")
            #expect(try await ada.link(deployment.google, as: "ada-g").status == 200)
            #expect(try await ada.unlink(deployment.google).status == 200)
            var bob = Device(server.client)
            try await bob.signIn(deployment.google, as: "ada-g")
            try await server.stop()

            let now = try await deployment.tool.run(["account", ada.userID])
            #expect(now.status == 0, "\(now.errors)")
            #expect(now.output.contains("sign-in was possible with apple\n"), "\(now.output)")
            let then = try await deployment.tool.run(
                ["account", ada.userID, "--as-of", "5", "--format", "json"])
            #expect(then.output.contains(#""linked_providers":["apple","google"]"#))
            #expect(then.output.contains(#""as_of":{"position":"5","recorded_at":"#))
            let early = try await deployment.tool.run(["account", ada.userID, "--as-of", "0"])
            #expect(early.output.contains("not opened yet"), "\(early.output)")
            let never = try await deployment.tool.run(["account", ada.userID, "--as-of", "99"])
            #expect(never.status == 1)
            #expect(never.errors.contains("the log has only 10 events"), "\(never.errors)")

            let diff = try await deployment.tool.run(["account", ada.userID, "--diff", "5", "9"])
            #expect(diff.output.contains("\n- google  identity "), "\(diff.output)")
            #expect(diff.output.contains("\n#6  "))
            #expect(!diff.output.contains("\n#5  "))

            let history = try await deployment.tool.run(["history", ada.userID])
            #expect(history.status == 0, "\(history.errors)")
            #expect(
                history.output.contains("complete: 5 events touch account \(ada.userID)"),
                "\(history.output)")
            #expect(!history.output.contains("private.example"))

            let owner = try await deployment.tool.run(["owner", "google", "ada-g"])
            let lines = owner.output.split(separator: "\n")
            #expect(lines.count == 3, "\(owner.output)\(owner.errors)")
            #expect(lines[0].hasPrefix("account \(ada.userID)  from #5  "))
            #expect(lines[0].contains("  until #6  "))
            #expect(lines[1].hasPrefix("account \(bob.userID)  from #8  "))
            let between = try await deployment.tool.run(
                ["owner", "google", "ada-g", "--as-of", "7"])
            #expect(between.output.contains("no account held"), "\(between.output)")
            let nobody = try await deployment.tool.run(["owner", "google", "mallory"])
            #expect(nobody.status == 1)
            #expect(nobody.errors.contains("has no identity"), "\(nobody.errors)")
            let verify = try await deployment.tool.run(["verify"])
            #expect(verify.errors.isEmpty)
            #expect(
                verify.output.contains(
                    "\n10 entries, 0 checkpoints consistent, 2 accounts complete, account_audit "),
                "\(verify.output)")
        }
    }

    @Test func `the timeline of merged accounts fits a terminal and names the actors`() async throws
    {
        try await Deployment.with { deployment in
            let server = try await deployment.serve()
            var ada = Device(server.client)
            try await ada.signIn(deployment.apple, as: "ada", email: "ada@private.example")
            var bob = Device(server.client)
            try await bob.signIn(deployment.google, as: "bob", email: "bob@private.example")
            #expect(try await ada.link(deployment.google, as: "bob").status == 409)
            try await server.stop()
            let merged = try await deployment.tool.run([
                "merge", ada.userID, bob.userID, "--reason", "one person", "--case", "T-100",
            ])
            #expect(merged.status == 0, "\(merged.errors)")

            let shown = try await deployment.tool.run(["timeline", bob.userID])
            #expect(shown.status == 0 && shown.errors.isEmpty, "\(shown.errors)")
            let lines = shown.output.split(separator: "\n").map { String($0) }
            #expect(lines.allSatisfy { $0.count <= 100 }, "\(shown.output)")
            #expect(lines.contains("  A  \(ada.userID)  open  5 events"))
            #expect(lines.contains("  B  \(bob.userID)  merged  into A  5 events  requested"))
            func ends(_ start: String, _ end: String) -> Bool {
                lines.contains { $0.hasPrefix(start) && $0.hasSuffix(end) }
            }
            #expect(ends("#8  ", "  A could not link google held by B"), "\(shown.output)")
            #expect(ends("#9  ", "  A absorbed B"))
            #expect(lines.contains { $0.hasPrefix("    by the holder of A  reason held_by_other") })
            #expect(lines.contains { $0.hasPrefix("    by the system  reason support  event ") })
            #expect(lines.contains("    A had apple") && lines.contains("    A has apple, google"))
            #expect(lines.contains { $0.hasPrefix("      - google  identity ") })
            #expect(shown.output.contains("\ncomplete: Exactly 8 events touch these 2 accounts"))
            #expect(!shown.output.contains("private.example") && !shown.output.contains("T-100"))

            let disclosed = try await deployment.tool.run([
                "timeline", ada.userID, "--disclose", "--reason", "case 7", "--as-of", "9",
            ])
            for text in ["ada@private.example", "bob@private.example", "one person", "T-100"] {
                #expect(disclosed.output.contains(text), "\(disclosed.errors)")
            }
            let log = try await deployment.tool.run(["access-log"])
            #expect(log.output.contains("account.timeline"), "\(log.output)")
            let named = #"{"accounts":"\#(ada.userID) \#(bob.userID)","as_of":"9"}"#
            #expect(log.output.contains(named), "\(log.output)")
            let json = try await deployment.tool.run(["timeline", ada.userID, "--format", "json"])
            #expect(json.output.split(separator: "\n").count == 8)
            #expect(json.errors.contains("complete: Exactly 8 events"))
            let never = try await deployment.tool.run(["timeline", Self.someID])
            #expect(never.status == 1 && never.errors.contains("no account "))
        }
    }
}
