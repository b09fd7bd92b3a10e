import LedgerTestSupport
import Testing

/// Searches by support, over HTTP and on the command line.
@Suite struct SearchTests {
    private static let someID = "01234567-89ab-7cde-8f01-23456789abcd"
    private static let subjects = [
        "ada-at-apple", "ada@apple.example", "ada-at-google", "ada@google.example", "bob-at-google",
        "bob@google.example",
    ]

    /// The result of a search: accounts by their ids, with their states.
    private func search(
        _ term: String, _ client: WireClient, _ key: String, reason: String? = "ticket 7"
    ) async throws -> [String: [String]] {
        let answer = try await client.call(
            "GET", "/v1/search?q=\(term)", token: key,
            headers: reason.map { ["Ledger-Reason": $0] } ?? [:])
        #expect(answer.status == 200)
        let text = String(decoding: answer.body, as: UTF8.self)
        for secret in Self.subjects { #expect(!text.contains(secret)) }
        var found: [String: [String]] = [:]
        for account in answer.json["accounts"] as? [[String: any Sendable]] ?? [] {
            let id = try #require(account["id"] as? String)
            found[id] =
                [account["state"] as? String ?? ""]
                + (account["matched_by"] as? [String] ?? [])
        }
        return found
    }

    @Test func `an account is found through a conflict, a merge, an unlink and an erasure`()
        async throws
    {
        try await Deployment.with { deployment in
            let server = try await deployment.serve()
            let client = server.client
            let support = try await deployment.apiKey("support")
            let auditor = try await deployment.apiKey("auditor")
            var ada = Device(client)
            try await ada.signIn(
                deployment.apple, as: Self.subjects[0], email: Self.subjects[1])
            var bob = Device(client)
            try await bob.signIn(
                deployment.google, as: Self.subjects[4], email: Self.subjects[5])
            let conflict = try await ada.link(deployment.google, as: Self.subjects[4])
            #expect(conflict.status == 409)

            // A new link is found immediately.
            let linked = try await ada.link(
                deployment.google, as: Self.subjects[2], email: Self.subjects[3])
            #expect(linked.status == 200)
            #expect(
                try await search("ADA@google.example", client, support) == [
                    ada.userID: ["live", "email"]
                ])
            #expect(
                try await search("bob-at-google", client, support) == [
                    bob.userID: ["live", "provider_id"]
                ])
            let account = try await ada.account()
            let identities = account.json["identities"] as? [[String: any Sendable]] ?? []
            #expect(identities.count == 2)
            let events = try await client.call(
                "GET", "/v1/events?type=ProviderLinked&account=\(ada.userID)", token: auditor)
            let shown = events.json["events"] as? [[String: any Sendable]] ?? []
            let entries = shown.compactMap { $0["entry"] as? [String: any Sendable] }
            for entry in entries {
                let details = try #require(entry["details"] as? [String: any Sendable])
                for (id, how) in [
                    (entry["event"], "event_id"), (entry["request"], "request_id"),
                    (details["identity"], "identity_id"),
                ] {
                    // The other identity's link is later, so ids lead to one account.
                    let id = try #require(id as? String)
                    #expect(
                        try await search(id, client, auditor, reason: nil) == [
                            ada.userID: ["live", how]
                        ])
                }
            }

