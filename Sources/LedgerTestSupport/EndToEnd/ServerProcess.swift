internal import Foundation

/// A running `account-ledger serve`.
package final class ServerProcess: Sendable {
    package let process: RunningProcess
    package let client: WireClient
    package let admin: WireClient

    private init(process: RunningProcess, listen: String, admin: String) {
        self.process = process
        client = WireClient(base: "http://\(listen)")
        self.admin = WireClient(base: "http://\(admin)")
    }

    /// Starts a server and waits for its ready line.
    ///
    /// - Throws: `TestTimeout` with the server's output.
    package static func start(_ environment: [String: String]) async throws -> ServerProcess {
        let process = try RunningProcess(
            executable: CommandLineTool.executable, arguments: ["serve"],
            environment: environment)
        do {
            let ready = try await eventually("the server to be ready", within: .seconds(120)) {
                if process.hasExited { throw TestTimeout(waitingFor: "a server that lives") }
                return readyLine(in: process.errors.text)
            }
            return ServerProcess(process: process, listen: ready.listen, admin: ready.admin)
        } catch {
            process.send(SIGKILL)
            throw TestTimeout(waitingFor: "the server to be ready: \(process.errors.text)")
        }
    }

    /// A client that repeats what a busy server refuses, for tests about outcomes.
    package var persistentClient: WireClient {
        WireClient(base: client.base, isPersistent: true)
    }

    /// The port that clients connect to.
    package var port: Substring { client.base.split(separator: ":").last ?? "" }

    /// The server's log so far.
    package var log: String { process.errors.text }

    /// Kills the process, as a power failure would.
    ///
    /// - Throws: `TestTimeout`.
    package func kill() async throws {
        process.send(SIGKILL)
        _ = try await process.exitStatus(within: .seconds(60))
    }

    /// Stops the process gracefully and returns its exit status.
    ///
    /// - Throws: `TestTimeout`.
    @discardableResult
    package func stop() async throws -> Int32 {
        process.send(SIGTERM)
        return try await process.exitStatus(within: .seconds(120))
    }

    private static func readyLine(in log: String) -> (listen: String, admin: String)? {
        for line in log.split(separator: "\n") {
            let object = try? JSONSerialization.jsonObject(with: Data(line.utf8))
            guard let fields = object as? [String: Any], fields["msg"] as? String == "ready",
                let listen = fields["listen"] as? String, let admin = fields["admin"] as? String
            else { continue }
            return (listen: listen, admin: admin)
        }
        return nil
    }
}
