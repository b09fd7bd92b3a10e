internal import Foundation
internal import Synchronization

/// An observer of two servers: their readiness, and the checkpoints that they publish.
final class FailoverWatch: Sendable {
    private static let pause = Duration.milliseconds(200)

    private struct State {
        var isEnding = false
        /// The beginning of the fault.
        var begun: ContinuousClock.Instant?
        /// The first 503 since then, by the server's address.
        var notices: [String: Duration] = [:]
        var slowestNotice: Duration?
        /// By the server's address.
        var records: [String: ReadinessRecord] = [:]
        var findings: [String] = []
        /// The notes of checkpoints that servers have published.
        var notes: Set<String> = []
    }

    private let servers: [ServerProcess]
    private let traffic: Traffic
    private let auditor: String
    private let state = Mutex(State())

    /// Makes an observer, which works while ``run(while:)`` runs.
    init(_ servers: [ServerProcess], traffic: Traffic, auditor: String) {
        self.servers = servers
        self.traffic = traffic
        self.auditor = auditor
    }

    /// Answers of `/readyz` that were wrong.
    var findings: [String] { state.withLock(\.findings) }

    /// The longest time from the beginning of a fault until a server was not ready; nil if all were always ready.
    var slowestNotice: Duration? { state.withLock(\.slowestNotice) }

    /// Whether no server is ready.
    var areAllNotReady: Bool { state.withLock { !$0.records.values.contains(where: \.isReady) } }

    /// A fault begins.
    func begin() {
        state.withLock { state in
            state.begun = .now
            state.notices = [:]
        }
    }

    /// Observes during the body.
    func run(while body: () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for server in servers {
                group.addTask {
                    await self.repeatedly { await self.checkReadiness(of: server) }
                }
                group.addTask {
                    await self.repeatedly { await self.keepCheckpoint(of: server) }
                }
            }
            defer { state.withLock { $0.isEnding = true } }
            try await body()
        }
    }

    private func repeatedly(_ step: () async -> Void) async {
        while !state.withLock(\.isEnding) {
            await step()
            try? await Task.sleep(for: Self.pause)
        }
    }

    private func checkReadiness(of server: ServerProcess) async {
        guard let answer = try? await server.client.call("GET", "/readyz") else { return }
        let (now, base) = (ContinuousClock.now, server.client.base)
        let silence = traffic.silence(of: server)
        let isReady = answer.status == 200
        state.withLock { state in
            if !isReady, let begun = state.begun, state.notices[base] == nil {
                state.notices[base] = now - begun
                state.slowestNotice = max(state.slowestNotice ?? .zero, now - begun)
            }
            let isWrong = state.records[base, default: ReadinessRecord()].note(
                isReady: isReady, at: now, silence: silence)
            if isWrong {
                state.findings.append("ready, and no command acknowledged for \(silence)")
            }
        }
    }

    private func keepCheckpoint(of server: ServerProcess) async {
        let answer = try? await server.client.call("GET", "/v1/log/checkpoint", token: auditor)
        guard let answer, answer.status == 200 else { return }
        state.withLock { _ = $0.notes.insert(String(decoding: answer.body, as: UTF8.self)) }
    }

    /// The lines of the servers' logs that say that the sealer refused.
    var refusals: [String] {
        servers.flatMap { server in
            server.log.split(separator: "\n").filter { $0.contains("sealing refused") }
        }.map(String.init)
    }

    /// The number of signed events of the tenant `default`, by any server.
    func signedSize() async throws -> Int {
        var largest = 0
        for server in servers {
            let page = try await server.admin.call("GET", "/metrics")
            let lines = String(decoding: page.body, as: UTF8.self).split(separator: "\n")
            let sample = lines.first { $0.hasPrefix("ledger_signed_size{tenant=\"default\"} ") }
            let value = sample?.split(separator: " ").last.flatMap { Double($0) }
            largest = max(largest, Int(value ?? 0))
        }
        return largest
    }

    /// Verifies the smallest and the largest kept checkpoint as an auditor's copies.
    func keptCheckpoints(
        comparedBy deployment: Deployment
    ) async throws -> (count: Int, findings: [String]) {
        let notes = state.withLock(\.notes).sorted { Self.size(of: $0) < Self.size(of: $1) }
        guard let smallest = notes.first, let largest = notes.last else {
            return (0, ["no checkpoint was kept"])
        }
        var findings: [String] = []
        for note in Set([smallest, largest]) {
            let file = try deployment.write(note, to: "kept-checkpoint")
            let verified = try await deployment.tool.run(["verify", "--checkpoint", file])
            if verified.status != 0 {
                findings.append("a kept checkpoint: \(verified.output)\(verified.errors)")
            }
        }
        return (notes.count, findings)
    }

    /// Returns the number of events that a checkpoint covers: its second line.
    private static func size(of note: String) -> Int {
        let lines = note.split(separator: "\n")
        return lines.count > 1 ? Int(lines[1]) ?? 0 : 0
    }
}
