package import Ledger
package import LedgerEngine
import TransparencyLog

/// The differences between a tenant's log in the database and a sealer's external record.
package struct RestoreReport: Sendable {
    /// The part of the signed log that is lost.
    package enum Loss: Hashable, Sendable {
        /// The log is shorter than the signed one.
        case end
        /// The log is long enough, but contains other events.
        case contents
        /// The log is complete, but does not record why it continues under another name.
        case statement
        /// The log is complete, but there are unsigned checkpoints under its name, so its sealer
        /// stops signing.
        case name
    }

    /// An API key that is still accepted.
    package struct AcceptedKey: Hashable, Sendable {
        package let id: APIKeyID
        package let label: String
    }

    /// An erased account that is live in the database.
    package struct ReturnedAccount: Hashable, Sendable {
        package let account: AccountID
        /// The time of its erasure.
        package let erasedAt: Timestamp
        /// The legal holds that were lifted before it was erased and are active again.
        package let formerHolds: [HoldID]
        /// The legal holds that were not set before, on it or on an account merged with it: they keep all of
        /// these accounts until they are lifted.
        package internal(set) var newHolds: [HoldID]
        /// The accounts merged with it that were never erased, because the merge was undone before the erasure: an
        /// erasure would reach them, too.
        package internal(set) var unerased: [AccountID] = []
    }

    package let tenant: TenantID
    /// The number of events in the database.
    package let size: Int64
    /// The time of the last event in the database; nil for a tenant that is not in it.
    package let lastRecordedAt: Timestamp?
    /// The last signed checkpoint, or nil.
    ///
    /// It is under the log's current name; under the previous one if the log does not record that
    /// it was truncated there, or if the current name is lost.
    package let signed: LastSigned?
    /// The number of the log's name after a loss: 2 after the first one and so on.
    package let nextOrigin: Int64
    package let loss: Loss?
    /// The position at which the log already records this loss.
    package let recordedAt: LogPosition?
    package let returned: [ReturnedAccount]
    /// The number of erasures in the record.
    package let erasureCount: Int
    /// The API keys that are accepted; after a loss it is unknown which of them had been revoked.
    package let acceptedKeys: [AcceptedKey]

    /// Whether the log continues where it was signed, and no erased account has returned.
    package var isWhole: Bool { loss == nil && returned.isEmpty }

    /// Whether the log continues where it was signed, and every erased account that has returned is held.
    package var isAccepted: Bool {
        loss == nil && returned.allSatisfy { !$0.newHolds.isEmpty }
    }

    /// The returned accounts that are erased again: those that no new legal hold keeps, and whose erasure reaches no
    /// other account.
    package var repeated: [ReturnedAccount] {
        returned.filter { $0.newHolds.isEmpty && $0.unerased.isEmpty }
    }

    /// The event that the log needs before it continues under another name; nil if none is needed.
    package var fact: LedgerRestored? {
        guard loss != nil, recordedAt == nil, let signed,
            let root = Digest(signed.checkpoint.root.bytes)
        else { return nil }
        return LedgerRestored(
            origin: nextOrigin, root: root, size: signed.checkpoint.size)
    }

    /// The commands that erase the ``repeated`` accounts again.
    ///
    /// All lifts come first: the erasure of an account covers those merged with it, and their holds refuse it.
    package var erasures: [Command.Intent] {
        let lifts = repeated.flatMap { returned in
            returned.formerHolds.map { hold in
                Command.Intent.liftLegalHold(
                    LiftLegalHold(account: returned.account, hold: hold, actor: .system))
            }
        }
        return lifts
            + repeated.map {
                Command.Intent.eraseAccount(
                    EraseAccount(account: $0.account, basis: .restored, actor: .system))
            }
    }
}
