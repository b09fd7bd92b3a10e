internal import Foundation

/// The built `account-ledger`, run as an operator would run it.
package struct CommandLineTool: Sendable {
    /// What a finished run left behind.
    package struct Outcome: Sendable {
        package let status: Int32
        package let output: String
        package let errors: String
    }

    /// The environment that every run gets, beside what the operating system needs.
    package let environment: [String: String]

    /// Describes runs with an environment of their own.
    package init(environment: [String: String]) {
        self.environment = environment
    }

    /// Where the executable is: beside the test bundle, unless `ACCOUNT_LEDGER_BINARY` says otherwise.
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

/// Something did not happen in time; says what was waited for.
package struct TestTimeout: Error, CustomStringConvertible {
    package let description: String

    /// Names what was waited for.
    package init(waitingFor what: String) {
        description = "timed out waiting for \(what)"
    }
}

/// Asks again and again until there is an answer or the time is up.
///
/// - Throws: `TestTimeout`, or what the question throws.
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
