internal import Foundation

/// A TCP proxy for a local port that can silently stop forwarding.
///
/// A separate process (`tools/lib/chaos/proxy.c`), so that the tests can't delay it.
package final class FaultyProxy: Sendable {
    /// The port to connect to.
    package let port: Int
    private let target: Int
    private let directory: String
    private let program: String
    private let process: RunningProcess

    /// Starts a proxy on a port, by default a free one.
    ///
    /// - Throws: `TestTimeout`.
    package init(target: Int, port: Int = 0) async throws {
        self.target = target
        directory = try CProgram.makeDirectory()
        program = try await CProgram.compile("proxy", into: directory)
        let process = try RunningProcess(
            executable: program, arguments: ["\(port)", "\(target)"], environment: [:])
        self.process = process
        self.port = try await eventually("the proxy to listen") {
            if process.hasExited { throw TestTimeout(waitingFor: process.errors.text) }
            return process.output.text.split(separator: "\n").first?.split(separator: " ").last
                .flatMap { Int($0) }
        }
    }

    deinit {
        process.send(SIGKILL)
        try? FileManager.default.removeItem(atPath: directory)
    }

    /// Keeps connections open without forwarding anything; new connections hang as well.
    package func hold() { process.send(SIGUSR1) }

    /// Resumes forwarding.
    package func forward() { process.send(SIGUSR2) }

    /// Drops the server side of every connection without notice to its client.
    package func loseServers() { process.send(SIGHUP) }

    /// Drops the client side of every connection without notice to its server.
    package func loseClients() { process.send(SIGALRM) }

    /// Ends every connection; new ones are refused.
    ///
    /// - Throws: `TestTimeout`.
    package func stop() async throws {
        process.send(SIGKILL)
        _ = try await process.exitStatus(within: .seconds(60))
    }
}
