internal import Foundation
internal import Postgres

/// A Postgres cluster of a single test, which may stop and crash it.
package final class PrivateCluster: Sendable {
    /// The superuser's URL.
    package let url: String
    /// The port on 127.0.0.1.
    package let port: Int
    private let directory: String
    private let binaries: String
    private let environment: [String: String]
    private let settings: [String]

    /// Runs the body with a running cluster, which is removed afterwards.
    ///
    /// `environment` is added to the server's required variables, `settings` to those of its configuration.
    ///
    /// - Throws: an error of the setup or the body.
    package static func with<Value>(
        environment: [String: String] = [:], settings: [String] = [],
        _ body: (PrivateCluster) async throws -> Value
    ) async throws -> Value {
        let cluster = try await PrivateCluster(environment: environment, settings: settings)
        do {
            let value = try await body(cluster)
            try await cluster.remove()
            return value
        } catch {
            try? await cluster.remove()
            throw error
        }
    }

    private init(environment: [String: String], settings: [String]) async throws {
        self.environment = environment
        self.settings = settings
        binaries = try Self.newestBinaries()
        (port, directory) = try Self.reserve((0..<100).map { _ in .random(in: Self.ports) })
        url = "postgresql://owner@127.0.0.1:\(port)/postgres"
        if getuid() == 0 { try await Self.run("/bin/chown", ["postgres", directory]) }
        try await server(
            "initdb",
            [
                "-D", directory + "/data", "-U", "owner", "--auth=trust", "-E", "UTF8", "--no-sync",
            ])
        try await start()
    }

    /// Ports below the range that the kernel uses for outgoing connections.
    private static let ports = 20_000..<32_000

    /// Reserves the first port that no other cluster has reserved, by creating its directory.
    ///
    /// A cluster keeps its port while it is stopped.
    ///
    /// - Parameter candidates: The ports to try.
    /// - Returns: The port, and the directory for the cluster that has it.
    /// - Throws: An error of the file system, or `TestTimeout` if all ports are reserved.
    package static func reserve(_ candidates: [Int]) throws -> (port: Int, directory: String) {
        for port in candidates {
            // Short, because a socket's path has at most 107 bytes.
            let directory = "/tmp/ledger-test-\(port)"
            do {
                try FileManager.default.createDirectory(
                    atPath: directory, withIntermediateDirectories: false,
                    attributes: [.posixPermissions: 0o700])
                return (port, directory)
            } catch CocoaError.fileWriteFileExists {
                continue
            }
        }
        throw TestTimeout(waitingFor: "an unused port among \(candidates)")
    }

    /// Starts the cluster and waits until it accepts connections.
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
            ] + settings.flatMap { ["-c", $0] })
        let process = try RunningProcess(
            executable: command.executable, arguments: command.arguments,
            environment: environment.merging(["LC_ALL": "C.UTF-8"]) { $1 })
        try await eventually("the cluster to take connections", within: .seconds(60)) {
            guard !process.hasExited else {
                throw TestTimeout(waitingFor: "a cluster that lives: \(process.errors.text)")
            }
            return process.errors.text.contains("ready to accept") ? true : nil
        }
    }

    /// Replaces the data of the stopped cluster by a copy of those of another stopped one.
    ///
    /// - Throws: `TestTimeout` with the program's output.
    package func copyData(of other: PrivateCluster) async throws {
        try FileManager.default.removeItem(atPath: directory + "/data")
        try await Self.run("/bin/cp", ["-a", other.directory + "/data", directory + "/data"])
    }

    /// Configures the stopped cluster to start as a standby without a primary, until it is promoted.
    ///
    /// - Throws: an error of the file system.
    package func becomeStandby() throws {
        try Data().write(to: URL(fileURLWithPath: directory + "/data/standby.signal"))
    }

    /// Stops the cluster; the mode `immediate` is equivalent to a power failure.
    ///
    /// - Throws: `TestTimeout` with the server's output.
    package func stop(mode: String) async throws {
        try await server("pg_ctl", ["-D", directory + "/data", "-m", mode, "-w", "stop"])
    }

    /// Kills every process of the server at once, as a power failure would.
    ///
    /// - Throws: `TestTimeout`.
    package func kill() async throws {
        for id in processes { Foundation.kill(id, SIGKILL) }
        try await eventually("the server's processes to end") { processes.isEmpty ? true : nil }
    }

    /// Replaces all occurrences of bytes in a file of the stopped cluster by as many others.
    ///
    /// `path` is the result of `pg_relation_filepath`.
    ///
    /// - Returns: the number of occurrences.
    /// - Throws: what reading or writing throws.
    package func replace(_ old: String, with new: String, in path: String) throws -> Int {
        precondition(old.utf8.count == new.utf8.count, "the file keeps its layout")
        let file = URL(fileURLWithPath: directory + "/data/" + path)
        var data = try Data(contentsOf: file)
        var count = 0
        while let range = data.range(of: Data(old.utf8)) {
            data.replaceSubrange(range, with: Data(new.utf8))
            count += 1
        }
        let handle = try FileHandle(forWritingTo: file)
        try handle.write(contentsOf: data)
        try handle.close()
        return count
    }

    /// Writes bytes into a file of the stopped cluster, at an offset.
    ///
    /// `path` is the result of `pg_relation_filepath`.
    ///
    /// - Throws: what writing throws.
    package func overwrite(_ path: String, at offset: UInt64, with bytes: [UInt8]) throws {
        let handle = try FileHandle(
            forWritingTo: URL(fileURLWithPath: directory + "/data/" + path))
        try handle.seek(toOffset: offset)
        try handle.write(contentsOf: Data(bytes))
        try handle.close()
    }

    /// Whether a server runs on the data directory.
    package var isRunning: Bool {
        postmaster > 0 && Foundation.kill(postmaster, 0) == 0
    }

    /// The process id of the server, 0 when none runs.
    private var postmaster: Int32 {
        // The first line of a file that the server deletes at its end.
        let path = directory + "/data/postmaster.pid"
        let file = try? String(contentsOfFile: path, encoding: .utf8)
        return file?.split(separator: "\n").first.flatMap { Int32($0) } ?? 0
    }

    /// Kills the backends of connections with a name, as the kernel does when it is out of memory.
    ///
    /// The server then ends all connections and recovers.
    ///
    /// - Returns: their number.
    /// - Throws: `PostgresError`.
    package func killBackends(ofApplication name: String) async throws -> Int {
        let ids = try await processes(
            where: "application_name = \(quoteLiteral(name)) AND pid <> pg_backend_pid()")
        for id in ids { Foundation.kill(id, SIGKILL) }
        return ids.count
    }

    /// Returns the backends that satisfy a condition on `pg_stat_activity`.
    ///
    /// - Throws: `PostgresError`.
    package func processes(where condition: String) async throws -> [Int32] {
        let session = Session(url: url, applicationName: "cluster watch")
        let ids = try await session.run { connection in
            let result = try connection.query(
                Statement(
                    "activity",
                    "SELECT pid::bigint FROM pg_stat_activity WHERE backend_type = 'client backend'"
                        + " AND (\(condition))"))
            return try (0..<result.rowCount).map { Int32(try result.int8($0, 0)) }
        }
        await session.close()
        return ids
    }

    /// Returns the findings of `pg_amcheck --heapallindexed` for a database; empty without any.
    ///
    /// - Throws: `TestTimeout`.
    package func corruption(in database: String) async throws -> String {
        let check = try RunningProcess(
            executable: binaries + "pg_amcheck",
            arguments: [
                "--heapallindexed", "--install-missing", "--host=127.0.0.1", "--port=\(port)",
                "--username=owner", database,
            ], environment: ["LC_ALL": "C.UTF-8"])
        let status = try await check.exitStatus(within: .seconds(120))
        return status == 0 ? "" : "status \(status): \(check.output.text)\(check.errors.text)"
    }

    /// The processor time of the server and its children, including ended ones.
    package var cpuSeconds: Double {
        processes.reduce(0) {
            $0 + CPUTime.seconds(of: $1, withEndedChildren: $1 == postmaster)
        }
    }

    /// The server and its children: the processes that work in the data directory.
    private var processes: [Int32] {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return all.compactMap { Int32($0) }.filter { id in
            let link = "/proc/\(id)/cwd"
            let cwd = try? FileManager.default.destinationOfSymbolicLink(atPath: link)
            return cwd == directory + "/data"
        }
    }

    private func remove() async throws {
        try? await stop(mode: "immediate")
        try FileManager.default.removeItem(atPath: directory)
    }

    /// Returns the command as the cluster's owner: Postgres refuses to run as root.
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

    /// Returns the directory of the newest installed server's programs, with a slash at the end.
    ///
    /// - Throws: `TestTimeout` without an installed server, or an error of the file system.
    static func newestBinaries() throws -> String {
        let root = "/usr/lib/postgresql/"
        let versions = try FileManager.default.contentsOfDirectory(atPath: root).compactMap(
            Int.init)
        guard let newest = versions.max() else {
            throw TestTimeout(waitingFor: "Postgres under \(root)")
        }
        return root + "\(newest)/bin/"
    }
}
