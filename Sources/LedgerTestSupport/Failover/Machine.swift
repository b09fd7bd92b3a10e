internal import Foundation

/// A machine of a ``PatroniCluster``: Postgres under Patroni, and a member of etcd.
///
/// Its files are those of `packaging/patroni`, with other addresses, directories and passwords.
package final class Machine: Sendable {
    /// The number of the machine.
    package let number: Int
    /// The name in Patroni and etcd.
    package let name: String
    /// The address of all of its services.
    package let address: String
    /// A client of Patroni.
    let patroni: WireClient
    private let directory: String
    private let network: MachineNetwork

    /// The addresses, paths and passwords in `packaging/patroni`.
    private enum Documented {
        static let addresses = MachineVariables.addresses
        static let password = "choose-one"
        static let sockets = "/var/run/postgresql"
        static let data = "/var/lib/postgresql/15/main"
        static let programs = "/usr/lib/postgresql/15/bin"
        static let etcdData = "/var/lib/etcd/account-ledger"
    }

    private static let templates = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("packaging/patroni").path

    /// Makes the directory and the files of a machine.
    init(
        _ number: Int, in parent: String, network: MachineNetwork, password: String,
        programs: String
    ) async throws {
        self.number = number
        self.network = network
        let directory = "\(parent)/db\(number)"
        self.directory = directory
        name = "db\(number)"
        address = network.address(of: number)
        patroni = WireClient(base: "http://\(address):8008")
        try FileManager.default.createDirectory(
            atPath: directory + "/sockets", withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        let configuration = try String(
            contentsOfFile: Self.templates + "/patroni.yml", encoding: .utf8
        ).replacing(Documented.sockets, with: directory + "/sockets")
            .replacing(Documented.data, with: directory + "/data")
            .replacing(Documented.programs, with: programs)
        try configuration.write(
            toFile: directory + "/patroni.yml", atomically: true, encoding: .utf8)
        func variables(_ file: String) throws -> [String: String] {
            let path = "\(Self.templates)/\(file)"
            return try MachineVariables(String(contentsOfFile: path, encoding: .utf8))
                .values(of: number).mapValues {
                    $0.replacing(Documented.addresses, with: network.prefix)
                        .replacing(Documented.password, with: password)
                        .replacing(Documented.etcdData, with: directory + "/etcd")
                }
        }
        patroniVariables = try variables("patroni_env.conf")
        etcdVariables = try variables("etcd")
        if getuid() == 0 {
            let owner = try RunningProcess(
                executable: "/bin/chown", arguments: ["-R", "postgres", directory],
                environment: [:])
            _ = try await owner.exitStatus(within: .seconds(20))
        }
    }

    private let patroniVariables: [String: String]
    private let etcdVariables: [String: String]

    /// Starts the member of etcd.
    package func startEtcd() throws -> RunningProcess {
        try start(["/usr/bin/etcd"], with: etcdVariables)
    }

    /// Starts Patroni, which starts Postgres.
    func startPatroni() throws -> RunningProcess {
        try start(["/usr/bin/patroni", directory + "/patroni.yml"], with: patroniVariables)
    }

    /// Runs `patronictl` on this machine to its end.
    func control(_ arguments: [String]) async throws {
        let process = try start(
            ["/usr/bin/patronictl", "-c", directory + "/patroni.yml"] + arguments,
            with: patroniVariables)
        guard try await process.exitStatus(within: .seconds(60)) == 0 else {
            throw TestTimeout(
                waitingFor: "\(arguments): \(process.output.text)\(process.errors.text)")
        }
    }

    private func start(
        _ command: [String], with variables: [String: String]
    ) throws -> RunningProcess {
        // Not `runuser`, which stays as the parent and stops with its child.
        let login =
            getuid() == 0
            ? ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"] : []
        // The working directory is what tells the processes of one machine from those of another.
        return try RunningProcess(
            executable: "/usr/bin/env",
            arguments: network.command(on: number) + login + ["env", "--chdir=" + directory]
                + command,
            environment: variables.merging(["LC_ALL": "C.UTF-8", "HOME": directory]) { $1 })
    }

    /// Which processes of a machine are meant.
    package enum Part: Sendable {
        case everything, postgres, etcd
    }

    /// Returns the ids of the running processes of a part.
    package func processes(_ part: Part) -> [Int32] {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return all.compactMap { Int32($0) }.filter { id in
            guard
                let path = try? FileManager.default.destinationOfSymbolicLink(
                    atPath: "/proc/\(id)/cwd")
            else { return false }
            switch part {
            case .everything: return path == directory || path.hasPrefix(directory + "/")
            case .postgres: return path == directory + "/data"
            case .etcd:
                let name = try? String(contentsOfFile: "/proc/\(id)/comm", encoding: .utf8)
                return path == directory && name == "etcd\n"
            }
        }
    }

    /// Sends a signal to every process of a part, until there is no further one if it is SIGKILL.
    package func send(_ signal: Int32, to part: Part) async throws {
        try await eventually("the processes of \(name) to be gone") {
            let ids = processes(part)
            for id in ids { Foundation.kill(id, signal) }
            return signal != SIGKILL || ids.isEmpty ? true : nil
        }
    }

    /// Kills the parent process of Postgres, and nothing else.
    package func killPostmaster() throws {
        let path = directory + "/data/postmaster.pid"
        let file = try String(contentsOfFile: path, encoding: .utf8)
        guard let id = file.split(separator: "\n").first.flatMap({ Int32($0) }) else {
            throw TestTimeout(waitingFor: "the process id of Postgres on \(name)")
        }
        Foundation.kill(id, SIGKILL)
    }
}
