internal import Foundation

/// A Postgres cluster of a test's own, to be stopped and started as roughly as the test wants.
package final class PrivateCluster: Sendable {
    /// The superuser's URL.
    package let url: String
    private let directory: String
    private let binaries: String
    private let port: Int

    /// Lends a running cluster; it is removed afterwards.
    ///
    /// - Throws: what making it or the body throws.
    package static func with<Value>(
        _ body: (PrivateCluster) async throws -> Value
    ) async throws -> Value {
        let cluster = try await PrivateCluster()
        do {
            let value = try await body(cluster)
            try await cluster.remove()
            return value
        } catch {
            try? await cluster.remove()
            throw error
        }
    }

    private init() async throws {
        binaries = try Self.newestBinaries()
        // Short, because a socket's path has at most 107 bytes.
        directory = "/tmp/ledger-test-\(UInt32.random(in: 0...(.max)))"
        // Below the range that the kernel hands out to connections, which come and go all the time.
        port = Int.random(in: 20_000..<32_000)
        url = "postgresql://owner@127.0.0.1:\(port)/postgres"
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        if getuid() == 0 { try await Self.run("/bin/chown", ["postgres", directory]) }
        try await server(
            "initdb", ["-D", directory + "/data", "-U", "owner", "--auth=trust", "-E", "UTF8"])
        try await start()
    }

    /// Starts the cluster and waits until it takes connections.
    ///
    /// The server runs in the foreground: Foundation's `Process` does not see the end of a program,
    /// such as `pg_ctl start`, that leaves a daemon behind.
    ///
    /// - Throws: `TestTimeout`.
    package func start() async throws {
        let command = asOwner(
            "postgres",
            [
                "-D", directory + "/data", "-p", "\(port)", "-k", directory, "-c",
                "listen_addresses=127.0.0.1",
            ])
        let process = try RunningProcess(
            executable: command.executable, arguments: command.arguments,
            environment: ["LC_ALL": "C.UTF-8"])
        try await eventually("the cluster to take connections", within: .seconds(60)) {
            guard !process.hasExited else {
                throw TestTimeout(waitingFor: "a cluster that lives: \(process.errors.text)")
            }
            return process.errors.text.contains("ready to accept connections") ? true : nil
        }
    }

    /// Stops the cluster: `immediate` is as good as a power cut.
    ///
    /// - Throws: `TestTimeout` with what the server said.
    package func stop(mode: String) async throws {
        try await server("pg_ctl", ["-D", directory + "/data", "-m", mode, "-w", "stop"])
    }

    private func remove() async throws {
        try? await stop(mode: "immediate")
        try FileManager.default.removeItem(atPath: directory)
    }

    /// Postgres refuses to run as root, so root runs it as the user of the Debian package.
    private func asOwner(
        _ program: String, _ arguments: [String]
    ) -> (executable: String, arguments: [String]) {
        guard getuid() == 0 else { return (binaries + program, arguments) }
        return ("/sbin/runuser", ["-u", "postgres", "--", binaries + program] + arguments)
    }

    private func server(_ program: String, _ arguments: [String]) async throws {
        let command = asOwner(program, arguments)
        try await Self.run(command.executable, command.arguments)
    }

    private static func run(_ executable: String, _ arguments: [String]) async throws {
        let process = try RunningProcess(
            executable: executable, arguments: arguments, environment: ["LC_ALL": "C.UTF-8"])
        guard try await process.exitStatus(within: .seconds(60)) == 0 else {
            throw TestTimeout(
                waitingFor: "\(arguments): \(process.output.text)\(process.errors.text)")
        }
    }

    private static func newestBinaries() throws -> String {
        let root = "/usr/lib/postgresql/"
        let versions = try FileManager.default.contentsOfDirectory(atPath: root).compactMap(
            Int.init)
        guard let newest = versions.max() else {
            throw TestTimeout(waitingFor: "Postgres under \(root)")
        }
        return root + "\(newest)/bin/"
    }
}
