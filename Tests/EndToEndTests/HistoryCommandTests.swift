import LedgerTestSupport
import Testing

/// The past of an account, as auditors ask for it on the command line.
@Suite struct HistoryCommandTests {
    private static let someID = "01234567-89ab-7cde-8f01-23456789abcd"

    @Test(arguments: ["account", "history", "owner"])
    func `every subcommand explains itself`(subcommand: String) async throws {
        let outcome = try await CommandLineTool(environment: [:]).run([subcommand, "--help"])
        #expect(outcome.status == 0)
        #expect(outcome.output.contains("Usage: account-ledger \(subcommand)"))
    }

    @Test(arguments: [
        ["account"], ["account", "x"], ["account", someID, "--as-of", "now"],
        ["account", someID, "--diff", "1"], ["account", someID, "--diff", "1", "--tenant"],
        ["account", someID, "--diff", "1", "2", "--as-of", "3"], ["history", "x"],
        ["history", someID, "--format", "csv"], ["owner", "apple"], ["owner", "NO", "x"],
        ["owner", "apple", "x", "--as-of", "-1"],
    ])
    func `a usage error is one clear line`(arguments: [String]) async throws {
        let tool = CommandLineTool(environment: ["DATABASE_URL": "postgresql://x@127.0.0.1:1/x"])
        let outcome = try await tool.run(arguments)
        #expect(outcome.status == 64)
        #expect(outcome.errors.split(separator: "\n").count == 1)
        #expect(outcome.output.isEmpty)
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
            #expect(now.output.contains("could be signed in with apple\n"), "\(now.output)")
            let then = try await deployment.tool.run(
                ["account", ada.userID, "--as-of", "4", "--format", "json"])
            #expect(then.output.contains(#""linked_providers":["apple","google"]"#))
            #expect(then.output.contains(#""as_of":{"position":"4","recorded_at":"#))
            let early = try await deployment.tool.run(["account", ada.userID, "--as-of", "0"])
            #expect(early.output.contains("not opened yet"), "\(early.output)")
            let never = try await deployment.tool.run(["account", ada.userID, "--as-of", "99"])
            #expect(never.status == 1)
            #expect(never.errors.contains("the log has 9 events"), "\(never.errors)")

            let diff = try await deployment.tool.run(["account", ada.userID, "--diff", "4", "8"])
            #expect(diff.output.contains("\n- google  identity "), "\(diff.output)")
            #expect(diff.output.contains("\n#5  "))
            #expect(!diff.output.contains("\n#4  "))

            let history = try await deployment.tool.run(["history", ada.userID])
            #expect(history.status == 0, "\(history.errors)")
            #expect(
                history.output.contains("complete: 5 events touch account \(ada.userID)"),
                "\(history.output)")
            #expect(!history.output.contains("private.example"))
            let disclosed = try await deployment.tool.run(["history", ada.userID, "--disclose"])
            #expect(disclosed.output.contains("ada@private.example"), "\(disclosed.errors)")

            let owner = try await deployment.tool.run(["owner", "google", "ada-g"])
            let lines = owner.output.split(separator: "\n")
            #expect(lines.count == 3, "\(owner.output)\(owner.errors)")
            #expect(lines[0].hasPrefix("account \(ada.userID)  from #4  "))
            #expect(lines[0].contains("  until #5  "))
            #expect(lines[1].hasPrefix("account \(bob.userID)  from #7  "))
            let between = try await deployment.tool.run(
                ["owner", "google", "ada-g", "--as-of", "6"])
            #expect(between.output.contains("nobody held"), "\(between.output)")
            let nobody = try await deployment.tool.run(["owner", "google", "mallory"])
            #expect(nobody.status == 1)
            #expect(nobody.errors.contains("has no identity"), "\(nobody.errors)")
            let verify = try await deployment.tool.run(["verify"])
            #expect(verify.errors.isEmpty)
            #expect(
                verify.output.contains(
                    "\n9 entries, 0 checkpoints consistent, 2 accounts complete, account_audit "),
                "\(verify.output)")
        }
    }
}
