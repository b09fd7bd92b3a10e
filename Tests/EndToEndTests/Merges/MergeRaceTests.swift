import LedgerTestSupport
import Synchronization
import Testing

/// Merges concurrent with each other and with other commands on the same identities, over HTTP against
/// two processes on one database.
@Suite struct MergeRaceTests {
    private static let trials = 60
    /// The number of concurrent trials; each is two simultaneous requests.
    private static let width = 6

    /// The context of a trial.
    private final class Stage: Sendable {
        let deployment: Deployment
        /// One for each server.
        let clients: [WireClient]
        let support: CaseWorker
        let oracle: MergeOracle
        let merges = Mutex<(merged: Set<String>, undone: Int)>((merged: [], undone: 0))

        init(_ deployment: Deployment, _ servers: [ServerProcess], key: String) {
            self.deployment = deployment
            clients = servers.map(\.persistentClient)
            support = CaseWorker(clients[0], key: key)
            oracle = MergeOracle(deployment)
        }

        /// Signs up a new person with an identity of each named provider; returns also the subjects' names.
        func person(
            _ name: String, with providers: [TestIdentityProvider], at server: Int = 0
        ) async throws -> Device {
            var device = Device(clients[server])
            for (index, provider) in providers.enumerated() {
                if index == 0 {
                    try #require(try await device.signIn(provider, as: name).status == 200)
                } else {
                    #expect(try await device.link(provider, as: name).status == 200)
                }
            }
            return device
        }

        func at(_ server: Int) -> CaseWorker { CaseWorker(clients[server], key: support.key) }

        /// Records the answer to a merge, and returns its status.
        func note(merge answer: WireClient.Answer) -> Int {
            if let event = answer.text("merge") {
                #expect(merges.withLock { $0.merged.insert(event).inserted })
            }
            return answer.status
        }

        func note(undo answer: WireClient.Answer) -> Int {
            if answer.status == 200 { merges.withLock { $0.undone += 1 } }
            return answer.status
        }

        /// Checks that no account is without identities, no identity has two owners, and tables and log agree.
        func check(_ trial: Int, _ accounts: [Device], _ subjects: [String]) async throws {
            let found = try await oracle.contradictions(accounts: accounts, subjects: subjects)
            #expect(found == [], "trial \(trial)")
        }
    }

    @Test func `of two merges over three accounts in a row one or both are whole`() async throws {
        try await race { stage, trial in
            let names = ["a", "b", "c"].map { "row-\($0)-\(trial)" }
            let a = try await stage.person(names[0], with: [stage.deployment.apple])
            let b = try await stage.person(names[1], with: [stage.deployment.google])
            let c = try await stage.person(names[2], with: [stage.deployment.google])
            let plans = [
                try await stage.support.plan(of: b.userID, into: a.userID),
                try await stage.support.plan(of: c.userID, into: b.userID),
            ]
            async let one = stage.at(0).merge(b.userID, into: a.userID, plan: plans[0])
            async let other = stage.at(1).merge(c.userID, into: b.userID, plan: plans[1])
            let statuses = try await [stage.note(merge: one), stage.note(merge: other)].sorted()
            // The first one changes the plan of the other one.
            #expect(statuses == [200, 409], "trial \(trial)")
            try await stage.check(trial, [a, b, c], names)
        }
    }

    @Test func `of two accounts that absorb each other one survives`() async throws {
        try await race { stage, trial in
            let names = ["a", "b"].map { "mutual-\($0)-\(trial)" }
            let a = try await stage.person(names[0], with: [stage.deployment.apple])
            let b = try await stage.person(names[1], with: [stage.deployment.google], at: 1)
            let plans = [
                try await a.previewMerge(of: names[1], at: stage.deployment.google),
                try await b.previewMerge(of: names[0], at: stage.deployment.apple),
            ]
            async let one = a.merge(plans[0], of: names[1], at: stage.deployment.google)
            async let other = b.merge(plans[1], of: names[0], at: stage.deployment.apple)
            let statuses = try await [stage.note(merge: one), stage.note(merge: other)].sorted()
            // The loser's session went with its account.
            #expect(statuses == [200, 401], "trial \(trial)")
            try await stage.check(trial, [a, b], names)
        }
    }

