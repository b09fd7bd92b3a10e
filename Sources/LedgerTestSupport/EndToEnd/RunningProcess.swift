internal import Foundation
internal import Synchronization

/// A child process that writes into files of its own, to be read while it runs.
package final class RunningProcess: Sendable {
    /// What a child wrote so far.
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
    /// The child's process id.
    package let id: Int32
    private let exited: ExitBox

    /// Starts a child.
    ///
    /// - Throws: what Foundation throws when the executable cannot be started.
    package init(
        executable: String, arguments: [String], environment: [String: String]
    ) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: executable)
        process.arguments = arguments
        // The checkout may lie where another login, such as that of a Postgres server, may not go.
        process.currentDirectoryURL = URL(fileURLWithPath: "/")
        let inherited = ProcessInfo.processInfo.environment
        let kept = ["PATH", "HOME", "LANG", "LD_LIBRARY_PATH"].reduce(into: [:]) {
            $0[$1] = inherited[$1]
        }
        process.environment = kept.merging(environment) { _, own in own }
        process.standardInput = FileHandle.nullDevice
        // Files and not pipes: a child never waits for its reader, and nothing has to be drained.
        process.standardOutput = try output.openForWriting()
        process.standardError = try errors.openForWriting()
        let exited = ExitBox()
        process.terminationHandler = { exited.set($0.terminationStatus) }
        try process.run()
        id = process.processIdentifier
        self.exited = exited
    }

    /// Whether the child has ended.
    package var hasExited: Bool { exited.status != nil }

    /// Waits for the end and gives the exit status.
    ///
    /// - Throws: `TestTimeout`; the child is killed then.
    package func exitStatus(within limit: Duration) async throws -> Int32 {
        do {
            return try await eventually("the end of process \(id)", within: limit) {
                exited.status
            }
        } catch {
            send(SIGKILL)
            throw error
        }
    }

    /// Sends a signal, unless the child has ended.
    package func send(_ signal: Int32) {
        guard !hasExited else { return }
        kill(id, signal)
    }
}

/// Holds an exit status once there is one.
private final class ExitBox: Sendable {
    private let value = Mutex<Int32?>(nil)

    var status: Int32? { value.withLock(\.self) }

    func set(_ status: Int32) {
        value.withLock { $0 = status }
    }
}
