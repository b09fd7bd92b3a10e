import Foundation
import LedgerTestSupport
import Postgres
import Testing

/// Erasures by an operator and an administrator, and with a server that is killed meanwhile.
@Suite struct ErasureTests {
    @Test func `an operator holds, lifts, erases, and everything still verifies`() async throws {
        try await Deployment.with { deployment in
            let server = try await deployment.serve()
            var ada = Device(server.client)
            try await ada.signIn(deployment.apple, as: "ada-s", email: "ada@private.example")
            let tool = deployment.tool
            let why = ["--reason", "case 4711"]
            let held = try await tool.run(["hold", "set", ada.userID] + why)
            #expect(held.status == 0, "\(held.errors)")
            let hold = String(held.output.dropLast())
            #expect(
                try await tool.run(["hold", "list"]).output.contains("\(ada.userID)\t\(hold)\t"))
            let refused = try await tool.run(["erase", ada.userID] + why)
            #expect(refused.status == 1 && refused.errors.contains("legal hold"))
            let dry = try await tool.run(["erase", ada.userID, "--dry-run"])
            #expect(dry.status == 1 && dry.output.contains("legal holds: 1"), "\(dry.output)")
            let lifted = try await tool.run(["hold", "lift", ada.userID, hold] + why)
            #expect(lifted.status == 0, "\(lifted.errors)")
            let erased = try await tool.run(["erase", ada.userID] + why)
            #expect(erased.status == 0, "\(erased.errors)")
            #expect(erased.output.contains("was erased, at position"), "\(erased.output)")
            #expect(try await ada.account().status == 401)
            let again = try await tool.run(["erase", ada.userID] + why)
            #expect(again.status == 0 && again.output.contains("had already been erased"))
            let old = ada.userID
            try await ada.signIn(deployment.apple, as: "ada-s", email: "ada@private.example")
            #expect(ada.userID != old)

            let verified = try await tool.run(["verify"])
            #expect(verified.status == 0, "\(verified.output)\(verified.errors)")
            let account = try await tool.run(["account", old])
            #expect(account.status == 0 && account.output.contains(", erased #"), "\(account)")
            let replayed = try await tool.run(["replay", "--account", old])
            #expect(replayed.status == 0 && replayed.output.contains("AccountErased"))
            let accesses = try await tool.run(["access-log"])
            for action in ["account.hold", "account.lift_hold", "account.erase"] {
                #expect(accesses.output.contains(action), "\(accesses.output)")
            }
            #expect(accesses.output.contains("case 4711"))
            let erasures = accesses.output.split(separator: "\n").map { $0.split(separator: "\t") }
                .filter { $0[4] == "account.erase" }
            // The first was refused by the hold, and the last one found nothing left to do.
            #expect(erasures.map { $0[5] } == ["allowed", "refused", "allowed", "allowed"])
        }
    }

    @Test func `repeated requests for a hold set one`() async throws {
        try await Deployment.with { deployment in
            let server = try await deployment.serve()
            let key = try await deployment.apiKey("admin")
            var ada = Device(server.client)
            try await ada.signIn(deployment.apple, as: "ada-s")
            let time = String(Int64(Date().timeIntervalSince1970 * 1_000), radix: 16)
            let digits = String(repeating: "0", count: 12 - time.count) + time
            let hold = "\(digits.prefix(8))-\(digits.suffix(4))-7000-8000-000000000001"
            let holds = "/v1/accounts/\(ada.userID)/holds"
            let headers = ["Authorization": "Bearer \(key)", "Ledger-Reason": "case 4711"]
            for _ in 0..<2 {
                let held = try await server.client.send(
                    "PUT", "\(holds)/\(hold)", headers: headers)
                #expect(held.status == 200 && held.text("hold") == hold, "\(held.json)")
            }
            let list = try await deployment.tool.run(["hold", "list"])
            #expect(list.output.split(separator: "\n").count == 1, "\(list.output)")
            #expect(list.output.hasPrefix("\(ada.userID)\t\(hold)\t"))
            try await server.stop()
            #expect(try await deployment.tool.run(["verify"]).status == 0)
        }
    }

    @Test func `data that another process still deletes is not reported as deleted`() async throws {
        try await Deployment.with { deployment in
            let server = try await deployment.serve()
            var ada = Device(server.client)
            try await ada.signIn(deployment.apple, as: "ada-s", email: "ada@private.example")
            try await server.stop()
            let blocker = Session(url: deployment.superuserURL, applicationName: "blocker")
            try await blocker.step { connection in
                // No projector runs here; the erasure does not wait for a stopped table.
                try connection.execute("UPDATE projections SET failure = 'a test'")
                try connection.execute("BEGIN; LOCK TABLE disclosures IN SHARE MODE")
            }
            let command = ["erase", ada.userID, "--reason", "case 4711"]
            let begun = try await deployment.tool.run(command)
            #expect(begun.status == 0 && begun.output.contains("was erased, at position"))
            #expect(!begun.output.contains("all of its data is deleted"), "\(begun.output)")
            try await blocker.step { connection in
                try connection.execute("ROLLBACK; BEGIN; SELECT FROM erasures FOR UPDATE")
            }
            let leased = try await deployment.tool.run(command)
            #expect(leased.status == 0 && !leased.output.contains("all of its data is deleted"))
            try await blocker.step { $0.rollBack() }
            let done = try await deployment.tool.run(command)
            #expect(
                done.output.contains("all of its data is deleted"), "\(done.output)\(done.errors)")
            let left = try await Self.number(
                "SELECT count(*) FROM disclosures WHERE account_id = '\(ada.userID)'", on: blocker)
            #expect(left == 0)
            await blocker.close()
        }
    }

    @Test func `data recorded during a merge is reported as the survivor's`() async throws {
        try await Deployment.with { deployment in
            let server = try await deployment.serve()
            var (ada, bob, again) = (
                Device(server.client), Device(server.client), Device(server.client)
            )
            try await ada.signIn(deployment.apple, as: "ada-s", email: "ada@private.example")
            try await bob.signIn(deployment.google, as: "bob-s", email: "bob@private.example")
            let why = ["--reason", "one person", "--case", "T-7"]
            let merged = try await deployment.tool.run(["merge", ada.userID, bob.userID] + why)
            let event = try #require(
                merged.output.firstMatch(of: /unmerge ([0-9a-f-]{36})/), "\(merged.errors)")
            try await again.signIn(deployment.google, as: "bob-s", email: "b@private.example")
            #expect(again.userID == ada.userID)
            let undone = try await deployment.tool.run(["unmerge", String(event.output.1)] + why)
            #expect(undone.status == 0, "\(undone.errors)")

            for (account, what) in [
                (bob.userID, "is deleted with the erasure of \(ada.userID)\n"),
                (ada.userID, "all of its data is deleted\n"),
            ] {
                let said = try await eventually("what is left of \(account) to go") {
                    let erased = try await deployment.tool.run(
                        ["erase", account, "--reason", "case 4711"])
                    #expect(erased.status == 0, "\(erased.errors)")
                    return erased.output.contains("the remaining data") ? nil : erased.output
                }
                #expect(said.hasSuffix(what), "\(said)")
            }
            try await server.stop()
            #expect(try await deployment.tool.run(["verify"]).status == 0)
        }
    }

    /// The step at which the server is killed: before the commit of the erasure, before the read models have
    /// folded it, and before the remaining data are destroyed.
    @Test(arguments: [
        "account_keys", "accounts", "user_providers_1", "account_audit_1", "disclosures",
    ])
    func `a server that is killed on the way leaves nothing behind in the end`(
        table: String
    ) async throws {
        try await Deployment.with { deployment in
            let first = try await deployment.serve()
            let key = try await deployment.apiKey("admin")
            var ada = Device(first.client)
            try await ada.signIn(deployment.apple, as: "subject-of-ada", email: "ada@priv.example")
            #expect(try await ada.link(deployment.google, as: "google-of-ada").status == 200)
            let path = "/v1/accounts/\(ada.userID)"
            let reason = ["Authorization": "Bearer \(key)", "Ledger-Reason": "case 4711"]
            let database = Session(url: deployment.superuserURL, applicationName: "erasure test")
            let blocker = Session(url: deployment.superuserURL, applicationName: "blocker")
            try await blocker.step { connection in
                try connection.execute("BEGIN; LOCK TABLE \(table) IN SHARE MODE")
            }
            async let answer = try? first.client.send("DELETE", path, headers: reason)
            try await eventually("the server to wait for \(table)") {
                try await Self.number(
                    """
                    SELECT count(*) FROM pg_locks l JOIN pg_class c ON c.oid = l.relation
                    WHERE NOT l.granted AND c.relname = '\(table)'
                    """, on: database) > 0 ? true : nil
            }
            try await first.kill()
            _ = await answer
            try await blocker.step { $0.rollBack() }
            await blocker.close()

            let second = try await deployment.serve()
            let repeated = try await second.client.send("DELETE", path, headers: reason)
            #expect(repeated.status == 200, "\(repeated.json)")
            try await eventually("nothing to be left") {
                let left = try await Self.number(
                    """
                    SELECT (SELECT count(*) FROM erasures WHERE destroyed_at IS NULL)
                        + (SELECT count(*) FROM disclosures) + (SELECT count(*) FROM account_keys)
                        + (SELECT count(*) FROM user_providers)
                        + (SELECT count(*) FROM account_audit WHERE client_ip IS NOT NULL)
                    """, on: database)
                return left == 0 ? true : nil
            }
            let erasures = try await Self.number(
                "SELECT count(*) FROM events WHERE type = 'AccountErased'", on: database)
            #expect(erasures == 1)
            await database.close()
            try await second.stop()
            let verified = try await deployment.tool.run(["verify"])
            #expect(verified.status == 0, "\(verified.output)\(verified.errors)")
        }
    }

    private static func number(_ sql: String, on session: Session) async throws -> Int64 {
        try await session.run { connection in
            try connection.query(Statement(sql, sql)).int8(0, 0)
        }
    }
}
