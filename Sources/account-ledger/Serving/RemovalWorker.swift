import Ledger
import LedgerEngine
import LedgerPostgres

/// Executes the removals that support planned, of second factors and of identities, once they are due.
///
/// Several processes may each run one: the command checks the time and the plan under the lock.
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
            await due.removeAll(
                at: .now, by: commands,
                onRemoval: { removal, reply in
                    log.write(
                        .info, removal.text(of: reply),
                        [
                            "tenant": .text(removal.tenant.description),
                            "account": .text(removal.account.description),
                        ])
                }, onFault: { log.write(.warning, "removal fault", ["detail": .text("\($0)")]) })
            // A cancelled sleep ends the loop.
            try? await Task.sleep(for: Self.pause)
        }
        await due.close()
    }
}

extension DueRemovals.Removal {
    fileprivate func text(of reply: Reply) -> String {
        switch (kind, reply) {
        case (.factor, .factorKept): "planned removal stopped: the other factors do not suffice"
        case (.factor, _): "second factor removed"
        case (.identity, .unlinkPlanEnded(.stopped)):
            "planned unlink stopped: the last way to sign in"
        case (.identity, _): "identity unlinked"
        }
    }
}
