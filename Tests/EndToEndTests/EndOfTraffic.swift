import LedgerTestSupport
import Synchronization

/// A flag that stops the clients running beside a test.
///
/// Their tasks are never cancelled: a cancellation that meets the end of a transfer waits for
/// `URLSession`'s queue, which waits for the task's lock, and every test waits for both.
final class EndOfTraffic: Sendable {
    private let value = Atomic(false)

    var isHere: Bool { value.load(ordering: .sequentiallyConsistent) }

    func tell() {
        value.store(true, ordering: .sequentiallyConsistent)
    }

    /// Signs in new accounts one after another, over the servers in turn, until the flag is set, and at least
    /// until there was traffic: the amount by then depends on the load of the machine.
    ///
    /// - Parameters:
    ///   - servers: The servers, used in turn.
    ///   - deployment: The deployment with the identity providers.
    ///   - turnsMin: The number of accounts that are exceeded.
    ///   - requests: The further requests of an account; returns their statuses.
    /// - Returns: The statuses other than 200.
    /// - Throws: The error of a request that got no answer.
    func traffic(
        over servers: [ServerProcess], of deployment: Deployment, turnsMin: Int = 1,
        _ requests: (inout Device, _ turn: Int) async throws -> [Int]
    ) async throws -> [Int] {
        var refused: [Int] = []
        var turn = 0
        while !isHere || turn <= turnsMin {
            turn += 1
            var device = Device(servers[turn % servers.count].client)
            let opened = try await device.signIn(deployment.google, as: "g\(turn)").status
            refused += ([opened] + (try await requests(&device, turn))).filter { $0 != 200 }
        }
        return refused
    }
}