    @Test func `an account that two others absorb goes to one of them`() async throws {
        try await race { stage, trial in
            let names = ["a", "b", "c"].map { "wanted-\($0)-\(trial)" }
            let a = try await stage.person(names[0], with: [stage.deployment.apple])
            let b = try await stage.person(names[1], with: [stage.deployment.google])
            let c = try await stage.person(names[2], with: [stage.deployment.apple], at: 1)
            let plans = [
                try await a.previewMerge(of: names[1], at: stage.deployment.google),
                try await c.previewMerge(of: names[1], at: stage.deployment.google),
            ]
            async let one = a.merge(plans[0], of: names[1], at: stage.deployment.google)
            async let other = c.merge(plans[1], of: names[1], at: stage.deployment.google)
            let statuses = try await [stage.note(merge: one), stage.note(merge: other)].sorted()
            #expect(statuses == [200, 409], "trial \(trial)")
            try await stage.check(trial, [a, b, c], names)
            var back = Device(stage.clients[trial % 2])
            try await back.signIn(stage.deployment.google, as: names[1])
            #expect([a.userID, c.userID].contains(back.userID), "trial \(trial)")
        }
    }

    @Test func `a merge beside a link of a new identity is as it was shown, or not at all`()
        async throws
    {
        try await race { stage, trial in
            let names = ["a", "b"].map { "link-\($0)-\(trial)" }
            let a = try await stage.person(names[0], with: [stage.deployment.google])
            let b = try await stage.person(names[1], with: [stage.deployment.google], at: 1)
            let plan = try await a.previewMerge(of: names[1], at: stage.deployment.google)
            async let merged = a.merge(plan, of: names[1], at: stage.deployment.google)
            async let linked = b.link(stage.deployment.apple, as: names[1])
            let status = try await stage.note(merge: merged)
            let pair = [status, try await linked.status]
            #expect([[200, 401], [409, 200]].contains(pair), "trial \(trial): \(pair)")
            try await stage.check(trial, [a, b], names)
        }
    }

    @Test func `a merge beside an unlink of a moved identity leaves a way to sign in`() async throws
    {
        try await race { stage, trial in
            let names = ["a", "b"].map { "unlink-\($0)-\(trial)" }
            let providers = [stage.deployment.google, stage.deployment.apple]
            let a = try await stage.person(names[0], with: [stage.deployment.apple])
            let b = try await stage.person(names[1], with: providers, at: 1)
            let plan = try await stage.support.plan(of: b.userID, into: a.userID)
            async let merged = stage.at(0).merge(b.userID, into: a.userID, plan: plan)
            async let unlinked = b.unlink(stage.deployment.google)
            let status = try await stage.note(merge: merged)
            let pair = [status, try await unlinked.status]
            #expect([[200, 401], [409, 200]].contains(pair), "trial \(trial): \(pair)")
            try await stage.check(trial, [a, b], names)
        }
    }

    @Test
    func `a merge beside the undoing of another, and an undoing beside itself, are done once`()
        async throws
    {
        try await race { stage, trial in
            let names = ["a", "b", "c"].map { "undo-\($0)-\(trial)" }
            let a = try await stage.person(names[0], with: [stage.deployment.apple])
            let b = try await stage.person(names[1], with: [stage.deployment.google])
            let c = try await stage.person(names[2], with: [stage.deployment.apple])
            let plan = try await stage.support.plan(of: b.userID, into: a.userID)
            let first = try await stage.at(0).merge(b.userID, into: a.userID, plan: plan)
            #expect(stage.note(merge: first) == 200)
            let merge = try #require(first.text("merge"))
            if trial % 2 == 0 {
                async let one = stage.at(0).undo(merge)
                async let other = stage.at(1).undo(merge)
                let statuses = try await [stage.note(undo: one), stage.note(undo: other)].sorted()
                #expect(statuses == [200, 409], "trial \(trial)")
            } else {
                let next = try await stage.support.plan(of: a.userID, into: c.userID)
                async let undone = stage.at(0).undo(merge)
                async let merged = stage.at(1).merge(a.userID, into: c.userID, plan: next)
                let statuses = try await [stage.note(undo: undone), stage.note(merge: merged)]
                #expect(statuses.sorted() == [200, 409], "trial \(trial): \(statuses)")
            }
            try await stage.check(trial, [a, b, c], names)
        }
    }

