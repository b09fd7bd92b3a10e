internal import Foundation
internal import Postgres
internal import Synchronization

/// Three machines with Postgres under Patroni and etcd, set up as in `docs/operating/failover.md`.
package final class PatroniCluster: Sendable {
    /// A member as Patroni reports it.
    struct Member: Sendable, Decodable {
        let name: String
        let role: String
        let state: String
        let timeline: Int?

        var isLeader: Bool { role == "leader" }
    }

    private struct Members: Decodable {
        let members: [Member]
    }

    /// The machines.
    package let machines: [Machine]
    package let network: MachineNetwork
    /// The directory of a sealer, on storage of its own.
    package let sealerDirectory: String
    private static let numbers = 1...3
    private let directory: String
    /// The password of every login.
    let password: String
    private let binaries: String
    private let state = Mutex(State())

    private struct State {
        /// The outputs of all processes so far.
        var processes: [(name: String, process: RunningProcess)] = []
        /// The machines that do not answer: asking one of them would take minutes.
        var silent: Set<Int> = []
    }

    /// Runs the body with a running cluster, which is removed afterwards.
    ///
    /// The output of its processes is kept in the directory that `LEDGER_CHAOS_LOGS` names, if any, under the name of
    /// the trial.
    ///
    /// - Throws: an error of the setup or the body.
    package static func with<Value>(
        trial: String, _ body: (PatroniCluster) async throws -> Value
    ) async throws -> Value {
        let cluster = try await PatroniCluster()
        do {
            try await cluster.start()
            let value = try await body(cluster)
            try cluster.keepOutput(of: trial)
            try await cluster.remove()
            return value
        } catch {
            try? cluster.keepOutput(of: trial)
            try? await cluster.remove()
            throw error
        }
    }

    private init() async throws {
        for program in ["/usr/bin/patroni", "/usr/bin/etcd"] {
            guard FileManager.default.isExecutableFile(atPath: program) else {
                throw TestTimeout(waitingFor: "\(program), which tools/chaos --failover installs")
            }
        }
        binaries = try PrivateCluster.newestBinaries()
        directory = "/tmp/ledger-failover-\(MachineNetwork.id)"
        sealerDirectory = directory + "/sealer"
        password = UUID().uuidString
        network = try await MachineNetwork(machines: Self.numbers)
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o711])
        var machines: [Machine] = []
        for number in Self.numbers {
            machines.append(
                try await Machine(
                    number, in: directory, network: network, password: password,
                    programs: String(binaries.dropLast())))
        }
        self.machines = machines
    }

    /// The hosts of a connection URL: every machine, since any may be the primary.
    private var hosts: String {
        machines.map { "\($0.address):5432" }.joined(separator: ",")
    }

    /// Returns the URL of a database for a login; all logins have the same password.
    func url(of database: String, as login: String = "postgres") -> String {
        "postgresql://\(login):\(password)@\(hosts)/\(database)"
    }

    /// Returns the superuser's URL of a database on one machine, be it primary or standby.
    package func url(of database: String, on machine: Machine) -> String {
        "postgresql://postgres:\(password)@\(machine.address):5432/\(database)"
    }

    private func start() async throws {
        for machine in machines { try startEtcd(on: machine) }
        for machine in machines { try startPatroni(on: machine) }
        try await expectWhole()
    }

    /// Starts the member of etcd of a machine.
    package func startEtcd(on machine: Machine) throws {
        let process = try machine.startEtcd()
        state.withLock { $0.processes.append((name: "etcd-\(machine.name)", process: process)) }
    }

    private func startPatroni(on machine: Machine) throws {
        let process = try machine.startPatroni()
        state.withLock { $0.processes.append((name: machine.name, process: process)) }
    }

    /// Kills every process of a machine and pulls its cable out, as when its power fails.
    package func powerOff(_ machine: Machine) async throws {
        state.withLock { _ = $0.silent.insert(machine.number) }
        try await network.setPlugged(false, machine: machine.number)
        try await machine.send(SIGKILL, to: .everything)
    }

    /// Starts a machine again.
    package func powerOn(_ machine: Machine) async throws {
        try await network.setPlugged(true, machine: machine.number)
        try startEtcd(on: machine)
        try startPatroni(on: machine)
        state.withLock { _ = $0.silent.remove(machine.number) }
    }

    /// Stops every process of a machine, which then accepts connections and does not answer.
    package func freeze(_ machine: Machine) async throws {
        state.withLock { _ = $0.silent.insert(machine.number) }
        try await machine.send(SIGSTOP, to: .everything)
    }

    /// Continues every process of a machine.
    package func thaw(_ machine: Machine) async throws {
        try await machine.send(SIGCONT, to: .everything)
        state.withLock { _ = $0.silent.remove(machine.number) }
    }

    /// Pulls the cable of a machine out, whose processes continue.
    package func unplug(_ machine: Machine) async throws {
        state.withLock { _ = $0.silent.insert(machine.number) }
        try await network.setPlugged(false, machine: machine.number)
    }

    /// Puts the cable of a machine back.
    package func plugIn(_ machine: Machine) async throws {
        try await network.setPlugged(true, machine: machine.number)
        state.withLock { _ = $0.silent.remove(machine.number) }
    }

    /// The machine that has every acknowledged command beside the primary.
    ///
    /// - Throws: `TestTimeout` without a synchronous standby.
    package func synchronousStandby() async throws -> Machine {
        let name = await members().first { $0.role == "sync_standby" }?.name
        guard let machine = machines.first(where: { $0.name == name }) else {
            throw TestTimeout(waitingFor: "a synchronous standby")
        }
        return machine
    }

    /// Makes a standby the primary, as `patronictl switchover` does for an operator.
    package func switchOver() async throws {
        let (old, next) = (try await primary(), try await synchronousStandby())
        try await old.control([
            "switchover", "account-ledger", "--leader", old.name, "--candidate", next.name,
            "--force",
        ])
    }

    /// Checks whether a machine calls itself the primary, which needs the lease.
    package func isPrimary(_ machine: Machine) async -> Bool {
        let answer = try? await machine.patroni.call("GET", "/primary")
        return answer?.status == 200
    }

    /// The machines that call themselves the primary, of those that answer.
    package func primaries() async -> [Machine] {
        let silent = state.withLock(\.silent)
        var found: [Machine] = []
        for machine in machines where !silent.contains(machine.number) {
            if await isPrimary(machine) { found.append(machine) }
        }
        return found
    }

    /// The primary.
    package func primary() async throws -> Machine {
        try await eventually("a primary") { () async -> Machine? in
            let found = await primaries()
            return found.count == 1 ? found.first : nil
        }
    }

    /// Waits until every machine takes part: one primary, a synchronous standby, and all on one timeline.
    package func expectWhole() async throws {
        try await eventually("three machines that work", within: .seconds(180)) {
            await isWhole() ? true : nil
        }
    }

    private func isWhole() async -> Bool {
        let members = await members()
        guard
            members.count == machines.count && members.allSatisfy({ $0.state == "running" })
                && members.contains(where: { $0.role == "sync_standby" })
                && Set(members.map(\.timeline)).count == 1
        else { return false }
        // Members describe themselves a few seconds late.
        for machine in machines {
            let isLeader = members.contains { $0.isLeader && $0.name == machine.name }
            let path = isLeader ? "/primary" : "/replica"
            guard let answer = try? await machine.patroni.call("GET", path), answer.status == 200
            else { return false }
        }
        return true
    }

    private func members() async -> [Member] {
        let silent = state.withLock(\.silent)
        for machine in machines where !silent.contains(machine.number) {
            guard let answer = try? await machine.patroni.call("GET", "/cluster"),
                answer.status == 200,
                let found = try? JSONDecoder().decode(Members.self, from: answer.body)
            else { continue }
            return found.members
        }
        return []
    }

    /// Returns the findings of `pg_amcheck --heapallindexed` on the primary; empty without any.
    package func corruption(in database: String) async throws -> String {
        let host = try await primary().address
        let check = try RunningProcess(
            executable: binaries + "pg_amcheck",
            arguments: [
                "--heapallindexed", "--install-missing", "--host=\(host)",
                "--port=5432", "--username=postgres", database,
            ], environment: ["LC_ALL": "C.UTF-8", "PGPASSWORD": password])
        let status = try await check.exitStatus(within: .seconds(120))
        return status == 0 ? "" : "status \(status): \(check.output.text)\(check.errors.text)"
    }

    private func keepOutput(of trial: String) throws {
        let variables = ProcessInfo.processInfo.environment
        guard let logs = variables["LEDGER_CHAOS_LOGS"] else { return }
        let name = String(trial.map { $0.isLetter || $0.isNumber ? $0 : "-" })
        try FileManager.default.createDirectory(
            atPath: logs, withIntermediateDirectories: true)
        for (number, entry) in state.withLock(\.processes).enumerated() {
            let text = entry.process.output.text + entry.process.errors.text
            try text.write(
                toFile: "\(logs)/\(name)-\(number)-\(entry.name).log", atomically: true,
                encoding: .utf8)
        }
    }

    private func remove() async throws {
        for machine in machines { try await machine.send(SIGKILL, to: .everything) }
        await network.remove(machines: Self.numbers)
        try FileManager.default.removeItem(atPath: directory)
    }
}
