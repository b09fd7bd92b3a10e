internal import ChildProcesses
internal import Foundation

/// A child process whose output goes to files that can be read while it runs.
package final class RunningProcess: Sendable {
    /// The output of a child so far.
    package final class Collected: Sendable {
        private let path: String

        init() {
            path = NSTemporaryDirectory() + "account-ledger-output-" + UUID().uuidString
        }

        deinit {
            try? FileManager.default.removeItem(atPath: path)
        }

        /// The text so far.
        package var text: String {
            String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
        }

        func openForWriting() throws -> FileHandle {
            try Data().write(to: URL(fileURLWithPath: path))
            return try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        }
    }

    package let output = Collected()
    package let errors = Collected()
    private let child: ChildProcess

    /// Starts a child.
    ///
    /// - Throws: when the executable cannot be started.
    package init(
        executable: String, arguments: [String], environment: [String: String]
    ) throws {
        let inherited = ProcessInfo.processInfo.environment
        let kept = ["PATH", "HOME", "LANG", "LD_LIBRARY_PATH"].reduce(into: [:]) {
            $0[$1] = inherited[$1]
        }
        // Files instead of pipes, so that a child never waits for its reader.
        let (output, errors) = (try output.openForWriting(), try errors.openForWriting())
        // The checkout may be inaccessible to another login, such as a Postgres server's.
        child = try ChildProcess(
            executable: executable, arguments: arguments,
            environment: kept.merging(environment) { _, own in own }, directory: "/",
            output: .file(output.fileDescriptor), errors: .file(errors.fileDescriptor))
        try output.close()
        try errors.close()
    }

    /// The child's process id.
    package var id: Int32 { child.id }

    /// Whether the child has ended.
    package var hasExited: Bool { child.ending != nil }

    /// Waits for the end and returns the exit status.
    ///
    /// - Throws: `TestTimeout`; the child is killed then.
    package func exitStatus(within limit: Duration) async throws -> Int32 {
        do {
            return try await eventually("the end of process \(id)", within: limit) {
                child.ending?.status
            }
        } catch {
            send(SIGKILL)
            throw error
        }
    }

    /// Sends a signal, unless the child has ended.
    package func send(_ signal: Int32) {
        child.send(signal)
    }
}