            // After the unlink, it is found by its former data.
            #expect(try await ada.unlink(deployment.google).status == 200)
            #expect(
                try await search("ada@google.example", client, support) == [
                    ada.userID: ["live", "former_email"]
                ])
            let merged = try await deployment.tool.run([
                "merge", ada.userID, bob.userID, "--reason", "one person", "--case", "T-1",
            ])
            #expect(merged.status == 0, "\(merged.errors)")
            #expect(
                try await search("bob@google.example", client, support) == [
                    ada.userID: ["live", "email"]
                ])
            #expect(
                try await search(bob.userID, client, auditor, reason: nil) == [
                    bob.userID: ["absorbed", "account_id"],
                    ada.userID: ["live", "absorbed_account"],
                ])
            let verified = try await deployment.tool.run(["verify"])
            #expect(verified.status == 0, "\(verified.output)")
            let rebuilt = try await deployment.tool.run(["rebuild", "former_emails"])
            #expect(rebuilt.output == "tenant default: 0 digests of former e-mails were wrong\n")
            try await expectPrinted(deployment, ada: ada.userID, bob: bob.userID)
            let planned = try await deployment.tool.run(["erase", ada.userID, "--dry-run"])
            let plan = try #require(planned.output.firstMatch(of: /plan: ([0-9A-Za-z_-]{43})\n/)?.1)
            let erased = try await deployment.tool.run([
                "erase", ada.userID, "--reason", "case 4711", "--plan", String(plan),
            ])
            #expect(erased.status == 0, "\(erased.errors)")
            for term in Self.subjects {
                #expect(try await search(term, client, support) == [:])
            }
            #expect(
                try await search(bob.userID, client, auditor, reason: nil) == [
                    bob.userID: ["erased", "account_id"]
                ])
            let lines = try await client.call("GET", "/v1/access-log?limit=100", token: auditor)
            let told = String(decoding: lines.body, as: UTF8.self)
            #expect(told.contains("\"kind\":\"email\"") && told.contains("ticket 7"))
            for secret in Self.subjects {
                #expect(!told.contains(secret))
                #expect(!server.log.contains(secret))
            }
            #expect(!server.log.contains("q="))
        }
    }

    /// The same on the command line, as text and as JSON.
    private func expectPrinted(_ deployment: Deployment, ada: String, bob: String) async throws {
        let reason = ["--reason", "ticket 8"]
        let former = try await deployment.tool.run(
            ["search", "Ada@Google.example"] + reason)
        #expect(former.status == 0, "\(former.errors)")
        let lines = former.output.split(separator: "\n")
        #expect(
            lines.first == "account \(ada)  live, sign-in with apple, google  (former email)",
            "\(former.output)")
        #expect(lines.dropFirst().first == "  absorbed account \(bob)")
        #expect(lines.last?.hasSuffix("google  last of account \(ada)  (former email)") == true)
        let absorbed = try await deployment.tool.run(["search", bob])
        #expect(
            absorbed.output.contains(
                "account \(bob)  merged into account \(ada)  (account id)"),
            "\(absorbed.output)")
        let json = try await deployment.tool.run(
            ["search", "bob-at-google", "--format", "json"] + reason)
        #expect(json.output.hasPrefix("{\"accounts\":[{\"id\":\"\(ada)\",\"state\":\"live\","))
        #expect(json.output.contains("\"matched_by\":[\"provider_id\"]"))
        let nothing = try await deployment.tool.run(["search", "nobody@example.com"] + reason)
        #expect(nothing.status == 0 && nothing.output == "no match\n")
        let log = try await deployment.tool.run(["access-log"])
        let searches = log.output.split(separator: "\n").filter { $0.contains("ticket 8") }
        // The search for an id shows no personal data, so it is not recorded.
        #expect(searches.count == 3)
        #expect(searches.first?.contains("\"accounts\":\"\(ada)\"") == true, "\(log.output)")
        for secret in Self.subjects { #expect(!log.output.contains(secret)) }
    }

    @Test func `the command line distinguishes a request id of several people from that of one`()
        async throws
    {
        try await Deployment.with { deployment in
            let server = try await deployment.serve()
            let one = "01234567-89ab-4cde-8f01-23456789abce"
            for (subject, id) in [("ada", Self.someID), ("bob", Self.someID), ("carl", one)] {
                let answer = try await server.client.call(
                    "POST", "/v1/auth/sign-in/google",
                    ["id_token": deployment.google.token(subject: subject)],
                    headers: ["X-Request-Id": id])
                #expect(answer.status == 200)
            }
            let several = try await deployment.tool.run(["search", Self.someID])
            #expect(several.output.contains("this id touched 2 accounts"), "\(several)")
            let single = try await deployment.tool.run(["search", one])
            #expect(single.output.contains("(request id)"), "\(single)")
            #expect(!single.output.contains("touched"))
        }
    }

    @Test func `nothing is printed before the access log records it`() async throws {
        try await Deployment.with { deployment in
            let server = try await deployment.serve()
            var ada = Device(server.client)
            try await ada.signIn(deployment.apple, as: "ada")
            try await server.stop()
            let hidden = try await CommandLineTool(
                environment: deployment.tool.environment.merging(["LEDGER_KEYS": ""]) { $1 }
            ).run(["search", "ada", "--reason", "r"])
            #expect(hidden.status == 1 && hidden.output.isEmpty)
            #expect(hidden.errors.contains("LEDGER_KEYS"), "\(hidden.errors)")
            let found = try await deployment.tool.run(["search", "ada", "--reason", "r"])
            #expect(found.output.contains(ada.userID), "\(found.errors)")
        }
    }
}
