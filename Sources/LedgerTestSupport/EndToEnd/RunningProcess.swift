internal import Foundation
internal import Synchronization

/// A child process whose output is collected while it runs.
package final class RunningProcess: Sendable {
    /// What a child wrote so far.
    package final class Collected: Sendable {
        private let bytes = Mutex<[UInt8]>([])

        /// The text so far.
        package var text: String { String(decoding: bytes.withLock(\.self), as: UTF8.self) }

        func append(_ more: Data) {
            bytes.withLock { $0.append(contentsOf: more) }
        }
    }

    package let output = Collected()
    package let errors = Collected()
    /// The child's process id.
    package let id: Int32

    /// Starts a child.
    ///
    /// - Throws: what Foundation throws when the executable cannot be started.
    package init(
        executable: String, arguments: [String], environment: [String: String]
    ) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: executable)
        process.arguments = arguments
        let inherited = ProcessInfo.processInfo.environment
        let kept = ["PATH", "HOME", "LANG", "LD_LIBRARY_PATH"].reduce(into: [:]) {
            $0[$1] = inherited[$1]
        }
        process.environment = kept.merging(environment) { _, own in own }
        process.standardInput = FileHandle.nullDevice
        let pipes = (output: Pipe(), errors: Pipe())
        process.standardOutput = pipes.output
        process.standardError = pipes.errors
        let exited = ExitBox()
        process.terminationHandler = { exited.set($0.terminationStatus) }
        Self.collect(pipes.output, into: output)
        Self.collect(pipes.errors, into: errors)
        try process.run()
        id = process.processIdentifier
        self.exited = exited
    }

    private let exited: ExitBox

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

    private static func collect(_ pipe: Pipe, into collected: Collected) {
        pipe.fileHandleForReading.readabilityHandler = { handle in
            let data = handle.availableData
            if data.isEmpty {
                handle.readabilityHandler = nil
            } else {
                collected.append(data)
            }
        }
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
