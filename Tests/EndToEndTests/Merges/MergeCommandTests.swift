import LedgerTestSupport
import Testing

/// Merges made, undone and listed by the operator.
@Suite struct MergeCommandTests {
    private static let someID = "01234567-89ab-7cde-8f01-23456789abcd"
    private static let case7 = ["--reason", "case 7", "--case", "T-7"]

    /// Ada with Apple and Google, and a second account of hers with another Google identity and another Apple
    /// one, so that there is an identity to move.
    private struct Story {
        let deployment: Deployment
        let ada: Device
        let other: Device

        init(_ deployment: Deployment) async throws {
            self.deployment = deployment
            let server = try await deployment.serve()
            var (ada, other) = (Device(server.client), Device(server.client))
            try await ada.signIn(deployment.apple, as: "ada", email: "ada@private.example")
            #expect(try await ada.link(deployment.google, as: "ada").status == 200)
            try await other.signIn(deployment.google, as: "other", email: "o@private.example")
            try await server.stop()
            (self.ada, self.other) = (ada, other)
        }

        func run(_ arguments: [String]) async throws -> CommandLineTool.Outcome {
            try await deployment.tool.run(arguments)
        }

        /// The refusal of a command: one line, and nothing in the log.
        func refusal(_ arguments: [String]) async throws -> String {
            let before = try await eventCount()
            let outcome = try await run(arguments)
            #expect(outcome.status == 1, "\(arguments): \(outcome.output)")
            #expect(outcome.errors.split(separator: "\n").count == 1)
            #expect(try await eventCount() == before)
            return outcome.errors
        }

        func eventCount() async throws -> Int {
            try await run(["replay", "--from", "0"]).output.split(separator: "\n")
                .count { $0.hasPrefix("#") }
        }

        /// The lines of the access log by their columns.
        func accesses() async throws -> [[String]] {
            try await run(["access-log"]).output.split(separator: "\n").map {
                $0.split(separator: "\t").map(String.init)
            }
        }
    }

    @Test func `a merge is shown, done, looked at from both sides, and taken back`() async throws {
        try await Deployment.with { deployment in
            let story = try await Story(deployment)
            let (ada, other) = (story.ada.userID, story.other.userID)
            let events = try await story.eventCount()
            let kept = ["--keep-absorbed", "google"]

            let plain = try await story.run(["merge", ada, other, "--dry-run"])
            #expect(plain.output.contains("merge account \(other) into account \(ada):\n"))
            #expect(plain.output.contains("  left behind   google  identity "))
            #expect(plain.output.contains("  one of google is kept: the survivor's\n"))
            let plan = try await story.run(["merge", ada, other, "--dry-run"] + kept)
            #expect(plan.status == 0, "\(plan.errors)")
            #expect(plan.output.contains("  moved         google  identity "))
            #expect(plan.output.contains("  replaced      google  identity "))
            #expect(plan.output.contains("  one of google is kept: the absorbed account's\n"))
            #expect(plan.output.contains("sign-in is then possible with apple, google\n"))
            #expect(try await story.eventCount() == events)
            #expect(try await story.accesses().isEmpty, "a plan is no access")

            let merged = try await story.run(["merge", ada, other] + kept + Self.case7)
            #expect(merged.status == 0, "\(merged.errors)")
            #expect(merged.output.hasPrefix(plan.output), "what is done is what was shown")
            let done = try #require(
                merged.output.firstMatch(of: /merged; to undo: unmerge ([0-9a-f-]{36})\n/))
            let merge = String(done.output.1)
            #expect(try await story.eventCount() == events + 1)
            let line = try #require(try await story.accesses().last)
            #expect(line[2...6] == ["operator", "operator", "account.merge", "allowed", ada])
            #expect(line[9...10] == ["case 7", #"{"absorb":"\#(other)","case":"T-7"}"#])

            for (account, covered) in [(ada, other), (other, ada)] {
                let erasure = try await story.run(["erase", account, "--dry-run"])
                #expect(erasure.status == 0, "\(erasure.errors)")
                #expect(
                    erasure.output.hasPrefix(
                        "account \(account) would be erased, and also, because they were"
                            + " merged, \(covered):\n"), "\(erasure.output)")
                // The identities that were left behind are deleted, too.
                #expect(erasure.output.contains("identities to delete: 3\n"))
                #expect(erasure.output.contains(/plan: [0-9A-Za-z_-]{43}\n/))
                let alone = try await story.refusal(["erase", account, "--reason", "case 7"])
                let reason =
                    account == ada
                    ? "the accounts to erase differ from the plan"
                    : "the account was merged into account \(ada)"
                #expect(alone.contains(reason), "\(alone)")
            }
            let account = try await story.run(["account", other])
            #expect(account.output.contains(ada), "\(account.output)")

            let undo = try await story.run(["unmerge", merge, "--dry-run"])
            #expect(undo.status == 0, "\(undo.errors)")
            #expect(undo.output.contains("separate account \(other) from account \(ada):\n"))
            #expect(undo.output.contains("  to account \(other)\n"))
            #expect(try await story.eventCount() == events + 1)
            let undone = try await story.run(["unmerge", merge] + Self.case7)
            #expect(undone.status == 0, "\(undone.errors)")
            #expect(undone.output == undo.output + "done\n")
            let last = try #require(try await story.accesses().last)
            #expect(last[2...7] == ["operator", "operator", "merge.undo", "allowed", ada, merge])
            #expect(
                last[9...10] == [
                    "case 7", #"{"absorbed":"\#(other)","case":"T-7","survivor":"\#(ada)"}"#,
                ])
            // Both, and two lines of each erasure that was refused.
            #expect(try await story.accesses().count == 2 + 4)
            let verified = try await story.run(["verify"])
            #expect(!verified.output.contains("private.example"))
        }
    }

    @Test func `an impossible merge or unmerge is refused with its reason`() async throws {
        try await Deployment.with { deployment in
            let story = try await Story(deployment)
            let (ada, other) = (story.ada.userID, story.other.userID)
            let merge = ["merge", ada, other]
            #expect(
                try await story.refusal(["merge", ada, Self.someID, "--dry-run"])
                    .contains("the tenant has no such account"))
            #expect(
                try await story.refusal(["merge", ada, ada] + Self.case7)
                    .contains("the two accounts are the same account"))
            #expect(
                try await story.refusal(merge + ["--keep-absorbed", "apple"] + Self.case7)
                    .contains("--keep-absorbed names apple, but not both"))
            #expect(
                try await story.refusal(["unmerge", Self.someID] + Self.case7)
                    .contains("no merge "))
            #expect(try await story.accesses().isEmpty, "nothing was tried")

            let merged = try await story.run(merge + Self.case7)
            let done = try #require(merged.output.firstMatch(of: #/unmerge ([0-9a-f-]{36})/#))
            let event = String(done.output.1)
            #expect(
                try await story.refusal(merge + Self.case7)
                    .contains("the account was merged into account \(ada)"))
            // The identity that was left behind opens another account.
            let server = try await deployment.serve()
            var stray = Device(server.client)
            try await stray.signIn(deployment.google, as: "other")
            #expect(stray.userID != ada && stray.userID != other)
            try await server.stop()
            for words in [["--dry-run"], Self.case7] {
                #expect(
                    try await story.refusal(["unmerge", event] + words)
                        .contains("the merge can no longer be undone: identity_changed"))
            }
            let lines = try await story.accesses()
            #expect(
                lines.map { $0[4...5].joined(separator: " ") } == [
                    "account.merge allowed", "merge.undo allowed", "merge.undo refused",
                ], "\(lines)")
        }
    }
}