    @Test func `an erasure beside a merge erases only the named accounts`() async throws {
        try await race { stage, trial in
            let names = ["a", "b"].map { "erase-\($0)-\(trial)" }
            let a = try await stage.person(names[0], with: [stage.deployment.apple])
            let b = try await stage.person(names[1], with: [stage.deployment.google], at: 1)
            let plan = try await stage.support.plan(of: b.userID, into: a.userID)
            // Every other one confirms a preview that was made before the merge.
            let shown = trial % 2 == 0 ? try await stage.at(1).erasurePlan(of: b.userID) : nil
            async let merged = stage.at(0).merge(b.userID, into: a.userID, plan: plan)
            async let erased = stage.at(1).erase(b.userID, plan: shown)
            let status = try await stage.note(merge: merged)
            let erasure = try await erased
            #expect([200, 410].contains(status), "trial \(trial)")
            if status == 200 {
                let code = shown == nil ? "ACCOUNT_MERGED" : "ERASURE_PLAN_CHANGED"
                #expect(erasure.status == 409 && erasure.errorCode == code, "trial \(trial)")
            } else {
                #expect(erasure.status == 200, "trial \(trial)")
                #expect(erasure.texts("covers") == [b.userID], "trial \(trial)")
            }
            let survivor = try await stage.clients[0].call(
                "GET", "/v1/account", token: a.accessToken)
            #expect(survivor.status == 200, "trial \(trial)")
            try await stage.check(trial, [a, b], names)
        }
    }

    @Test func `an unlink that is taken back beside a sign-in of the identity has one owner`()
        async throws
    {
        try await race { stage, trial in
            let name = "relink-\(trial)"
            let providers = [stage.deployment.apple, stage.deployment.google]
            let a = try await stage.person(name, with: providers)
            let account = try await a.account()
            let identities = account.json["identities"] as? [[String: any Sendable]]
            let identity = try #require(identities?.last?["identity_id"] as? String)
            #expect(try await a.unlink(stage.deployment.google).status == 200)
            async let relinked = stage.at(0).post(
                "/v1/accounts/\(a.userID)/identities/\(identity)/relink", ["case": "T-102"])
            var b = Device(stage.clients[1])
            let session = try await b.signIn(stage.deployment.google, as: name)
            let answer = try await relinked
            #expect(session.status == 200, "trial \(trial)")
            #expect([200, 409].contains(answer.status), "trial \(trial)")
            // Either it was given back before, or the sign-in opened another account.
            #expect((b.userID == a.userID) == (answer.status == 200), "trial \(trial)")
            try await stage.check(trial, [a, b], [name])
        }
    }

    /// Runs trials over two servers, and then compares the answers with the log.
    private func race(
        _ trial: @Sendable @escaping (Stage, Int) async throws -> Void
    ) async throws {
        try await Deployment.with { deployment in
            let servers = [try await deployment.serve(), try await deployment.serve()]
            let stage = Stage(deployment, servers, key: try await deployment.apiKey("admin"))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for lane in 0..<Self.width {
                    group.addTask {
                        for number in stride(from: lane, to: Self.trials, by: Self.width) {
                            try await trial(stage, number)
                        }
                    }
                }
                try await group.waitForAll()
            }
            let (merged, undone) = stage.merges.withLock(\.self)
            #expect(try await stage.oracle.events("AccountsMerged") == merged)
            #expect(try await stage.oracle.count("AccountsUnmerged") == undone)
            await stage.oracle.close()
            try await expectVerified(deployment)
            for server in servers {
                #expect(!server.log.contains("\"status\":500"))
                try await server.stop()
            }
        }
    }
}
