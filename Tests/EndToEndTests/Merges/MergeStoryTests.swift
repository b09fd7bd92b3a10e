import LedgerTestSupport
import Testing

/// One person with two accounts, from the conflict to the undoing, over two servers on one database.
@Suite struct MergeStoryTests {
    @Test
    func `conflict, preview, merge, sign in with either identity, undo, and both bundles verify`()
        async throws
    {
        try await Deployment.with(settings: ["LEDGER_ORIGIN": "ledger.example.com"]) { deployment in
            let first = try await deployment.serve(
                settings: ["LEDGER_SEALER_STATE": deployment.path("sealer")])
            let second = try await deployment.serve()
            let support = CaseWorker(second.client, key: try await deployment.apiKey("support"))
            var (ada, other) = (Device(first.client), Device(second.client))
            try await ada.signIn(deployment.apple, as: "ada-at-apple", email: "ada@a.example")
            try await other.signIn(deployment.google, as: "ada-at-google", email: "ada@g.example")
            let before = [try await ada.account().body, try await other.account().body]

            let conflict = try await ada.link(deployment.google, as: "ada-at-google")
            #expect(conflict.status == 409 && conflict.errorCode == "PROVIDER_CONFLICT")
            let plan = try await ada.previewMerge(of: "ada-at-google", at: deployment.google)
            #expect(plan.status == 200, "\(plan.json)")
            #expect(plan.text("absorbed_user_id") == other.userID)
            let merged = try await ada.merge(
                plan, of: "ada-at-google", at: deployment.google, through: second.client)
            #expect(merged.status == 200, "\(merged.json)")
            let merge = try #require(merged.text("merge"))

            for server in [first, second] {
                for (provider, name) in [
                    (deployment.apple, "ada-at-apple"), (deployment.google, "ada-at-google"),
                ] {
                    var device = Device(server.client)
                    let session = try await device.signIn(provider, as: name)
                    #expect(device.userID == ada.userID)
                    #expect(session.json["is_new_user"] as? Bool == false)
                    #expect(session.texts("linked_providers") == ["apple", "google"])
                }
                let ended = try await server.client.call(
                    "GET", "/v1/account", token: other.accessToken)
                #expect(ended.status == 401 && ended.errorCode == "INVALID_ACCESS_TOKEN")
                let found = try await support.at(server).get("/v1/accounts/\(other.userID)")
                #expect(found.text("account") == ada.userID)
                #expect(found.text("merged_into") == ada.userID)
                #expect(found.text("requested") == other.userID)
            }
            #expect(try await ada.account().status == 200)
            let refreshed = try await other.refresh()
            #expect(refreshed.errorCode == "INVALID_REFRESH_TOKEN")

            // Support knows no more than an address, of either identity, or the former account's id.
            for (term, found) in [
                ("ada@a.example", [ada.userID]), ("ADA@g.example", [ada.userID]),
                (other.userID, [ada.userID, other.userID].sorted()),
            ] {
                let answer = try await support.get("/v1/search?q=\(term)")
                let accounts = answer.json["accounts"] as? [[String: any Sendable]] ?? []
                #expect(accounts.compactMap { $0["id"] as? String } == found, "\(answer.json)")
                let survivor = accounts.first { $0["id"] as? String == ada.userID }
                #expect(survivor?["absorbed"] as? [String] == [other.userID])
            }

            let preview = try await support.post("/v1/merges/\(merge)/undo/preview")
            #expect(preview.status == 200, "\(preview.json)")
            let undone = try await support.undo(merge)
            #expect(undone.status == 200, "\(undone.json)")
            #expect(try await support.undo(merge).errorCode == "MERGE_SUPERSEDED")

            // Both accounts are live, each with exactly its former identities.
            #expect(try await ada.account().body == before[0])
            let formerID = other.userID
            let back = try await other.signIn(deployment.google, as: "ada-at-google")
            #expect(other.userID == formerID && back.json["is_new_user"] as? Bool == false)
            #expect(try await other.account().body == before[1])
            var again = Device(second.client)
            try await again.signIn(deployment.apple, as: "ada-at-apple")
            #expect(again.userID == ada.userID)

            try await expectBundles(deployment, of: [ada, other], support.at(first))
            try await expectVerified(deployment)
            for server in [first, second] { #expect(!server.log.contains("\"status\":5")) }
        }
    }

    /// The bundle of each account contains the merge and its undoing, and verifies with third-party programs.
    private func expectBundles(
        _ deployment: Deployment, of devices: [Device], _ support: CaseWorker
    ) async throws {
        let keys = try await support.get("/v1/log/keys")
        let first = (keys.json["keys"] as? [[String: any Sendable]])?.first
        let vkey = try #require(first?["vkey"] as? String)
        let events = try await support.get("/v1/events?account=\(devices[1].userID)")
        let shown = try #require(events.json["events"] as? [[String: any Sendable]])
        let last = try #require(
            shown.compactMap { ($0["position"] as? String).flatMap { Int($0) } }.max())
        try await eventually("position \(last) to be signed", within: .seconds(120)) {
            let note = try await support.get("/v1/log/checkpoint")
            let lines = String(decoding: note.body, as: UTF8.self).split(separator: "\n")
            return note.status == 200 && lines.count > 2 && (Int(lines[1]) ?? 0) > last
                ? true : nil
        }
        for (number, device) in devices.enumerated() {
            let path = deployment.path("account-\(number).tar")
            let export = try await deployment.tool.run(
                ["export", "--account", device.userID, "--output", path])
            #expect(export.status == 0, "\(export.errors)")
            let output = try OtherPrograms.verify(path, vkey)
            #expect(output.contains("\neverything holds"), "\(output)")
            let offline = try await deployment.tool.run(
                ["verify", "--offline", path, "--vkey", vkey])
            #expect(offline.status == 0, "\(offline.output)\(offline.errors)")
            let replay = try await deployment.tool.run(["replay", "--account", device.userID])
            #expect(replay.status == 0, "\(replay.errors)")
            for name in ["AccountsMerged", "AccountsUnmerged"] {
                #expect(replay.output.contains(name))
            }
        }
    }
}
