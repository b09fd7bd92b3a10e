import CommandLine
import Foundation

/// `serve`: answers the HTTP API until a signal asks it to stop.
enum ServeCommand {
    static let syntax = Syntax(
        words: ["serve"], summary: "answer the HTTP API until SIGTERM or SIGINT",
        settings: Setting.allCases.filter { $0 != .migrateURL },
        details: """
            Writes JSON lines to standard error; the line whose msg is "ready" names the addresses. The first
            signal stops the server gracefully: accepted requests are answered and committed. A second signal
            stops it immediately.
            """)

    /// Time during which another signal counts as the same one: shells and `timeout` signal a whole process
    /// group and then its leader.
    private static let duplicateSignalWindow = Duration.milliseconds(500)

    static func run(_: Arguments, _ environment: Environment) async throws -> ExitCode {
        let configuration = try ServeConfiguration(environment)
        let log = Log(threshold: configuration.logLevel)
        defer { log.flush() }
        for name in environment.unknownNames {
            log.write(.warning, "unknown setting", ["name": .text(name)])
        }
        let signals = await StopSignals.received()
        let server = try await Server(configuration, log: log)
        try await server.run {
            var received = signals.makeAsyncIterator()
            _ = await received.next()
            log.write(.info, "stopping")
            endImmediately(on: signals, after: configuration.stopGrace, log: log)
        }
        log.write(.info, "stopped")
        return .success
    }

    /// Ends the process at the second signal or when the time for a graceful stop is over.
    private static func endImmediately(
        on signals: AsyncStream<Int32>, after grace: Duration, log: Log
    ) {
        let first = ContinuousClock.now
        Task.detached {
            for await _ in signals where ContinuousClock.now - first > duplicateSignalWindow {
                log.write(.warning, "stopped immediately by a second signal")
                log.flush()
                ExitCode.fault.endProcess()
            }
        }
        Task.detached {
            try await Task.sleep(for: grace)
            log.write(.error, "stopped before all work was finished")
            log.flush()
            ExitCode.fault.endProcess()
        }
    }
}
