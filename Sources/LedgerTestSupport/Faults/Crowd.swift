internal import Foundation

/// Thousands of clients in a separate process (`tools/lib/chaos/crowd.c`).
///
/// In C and optimised, since a debug build of a client would take the processor time of the tested server.
/// `ledger-bench-load` cannot replace it: it sends no malicious requests, and has no deadlines.
package final class Crowd: Sendable {
    /// The answers of one kind.
    package struct Times: Sendable, Decodable {
        package let count: Int
        package let p50Milliseconds: Double
        package let p99Milliseconds: Double
        package let longestMilliseconds: Double

        private enum CodingKeys: String, CodingKey {
            case count
            case p50Milliseconds = "p50_ms"
            case p99Milliseconds = "p99_ms"
            case longestMilliseconds = "max_ms"
        }
    }

    /// The results of a crowd of working clients.
    package struct Report: Sendable, Decodable {
        package let connections: Int
        package let seconds: Double
        /// Answers 200.
        package let accepted: Times
        /// Those of them received before the end of the run.
        let acceptedInTime: Int
        /// Answers 503.
        package let refused: Times
        /// Other answers, and the status of the first.
        package let other: Int
        package let firstOther: Int
        /// Connections that ended without an answer.
        package let cut: Int
        /// Requests without an answer after the final timeout, and the waiting time of the oldest.
        package let outstanding: Int
        package let outstandingLongestMilliseconds: Double
        package let connectFailures: Int
        /// Answers 503 without `Retry-After`.
        package let withoutRetryAfter: Int
        /// The processor time of the crowd itself.
        let cpuSeconds: Double

        private enum CodingKeys: String, CodingKey {
            case connections, seconds, accepted, refused, other, cut, outstanding
            case acceptedInTime = "accepted_in_time"
            case outstandingLongestMilliseconds = "outstanding_max_ms"
            case firstOther = "first_other"
            case connectFailures = "connect_failures"
            case withoutRetryAfter = "without_retry_after"
            case cpuSeconds = "cpu_seconds"
        }

        /// Answers 200 a second.
        package var acceptedPerSecond: Double { Double(acceptedInTime) / seconds }
    }

    /// Kinds of malicious clients.
    package enum Nuisance: String, CaseIterable, Sendable {
        /// Connect and send nothing.
        case idle
        /// Send a request a byte a second.
        case drip
        /// Send all but the end of a large body.
        case hoard
        /// Send requests and read no answer.
        case deaf
    }

    /// The wait for answers after the last request, in seconds: longer than any answer may take.
    package static let answerTimeoutSeconds = 15

    private let directory: String
    private let program: String

    /// Compiles the program.
    ///
    /// - Throws: `TestTimeout` with the compiler's output.
    package init() async throws {
        directory = try CProgram.makeDirectory()
        program = try await CProgram.compile("crowd", into: directory)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: directory)
    }

    /// Sends requests in closed loops: each client waits for its answer, and 100 ms after a 503.
    ///
    /// - Throws: `TestTimeout` with the program's output.
    package func work(
        on port: Substring, path: String, bodies: [String], connections: Int, seconds: Int,
        answerTimeoutSeconds: Int = Crowd.answerTimeoutSeconds
    ) async throws -> Report {
        let file = directory + "/bodies"
        try bodies.joined(separator: "\n").write(toFile: file, atomically: true, encoding: .utf8)
        let process = try start([
            "work", "\(port)", "\(connections)", "\(seconds)", path, file,
            "\(answerTimeoutSeconds)",
        ])
        let status = try await process.exitStatus(
            within: .seconds(seconds + answerTimeoutSeconds + 60))
        guard status == 0 else { throw TestTimeout(waitingFor: "a crowd: \(process.errors.text)") }
        return try JSONDecoder().decode(Report.self, from: Data(process.output.text.utf8))
    }

    /// Runs the body beside a crowd of malicious clients.
    ///
    /// - Throws: `TestTimeout`, or an error of the body.
    package func withNuisance<Value>(
        _ server: ServerProcess, by nuisance: Nuisance, connections: Int,
        while body: () async throws -> Value
    ) async throws -> Value {
        let path = nuisance == .deaf ? ["/.well-known/jwks.json"] : []
        let process = try start(
            [nuisance.rawValue, "\(server.port)", "\(connections)", "600"] + path)
        defer { process.send(SIGKILL) }
        try await eventually("\(connections) clients to be connected") {
            if process.hasExited { throw TestTimeout(waitingFor: process.errors.text) }
            return process.errors.text.contains("ready") ? true : nil
        }
        return try await body()
    }

    private func start(_ arguments: [String]) throws -> RunningProcess {
        try RunningProcess(executable: program, arguments: arguments, environment: [:])
    }
}
