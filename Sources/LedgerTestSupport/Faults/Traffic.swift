internal import Foundation
internal import Synchronization

/// Clients that keep a service busy and record every answer.
///
/// Each client is a closed loop: a new person signs up, links, reads the account, refreshes, and then
/// unlinks, signs out or stays.
package final class Traffic: Sendable {
    /// A session that must still be valid, and the identities that must sign in to its account.
    struct OpenSession: Sendable {
        /// The server and the tenant, as its clients reach them.
        let target: WireClient
        let subject: String
        let userID: String
        let refreshToken: String
    }

    private struct State {
        var targets: [WireClient] = []
        var isStopping = false
        var count = TrafficCount()
        var commands: [TrafficCommand] = []
        var openSessions: [OpenSession] = []
        /// The sending time of the last acknowledged command, by the target's address.
        var newestCommand: [String: ContinuousClock.Instant] = [:]
        /// The sending time of the last answered read, by the target's address.
        var newestRead: [String: ContinuousClock.Instant] = [:]
        var pauses = TrafficPauses(from: .now)
    }

    /// The most attempts of a command with an idempotency key.
    static let triesMax = 100
    private static let openSessionsMax = 400

    let google: TestIdentityProvider
    let apple: TestIdentityProvider
    private let clientCount: Int
    /// Changes of every ID token's claims.
    private let claims: [String: String]
    /// Answers other than 200 and 503 that the fault excuses.
    private let excused: Set<String>
    private let state = Mutex(State())

    /// Makes the clients, which start with ``run(while:)``.
    init(_ deployment: Deployment, _ setup: FaultTrial.Setup) {
        google = deployment.google
        apple = deployment.apple
        clientCount = setup.lanes
        claims = setup.claims
        excused = setup.excused
    }

    /// Sends all further requests to these servers, those of each client to one of them.
    package func aim(at servers: [ServerProcess]) {
        aim(at: servers.map(\.client))
    }

    /// Sends all further requests by these clients, those of each person by one of them.
    package func aim(at clients: [WireClient]) {
        state.withLock { $0.targets = clients }
    }

    /// The counts of answers so far.
    package var count: TrafficCount { state.withLock(\.count) }

    var commands: [TrafficCommand] { state.withLock(\.commands) }
    var openSessions: [OpenSession] { state.withLock(\.openSessions) }
    var isStopping: Bool { state.withLock(\.isStopping) }

    /// Checks whether each server has acknowledged a command and answered a read sent after a time.
    package func isServed(since moment: ContinuousClock.Instant) -> Bool {
        isServed(state.withLock(\.targets), since: moment)
    }

    /// Checks that of some clients.
    func isServed(_ targets: [WireClient], since moment: ContinuousClock.Instant) -> Bool {
        state.withLock { state in
            !targets.isEmpty
                && targets.allSatisfy { target in
                    [state.newestCommand, state.newestRead].allSatisfy {
                        ($0[target.base] ?? moment) > moment
                    }
                }
        }
    }

    /// Measures the pauses between acknowledged commands from now on.
    func beginPauses() {
        state.withLock { $0.pauses = TrafficPauses(from: .now) }
    }

    /// The longest time between two acknowledged commands of a server.
    var longestPause: Duration {
        state.withLock { $0.pauses.longest(of: $0.targets.map(\.base), at: .now) }
    }

    /// The longest time between two acknowledged commands of a client.
    func longestPause(of client: WireClient) -> Duration {
        state.withLock { $0.pauses.longest(of: client.base, at: .now) }
    }

    /// Returns the time since a server acknowledged a command.
    func silence(of server: ServerProcess) -> Duration {
        state.withLock { $0.pauses.silence(of: server.client.base, at: .now) }
    }

    /// Runs the clients during the body, and then lets them finish.
    func run<Value: Sendable>(
        while body: () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for lane in 0..<clientCount {
                group.addTask { await self.run(lane) }
            }
            defer { state.withLock { $0.isStopping = true } }
            return try await body()
        }
    }

    private func run(_ lane: Int) async {
        for number in 0..<Int.max {
            let target = state.withLock { state in
                state.isStopping || state.targets.isEmpty
                    ? nil : state.targets[lane % state.targets.count]
            }
            guard let target else {
                if isStopping { return }
                await pause()
                continue
            }
            await TrafficPerson(self, number: number, subject: "l\(lane)-n\(number)").live(
                on: target)
        }
    }

    /// Creates an ID token with the claims of this test.
    func token(_ provider: TestIdentityProvider, _ subject: String) -> String {
        provider.token(subject: subject, changes: claims)
    }

    /// Sends a request and counts its answer; nil without an answer.
    func send(
        _ method: String, _ path: String, _ members: [String: any Sendable]? = nil,
        on target: WireClient, token: String? = nil, key: String? = nil, request: String
    ) async -> WireClient.Answer? {
        let start = ContinuousClock.now
        let answer = try? await target.call(
            method, path, members, token: token, key: key, headers: ["X-Request-Id": request])
        let time = ContinuousClock.now - start
        state.withLock { state in
            guard let answer else {
                state.count.unanswered += 1
                state.count.slowestSilence = max(state.count.slowestSilence, time)
                return
            }
            state.count.slowestAnswer = max(state.count.slowestAnswer, time)
            switch answer.status {
            case 200:
                if method != "GET" {
                    state.count.acknowledged += 1
                    state.pauses.acknowledge(target.base, at: .now)
                }
            case 503:
                state.count.unavailable += 1
                state.count.slowestRefusal = max(state.count.slowestRefusal, time)
                if answer.header("Retry-After") == nil { state.count.withoutRetryAfter += 1 }
            default:
                let words = "\(answer.status) \(answer.errorCode ?? "")"
                if !excused.contains(words) { state.count.surprise("\(method) \(path): \(words)") }
            }
            guard answer.status == 200 else { return }
            let base = target.base
            if method == "GET" {
                state.newestRead[base] = max(state.newestRead[base] ?? start, start)
            } else {
                state.newestCommand[base] = max(state.newestCommand[base] ?? start, start)
            }
        }
        if answer?.status != 200 { await pause() }
        return answer
    }

    func add(_ command: TrafficCommand) {
        state.withLock { $0.commands.append(command) }
    }

    func add(_ openSessions: OpenSession) {
        state.withLock { state in
            state.openSessions.append(openSessions)
            // Keeps the oldest, which have been through most faults, and a random part of the rest.
            if state.openSessions.count > Self.openSessionsMax {
                state.openSessions.remove(
                    at: Int.random(in: Self.openSessionsMax / 2..<Self.openSessionsMax))
            }
        }
    }

    func surprise(_ line: String) {
        state.withLock { $0.count.surprise(line) }
    }

    /// Waits after a refusal.
    private func pause() async {
        try? await Task.sleep(for: .milliseconds(50))
    }
}
