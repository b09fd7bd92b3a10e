package import Ledger
import TransparencyLog

/// How a tenant's log in the database stands to what a sealer keeps outside of it.
package struct RestoreReport: Sendable {
    /// What of the signed log is not there any more.
    package enum Loss: Hashable, Sendable {
        /// The log is shorter than what was signed.
        case end
        /// The log is long enough, and other events are in it.
        case contents
        /// All of it is there, but not the statement why the log goes on under another name.
        case statement
        /// All of it is there, but so are checkpoints under the log's name that nobody signed: its sealer
        /// signs nothing more.
        case name
    }

    /// An API key that somebody may come with.
    package struct GoodKey: Hashable, Sendable {
        package let id: APIKeyID
        package let label: String
    }

    /// An erased account that the database has as if it lived.
    package struct Returned: Hashable, Sendable {
        package let account: AccountID
        /// When it had been erased.
        package let erasedAt: Timestamp
        /// The legal holds that were lifted before it was erased, and stand again.
        package let formerHolds: [HoldID]
        /// The legal holds that were set since: they keep it, until somebody lifts them.
        package let newHolds: [HoldID]
    }

    package let tenant: TenantID
    /// The number of events in the database.
    package let size: Int64
    /// What was signed last under the log's present name, or under the one before it where the log does
    /// not state that it was cut off there, or the present one is lost; nil when nothing was.
    package let signed: LastSigned?
    /// The number of the name that the log goes on under after a loss: 2 after the first one and so on.
    package let nextOrigin: Int64
    package let loss: Loss?
    /// Where the log states this very loss already.
    package let recordedAt: LogPosition?
    package let returned: [Returned]
    /// Erasures that the record knows.
    package let erasureCount: Int
    /// The API keys that are good; after a loss nobody knows which of them had been revoked.
    package let goodKeys: [GoodKey]

    /// Whether the log goes on where it was signed, and nobody has come back.
    package var isWhole: Bool { loss == nil && returned.isEmpty }

    /// What the log has to state before it goes on under another name; nil when nothing was lost, or it
    /// states it already.
    package var fact: LedgerRestored? {
        guard loss != nil, recordedAt == nil, let signed,
            let root = Digest(signed.checkpoint.root.bytes)
        else { return nil }
        return LedgerRestored(
            origin: nextOrigin, root: root, size: signed.checkpoint.size)
    }

    /// The commands that destroy again whom the restore has brought back.
    ///
    /// Not those whom somebody has put under a legal hold since.
    package var erasures: [Command.Intent] {
        returned.filter(\.newHolds.isEmpty).flatMap { returned in
            returned.formerHolds.map { hold in
                Command.Intent.liftLegalHold(
                    LiftLegalHold(account: returned.account, hold: hold, actor: .system))
            } + [
                .eraseAccount(
                    EraseAccount(account: returned.account, basis: .restored, actor: .system))
            ]
        }
    }
}
