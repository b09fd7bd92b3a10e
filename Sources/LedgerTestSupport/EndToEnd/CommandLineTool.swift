internal import Foundation

/// The built `account-ledger`, run as by an operator.
package struct CommandLineTool: Sendable {
    /// The result of a finished run.
    package struct Outcome: Sendable {
        package let status: Int32
        package let output: String
        package let errors: String
    }

    /// The environment of every run, in addition to the operating system's variables.
    package let environment: [String: String]

    /// Creates a tool with its own environment.
    package init(environment: [String: String]) {
        self.environment = environment
    }

    /// The path of the executable: next to the test bundle unless `ACCOUNT_LEDGER_BINARY` is set.
    package static var executable: String {
        if let path = ProcessInfo.processInfo.environment["ACCOUNT_LEDGER_BINARY"] {
            return path
        }
        let bundle = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        return bundle.appendingPathComponent("account-ledger").path
    }

    /// Runs a subcommand to its end.
    ///
    /// - Throws: what starting the process throws, or `TestTimeout`.
    package func run(
        _ arguments: [String], within limit: Duration = .seconds(60)
    ) async throws -> Outcome {
        let process = try RunningProcess(
            executable: Self.executable, arguments: arguments, environment: environment)
        let status = try await process.exitStatus(within: limit)
        return Outcome(
            status: status, output: process.output.text, errors: process.errors.text)
    }
}

/// The error for an expected event that did not happen in time.
package struct TestTimeout: Error, CustomStringConvertible {
    package let description: String

    /// Creates an error that names the expected event.
    package init(waitingFor what: String) {
        description = "timed out waiting for \(what)"
    }
}

/// Polls until there is a value or the time limit is over.
///
/// - Throws: `TestTimeout`, or an error of the closure.
@discardableResult
package func eventually<Value>(
    _ what: String, within limit: Duration = .seconds(120),
    _ question: () async throws -> Value?
) async throws -> Value {
    let deadline = ContinuousClock.now + limit
    while true {
        if let value = try await question() { return value }
        guard ContinuousClock.now < deadline else { throw TestTimeout(waitingFor: what) }
        try await Task.sleep(for: .milliseconds(20))
    }
}
