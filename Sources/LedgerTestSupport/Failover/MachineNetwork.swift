internal import Foundation

/// The network of the machines of a ``PatroniCluster``: a namespace for each on one bridge, which the servers reach
/// as well.
///
/// Where the operating system refuses namespaces, the machines have addresses of the loopback interface, and
/// their cables can't be cut.
package final class MachineNetwork: Sendable {
    /// The reason why there are no namespaces; nil if there are.
    package let refusal: String?
    /// The name of the bridge, and the beginning of the names of the namespaces.
    private let name: String
    /// The first three numbers of the addresses, with a dot after each.
    let prefix: String

    /// An address that no interface has.
    private static let nowhere = "02:00:00:00:00:ff"

    /// The number in all names: that of `tools/chaos`, which removes what a killed test leaves, or of this process.
    static var id: Int {
        let variables = ProcessInfo.processInfo.environment
        return variables["LEDGER_CHAOS_ID"].flatMap { Int($0) } ?? Int(getpid())
    }

    /// Makes the network.
    init(machines: ClosedRange<Int>) async throws {
        let (name, number) = ("ledger\(Self.id)", Self.id % 256)
        // Addresses that are reserved for tests of networks.
        let bridged = "198.18.\(number)."
        do {
            let isRefused =
                ProcessInfo.processInfo.environment["LEDGER_CHAOS_NETWORK"] == "loopback"
            guard !isRefused else { throw Refusal(reason: "CHAOS_NETWORK is loopback") }
            try await Self.make(name, bridged, machines)
            refusal = nil
            prefix = bridged
        } catch {
            refusal = (error as? Refusal)?.reason ?? "\(error)"
            prefix = "127.18.\(number)."
            await Self.remove(name, machines)
        }
        self.name = name
    }

    private struct Refusal: Error {
        let reason: String
    }

    /// The address of a machine.
    func address(of machine: Int) -> String { prefix + "\(machine)" }

    /// The beginning of a command that runs on a machine.
    func command(on machine: Int) -> [String] {
        refusal == nil ? ["ip", "netns", "exec", namespace(machine)] : []
    }

    /// Pulls the cable of a machine out, or puts it back; nothing on loopback.
    func setPlugged(_ isPlugged: Bool, machine: Int) async throws {
        guard refusal == nil else { return }
        try await Self.ip("link", "set", "\(name)-\(machine)", isPlugged ? "up" : "down")
    }

    /// Lets everything that two machines send to each other get lost, without notice to either.
    package func part(_ one: Int, from other: Int) async throws {
        for (from, to) in [(one, other), (other, one)] {
            try await Self.ip(
                "-n", namespace(from), "neighbour", "replace", address(of: to), "lladdr",
                Self.nowhere, "dev", "eth0", "nud", "permanent")
        }
    }

    /// Ends what ``part(_:from:)`` has begun.
    package func join(_ one: Int, with other: Int) async throws {
        for (from, to) in [(one, other), (other, one)] {
            try await Self.ip(
                "-n", namespace(from), "neighbour", "delete", address(of: to), "dev", "eth0")
        }
    }

    /// Removes the network; its processes must have ended.
    func remove(machines: ClosedRange<Int>) async {
        guard refusal == nil else { return }
        await Self.remove(name, machines)
    }

    private func namespace(_ machine: Int) -> String { "\(name)-\(machine)" }

    private static func make(
        _ name: String, _ prefix: String, _ machines: ClosedRange<Int>
    ) async throws {
        try await ip("link", "add", name, "type", "bridge")
        try await ip("address", "add", prefix + "254/24", "dev", name)
        try await ip("link", "set", name, "up")
        for machine in machines {
            let end = "\(name)-\(machine)"
            try await ip("netns", "add", end)
            try await ip("link", "add", end, "type", "veth", "peer", "name", "eth0", "netns", end)
            try await ip("link", "set", end, "master", name, "up")
            try await ip("-n", end, "address", "add", prefix + "\(machine)/24", "dev", "eth0")
            try await ip("-n", end, "link", "set", "eth0", "up")
            try await ip("-n", end, "link", "set", "lo", "up")
        }
    }

    private static func remove(_ name: String, _ machines: ClosedRange<Int>) async {
        for machine in machines {
            try? await ip("netns", "delete", "\(name)-\(machine)")
            try? await ip("link", "delete", "\(name)-\(machine)")
        }
        try? await ip("link", "delete", name)
    }

    private static func ip(_ arguments: String...) async throws {
        let process = try RunningProcess(
            executable: "/usr/bin/env", arguments: ["ip"] + arguments, environment: [:])
        guard try await process.exitStatus(within: .seconds(20)) == 0 else {
            let words = process.errors.text.split(separator: "\n").joined(separator: ", ")
            throw Refusal(reason: "ip \(arguments.joined(separator: " ")): \(words)")
        }
    }
}
