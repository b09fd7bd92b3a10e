import Foundation
import Synchronization

/// Arguments and environment values of the real executable: it exits with a documented status and,
/// unless that is 0, an error message.
enum CommandLineTarget {
    private static let secondsMax = 20
    private static let statuses: Set<Int32> = [0, 1, 64]

    /// Each line of the input is an argument, or `NAME=value` for the environment.
    ///
    /// The input does not choose the files and servers that a command uses.
    static func target(executable: String, directory: String) -> FuzzTarget {
        FuzzTarget(
            "command-line",
            corpus: [
                "serve\nLEDGER_LISTEN=127.0.0.1:0\nLEDGER_MODE=development",
                "serve\nLEDGER_TRUSTED_PROXIES=10.0.0.0/8\nLEDGER_CORS_ORIGINS=https://a.example",
                "serve\nLEDGER_LINK_LIMIT=5\nLEDGER_STOP_SECONDS=10\nLEDGER_LOG_LEVEL=debug",
                "serve\nLEDGER_ISSUER=https://a.example\nLEDGER_AUDIENCE=app\nLEDGER_QUEUE_LIMIT=9",
                "replay\n--account\n0190a1b2-c3d4-7000-8000-000000000001\n--format\njson",
                "replay\n--from=1\n--to\n9\n--disclose", "verify\n--help",
                "rebuild\nuser_providers",
                "tenant\ncreate\nacme", "tenant\nlist", "help\nkeys\ninit", "--version", "migrate",
            ],
            words: [
                "--", "-", "=", "\n", "--help", "--account", "-h", "99999999999999999999",
                "--from=",
                "LEDGER_LISTEN=", "LEDGER_MODE=", "\u{1B}[31m", "\u{202E}", "%s%n", "'", "\t",
                "LEDGER_ACCESS_TOKEN_SECONDS=-1", "LEDGER_LINK_LIMIT=",
            ]
        ) { input in
            let lines = String(decoding: input, as: UTF8.self).replacing("\0", with: "?")
                .split(separator: "\n", omittingEmptySubsequences: false).map {
                    String($0.prefix(4_000))
                }
            var environment: [String: String] = [:]
            var words: [String] = []
            for line in lines.prefix(100) {
                let parts = line.split(
                    separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                if line.hasPrefix("LEDGER_"), parts.count == 2 {
                    environment[String(parts[0])] = String(parts[1])
                } else {
                    words.append(line)
                }
            }
            let unreachable = "postgresql://127.0.0.1:1/none?connect_timeout=2"
            for (name, value) in [
                ("DATABASE_URL", unreachable), ("LEDGER_MIGRATE_URL", unreachable),
                ("LEDGER_KEYS", directory + "/keys"), ("LEDGER_PROVIDERS", directory + "/none"),
            ] { environment[name] = value }
            let ended = try await run(executable, words, environment, errors: directory + "/errors")
            return try check(ended, errors: directory + "/errors")
        }
    }

    private static func check(_ ended: Ended, errors path: String) throws -> Bool {
        let errors = FileManager.default.contents(atPath: path) ?? Data()
        let shown = String(decoding: errors.prefix(300), as: UTF8.self)
        try require(!ended.isKilled, "it ended by signal \(ended.status): \(shown)")
        try require(statuses.contains(ended.status), "it ended with status \(ended.status)")
        guard ended.status != 0 else { return true }
        let messages = errors.split(separator: UInt8(ascii: "\n"))
        try require(!messages.isEmpty, "it failed without an error message")
        try require(
            !errors.contains { $0 < 0x20 && $0 != 0x0A },
            "an error message contains control characters")
        return false
    }

    private struct Ended {
        let status: Int32
        let isKilled: Bool
    }

    private static func run(
        _ executable: String, _ words: [String], _ environment: [String: String],
        errors path: String
    ) async throws -> Ended {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: executable)
        process.arguments = words
        var all = environment
        all["PATH"] = "/usr/bin:/bin"
        process.environment = all
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        try Data().write(to: URL(fileURLWithPath: path))
        process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        let running = Running()
        process.terminationHandler = { process in
            running.end(
                Ended(
                    status: process.terminationStatus,
                    isKilled: process.terminationReason == .uncaughtSignal))
        }
        try process.run()
        let id = process.processIdentifier
        let guardian = Task {
            try await Task.sleep(for: .seconds(secondsMax))
            kill(id, SIGKILL)
        }
        defer { guardian.cancel() }
        return await running.ended()
    }

    private final class Running: Sendable {
        private struct State {
            var ended: Ended?
            var waiter: CheckedContinuation<Ended, Never>?
        }

        private let state = Mutex(State())

        func end(_ ended: Ended) {
            let waiter = state.withLock { state in
                state.ended = ended
                return state.waiter.take()
            }
            waiter?.resume(returning: ended)
        }

        func ended() async -> Ended {
            await withCheckedContinuation { waiter in
                let early = state.withLock { state in
                    if state.ended == nil { state.waiter = waiter }
                    return state.ended
                }
                if let early { waiter.resume(returning: early) }
            }
        }
    }
}
