import LedgerTestSupport
import Synchronization
import Testing

/// Servers that are killed while accounts are merged and merges are undone.
@Suite(.serialized) struct MergeCrashTests {
    private static let rounds = 4
    private static let lanes = 6

    /// The acknowledgements and the servers.
    private final class MergeTraffic: Sendable {
        struct State {
            var servers: [ServerProcess]
            var merges: [String] = []
            var undone = 0
            /// The acknowledgements of each server.
            var acknowledged = [0, 0]
        }

        let support: CaseWorker
        let state: Mutex<State>
        let end = EndOfTraffic()

        init(_ servers: [ServerProcess], _ support: CaseWorker) {
            self.support = support
            state = Mutex(State(servers: servers))
        }

        /// Sends a request until it has an answer, each time to the next server; requests with an idempotency
        /// key can be repeated indefinitely.
        func ask(
            from index: Int, _ request: (CaseWorker) async throws -> WireClient.Answer
        ) async throws -> WireClient.Answer {
            let deadline = ContinuousClock.now + .seconds(120)
            var index = index
            while ContinuousClock.now < deadline {
                let server = state.withLock { $0.servers[index % 2] }
                if let answer = try? await request(support.at(server)), answer.status != 503 {
                    state.withLock { $0.acknowledged[index % 2] += 1 }
                    return answer
                }
                index += 1
                try await Task.sleep(for: .milliseconds(20))
            }
            throw TestTimeout(waitingFor: "an answer from either server")
        }
    }

    @Test func `kill -9 leaves each merge and each undoing wholly there once, or wholly not`()
        async throws
    {
        try await Deployment.with { deployment in
            let servers = [try await deployment.serve(), try await deployment.serve()]
            let support = CaseWorker(servers[0].client, key: try await deployment.apiKey("support"))
            let world = MergeTraffic(servers, support)
            let oracle = MergeOracle(deployment)
            let lanes = try await (0..<Self.lanes).asyncMap { lane in
                var (one, other) = (Device(servers[0].client), Device(servers[1].client))
                try await one.signIn(deployment.apple, as: "survivor-\(lane)")
                try await other.signIn(deployment.google, as: "absorbed-\(lane)")
                return [one, other]
            }
            let work = lanes.enumerated().map { number, pair in
                Task { try await Self.loop(world, lane: number, pair) }
            }
            defer { world.end.tell() }
            for round in 0..<Self.rounds {
                let index = round % 2
                try await Self.progress(world, of: index, by: 8)
                try await world.state.withLock { $0.servers[index] }.kill()
                try await Self.progress(world, of: 1 - index, by: 4)
                let server = try await deployment.serve()
                world.state.withLock { $0.servers[index] = server }
            }
            try await Self.progress(world, of: 0, by: 4)
            world.end.tell()
            for task in work { try await task.value }

            let (merges, undone) = world.state.withLock { ($0.merges, $0.undone) }
            #expect(merges.count > Self.rounds)
            #expect(Set(merges).count == merges.count, "no merge is answered for twice")
            #expect(try await oracle.events("AccountsMerged") == Set(merges))
            #expect(try await oracle.count("AccountsUnmerged") == undone)
            let subjects = (0..<Self.lanes).flatMap { ["survivor-\($0)", "absorbed-\($0)"] }
            #expect(
                try await oracle.contradictions(accounts: lanes.flatMap(\.self), subjects: subjects)
                    == [])
            await oracle.close()
            try await expectVerified(deployment)
        }
    }

    /// Repeatedly merges two accounts and undoes the merge.
    private static func loop(
        _ world: MergeTraffic, lane: Int, _ pair: [Device]
    ) async throws {
        var turn = 0
        while !world.end.isHere {
            turn += 1
            let key = "lane \(lane) turn \(turn)"
            let preview = try await world.ask(from: lane + turn) { support in
                try await support.post(
                    "/v1/accounts/\(pair[0].userID)/merge/preview", ["absorb": pair[1].userID])
            }
            let plan = try #require(preview.text("plan_digest"), "\(preview.json)")
            let merged = try await world.ask(from: lane + turn) { support in
                try await support.merge(
                    pair[1].userID, into: pair[0].userID, plan: plan, key: key)
            }
            let merge = try #require(merged.text("merge"), "\(merged.json)")
            world.state.withLock { $0.merges.append(merge) }
            let undone = try await world.ask(from: lane + turn + 1) { support in
                try await support.undo(merge, key: key)
            }
            #expect(undone.status == 200, "\(undone.json)")
            world.state.withLock { $0.undone += 1 }
        }
    }

    /// Waits until a server has acknowledged this number of further requests.
    private static func progress(
        _ world: MergeTraffic, of index: Int, by count: Int
    ) async throws {
        let start = world.state.withLock { $0.acknowledged[index] }
        try await eventually("server \(index) to go on", within: .seconds(120)) {
            world.state.withLock { $0.acknowledged[index] } >= start + count ? true : nil
        }
    }
}

extension Sequence {
    /// The elements, each changed by something that takes a while.
    fileprivate func asyncMap<Value>(
        _ change: (Element) async throws -> Value
    ) async throws -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await change(element)) }
        return values
    }
}
