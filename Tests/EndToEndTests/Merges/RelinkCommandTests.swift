import LedgerTestSupport
import Testing

/// Unlinks that the operator undoes.
@Suite struct RelinkCommandTests {
    private static let someID = "01234567-89ab-7cde-8f01-23456789abcd"

    @Test func `an unlink is previewed, undone, in every history, and verified`() async throws {
        try await Deployment.with { deployment in
            let server = try await deployment.serve()
            var ada = Device(server.client)
            try await ada.signIn(deployment.apple, as: "ada", email: "ada@private.example")
            let linked = try await ada.link(
                deployment.google, as: "ada-g", email: "ada-g@private.example")
            #expect(linked.status == 200)
            let account = try await ada.account()
            let identities = try #require(account.json["identities"] as? [[String: any Sendable]])
            let identity = try #require(identities.last?["identity_id"] as? String)
            let words = ["relink", ada.userID, identity]
            let why = ["--reason", "by mistake", "--case", "T-9"]

            let early = try await deployment.tool.run(words + why)
            #expect(early.status == 1)
            #expect(early.errors.contains("can't be linked again: already_linked"))
            #expect(try await ada.unlink(deployment.google).status == 200)
            let plan = try await deployment.tool.run(words + ["--dry-run"])
            #expect(
                plan.output == """
                    link identity \(identity) of google to account \(ada.userID) again
                      sign-in is then possible with apple, google

                    """, "\(plan.errors)")
            #expect(try await ada.account().texts("linked_providers") == ["apple"])
            let done = try await deployment.tool.run(words + why)
            #expect(done.status == 0, "\(done.errors)")
            #expect(done.output == plan.output + "done\n")

            // The server that was running shows it, and the identity can sign in again.
            let after = try await ada.account()
            #expect(after.texts("linked_providers") == ["apple", "google"])
            let shown = try #require(after.json["identities"] as? [[String: any Sendable]])
            #expect(shown.last?["identity_id"] as? String == identity)
            #expect(shown.last?["email"] as? String == "ada-g@private.example")
            var back = Device(server.client)
            try await back.signIn(deployment.google, as: "ada-g")
            #expect(back.userID == ada.userID)
            try await server.stop()

            let nobody = try await deployment.tool.run(["relink", ada.userID, Self.someID] + why)
            #expect(nobody.errors.contains("not_linked_here_last"))
            let replay = try await deployment.tool.run(["replay", "--account", ada.userID])
            #expect(
                replay.output.contains(
                    "  ProviderLinked  accepted (relink)  provider google  identity \(identity)\n"),
                "\(replay.output)")
            let history = try await deployment.tool.run(["history", ada.userID])
            #expect(history.output.contains("ProviderLinked  accepted (relink)"))
            // #0 opens the ledger, #1 has its rules, #2 to #4 open the account, #5 links, #6 unlinks, #7 links again.
            let diff = try await deployment.tool.run(["account", ada.userID, "--diff", "6", "7"])
            #expect(diff.output.contains("\n+ google  identity \(identity)"), "\(diff.output)")
            let owner = try await deployment.tool.run(["owner", "google", "ada-g"])
            let spans = owner.output.split(separator: "\n").filter { $0.hasPrefix("account ") }
            #expect(spans.count == 2, "\(owner.output)")
            let access = try await deployment.tool.run(["access-log"])
            let lines = access.output.split(separator: "\n").map {
                $0.split(separator: "\t").map(String.init)
            }.filter { $0[4] == "identity.relink" }
            #expect(
                lines.map { $0[5] } == ["allowed", "refused", "allowed", "allowed", "refused"])
            #expect(
                lines[2][9...10] == ["by mistake", #"{"case":"T-9","identity":"\#(identity)"}"#])
            try await expectVerified(deployment)
        }
    }
}
