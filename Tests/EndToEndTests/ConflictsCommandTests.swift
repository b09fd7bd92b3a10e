import LedgerTestSupport
import Postgres
import Testing

/// Refused claims to identities, over HTTP and on the command line of a running ledger.
@Suite struct ConflictsCommandTests {
    @Test func `a conflict is seen as it begins, and as it ends`() async throws {
        try await Deployment.with { deployment in
            let server = try await deployment.serve()
            var ada = Device(server.client)
            try await ada.signIn(deployment.apple, as: "ada", email: "ada@private.example")
            var bob = Device(server.client)
            try await bob.signIn(deployment.google, as: "bob", email: "bob@private.example")
            #expect(try await ada.link(deployment.google, as: "bob").status == 409)
            try await Self.untilFolded(deployment)

            let open = try await deployment.tool.run(["conflicts", "--state", "open"])
            #expect(open.status == 0 && open.errors.isEmpty, "\(open.errors)")
            let lines = open.output.split(separator: "\n").map { String($0) }
            #expect(lines.allSatisfy { $0.count <= 100 }, "\(open.output)")
            #expect(lines.first?.hasPrefix("open  held_by_other  google  identity ") == true)
            #expect(lines.contains("    caller \(ada.userID)  unchanged"))
            #expect(lines.contains("    holder \(bob.userID)  unchanged"))
            #expect(lines.contains { $0.hasPrefix("    1 attempt  #8  ") })
            #expect(lines.last == "1 conflict, folded from 9 of 9 events")
            #expect(!open.output.contains("private.example"))

            let merged = try await deployment.tool.run([
                "merge", ada.userID, bob.userID, "--reason", "one person", "--case", "T-100",
            ])
            #expect(merged.status == 0, "\(merged.errors)")
            try await Self.untilFolded(deployment)
            let none = try await deployment.tool.run(["conflicts", "--state", "open"])
            #expect(none.output == "0 conflicts, folded from 10 of 10 events\n")
            let ended = try await deployment.tool.run(["conflicts", "--account", bob.userID])
            #expect(ended.output.contains("    ended by AccountsMerged  #9  "), "\(ended.output)")
            #expect(ended.output.contains("    holder \(bob.userID)  now \(ada.userID)"))
            let json = try await deployment.tool.run(["conflicts", "--format", "json"])
            #expect(json.output.contains(#"","state":"resolved","reason":"held_by_other","#))
            let rebuilt = try await deployment.tool.run(["rebuild", "conflicts"])
            #expect(rebuilt.status == 0 && rebuilt.output.contains(" equals the log "))
            let verified = try await deployment.tool.run(["verify"])
            #expect(verified.status == 0, "\(verified.output)\(verified.errors)")
            try await server.stop()
        }
    }

    private static func untilFolded(_ deployment: Deployment) async throws {
        let session = Session(url: deployment.superuserURL, applicationName: "test")
        let deadline = ContinuousClock.now + .seconds(120)
        while true {
            let behind = try await session.run { connection in
                try connection.query(
                    Statement(
                        "test_behind",
                        """
                        SELECT count(*) FROM ledger_head h LEFT JOIN projections p
                            ON p.tenant_id = h.tenant_id AND p.name = 'conflicts'
                        WHERE p.position IS DISTINCT FROM h.next_position
                        """)
                ).int8(0, 0)
            }
            if behind == 0 { break }
            guard ContinuousClock.now < deadline else {
                Issue.record("waited 120 s until conflicts were folded")
                break
            }
            try await Task.sleep(for: .milliseconds(5))
        }
        await session.close()
    }
}
