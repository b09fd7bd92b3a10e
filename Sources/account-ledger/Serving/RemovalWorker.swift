import Cryptography
import Ledger
import LedgerPostgres

/// Removes the second factors whose removal support planned, once it is due.
///
/// Several processes may each run one: the command checks the time and the factor under the lock.
struct RemovalWorker: Sendable {
    private static let pause = Duration.seconds(60)

    private let due: DueRemovals
    private let commands: any CommandQueue
    private let log: Log

    init(url: String, commands: any CommandQueue, log: Log) {
        due = DueRemovals(url: url)
        self.commands = commands
        self.log = log
    }

    /// Works once a minute until the task is cancelled.
    func run() async {
        while !Task.isCancelled {
            await removeDue(at: .now)
            // A cancelled sleep ends the loop.
            try? await Task.sleep(for: Self.pause)
        }
        await due.close()
    }

    /// Removes the factors that are due at a time.
    func removeDue(at now: Timestamp) async {
        do {
            for removal in try await due.find(at: now) where !Task.isCancelled {
                let command = Command(
                    id: CommandID(at: now, random: SecureRandom.uint128()),
                    tenant: removal.tenant,
                    origin: Command.Origin(request: nil, clientIP: nil, userAgent: nil),
                    intent: .removeFactor(
                        RemoveFactor(removal.factor, by: .planned(removal.account))))
                guard case .success = try await commands.submit(command) else { continue }
                log.write(
                    .info, "second factor removed",
                    [
                        "tenant": .text(removal.tenant.description),
                        "account": .text(removal.account.description),
                    ])
            }
        } catch {
            log.write(.warning, "removal fault", ["detail": .text("\(error)")])
        }
    }
}
