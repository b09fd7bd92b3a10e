internal import Foundation
internal import Synchronization

/// A child process with the three standard streams and no other open file of its parent.
///
/// Replaces Foundation's `Process`, which lists the open files of its own process and reads past the end of
/// the list when there are more than about a thousand, which sometimes crashes the program.
package final class ChildProcess: Sendable {
    /// The target of a standard stream of a child.
    package enum Stream: Sendable {
        /// To `/dev/null`.
        case null
        /// The parent's own stream.
        case inherited
        /// To an open file of the parent.
        case file(Int32)
    }

    /// The end of a child process.
    package enum Ending: Hashable, Sendable {
        case exit(Int32)
        case signal(Int32)

        /// The exit status, or the number of the signal.
        package var status: Int32 {
            switch self {
            case .exit(let status), .signal(let status): status
            }
        }

        /// Decodes the status of `waitpid`.
        fileprivate init(waited: Int32) {
            let signal = waited & 0x7F
            self = signal == 0 ? .exit(waited >> 8 & 0xFF) : .signal(signal)
        }
    }

    /// The child could not be started.
    package struct CannotStart: Error {
        package let executable: String
        /// The number of the error, as in `errno`.
        package let code: Int32
    }

    /// The child's process id.
    package let id: Int32
    private let end = End()

    /// Starts a child in its own process group, with no signal blocked.
    ///
    /// - Parameters:
    ///   - executable: the path of the program.
    ///   - arguments: the arguments after the program's name.
    ///   - environment: the complete environment of the child.
    ///   - directory: its working directory; nil for the parent's.
    ///   - input: its standard input.
    ///   - output: its standard output.
    ///   - errors: its standard error.
    /// - Throws: `CannotStart`.
    package init(
        executable: String, arguments: [String], environment: [String: String],
        directory: String? = nil, input: Stream = .null, output: Stream, errors: Stream
    ) throws(CannotStart) {
        let spawned = Spawning(
            executable: executable, arguments: arguments,
            environment: environment.map { "\($0.key)=\($0.value)" }, directory: directory,
            streams: [input, output, errors]
        ).run()
        guard spawned.code == 0 else {
            throw CannotStart(executable: executable, code: spawned.code)
        }
        id = spawned.id
        end.watch(id)
    }

    /// The end of the child; nil while it runs.
    package var ending: Ending? { end.ending }

    /// Blocks until the child has ended.
    package func waitUntilExit() -> Ending { end.wait() }

    /// Sends a signal, unless the child has ended.
    package func send(_ signal: Int32) {
        guard ending == nil else { return }
        kill(id, signal)
    }

    /// Runs a program to its end and returns its output.
    ///
    /// Blocks.
    /// - Parameters:
    ///   - executable: the path of the program.
    ///   - arguments: the arguments after the program's name.
    ///   - environment: additions to the parent's environment.
    ///   - directory: its working directory; nil for the parent's.
    ///   - showsErrors: whether its standard error goes to the parent's instead of the returned text.
    /// - Returns: its end, and the text.
    /// - Throws: `CannotStart`, and what Foundation throws when it reads the text.
    package static func run(
        _ executable: String, _ arguments: [String], environment: [String: String] = [:],
        directory: String? = nil, showsErrors: Bool = false
    ) throws -> (status: Int32, text: String) {
        let pipe = Pipe()
        let output = Stream.file(pipe.fileHandleForWriting.fileDescriptor)
        let child = try ChildProcess(
            executable: executable, arguments: arguments,
            environment: ProcessInfo.processInfo.environment.merging(environment) { $1 },
            directory: directory, output: output, errors: showsErrors ? .inherited : output)
        // Reading ends when the child has the last writing end of the pipe.
        try pipe.fileHandleForWriting.close()
        let text = try pipe.fileHandleForReading.readToEnd() ?? Data()
        return (status: child.waitUntilExit().status, text: String(decoding: text, as: UTF8.self))
    }

    /// Waits for a child in a separate thread, and stores its end.
    private final class End: Sendable {
        // Protected by the mutex: written once, by the thread that waits.
        private let value = Mutex<Ending?>(nil)
        private let running = DispatchGroup()

        var ending: Ending? { value.withLock(\.self) }

        func watch(_ id: Int32) {
            running.enter()
            Thread.detachNewThread {
                var waited: Int32 = 0
                while unsafe waitpid(id, &waited, 0) < 0, errno == EINTR {}
                self.value.withLock { $0 = Ending(waited: waited) }
                self.running.leave()
            }
        }

        func wait() -> Ending {
            running.wait()
            guard let ending else { preconditionFailure("a child has ended without a status") }
            return ending
        }
    }
}
