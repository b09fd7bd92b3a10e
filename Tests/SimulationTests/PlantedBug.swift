/// A deliberate bug: the simulator has to find each of them.
///
/// All of them are variations of the memory store; the product's code has no support for them.
enum PlantedBug: String, CaseIterable, Sendable {
    /// The commands are answered first, and the transaction is committed a little later.
    case ackBeforeCommit
    /// A batch's reads happen in the statement that waits for the lock, with a snapshot from before the wait.
    case lockFoldedIntoRead
    /// A transaction that the store has ended for idling is still committed.
    case expiredTransactionCommits
    /// An expired transaction's writes are applied without a check of head and sequences.
    case headNotCompared
    /// A failed commit leaves its events in the log.
    case halfBatchOnFailure
    /// A repeated request finds no answer under its key.
    case idempotencyNotLoaded
    /// A commit that failed temporarily is repeated automatically, though it may have been done.
    case commitRepeatedBlindly
    /// Read-model rows are committed in one transaction and the checkpoint in the next.
    case checkpointOutsideTransaction
    /// The projector does not wait for the holder of the checkpoint.
    case checkpointNotLocked
    /// Every sealer treats every log as its own, and stores hashes after those that exist.
    case sealerLeaseIgnored
    /// The sealer reads events that a batch has written and not committed.
    case uncommittedSealed
    /// A dispatcher's cursor moves in one transaction, and the events up to it are added in the next.
    case intakeOutsideTransaction
    /// The session of an upgraded account keeps its anonymous identity, so that it ends with it.
    case upgradeNotWritten
    /// The anonymous identity of an upgraded account stays linked to it.
    case upgradeWithoutUnlink
    /// A challenge that was used stays, so that its code works again.
    case challengeNotEnded
    /// An account with a second factor is stored without it, so that sign-ins skip it.
    case factorNotRequired
    /// The time step of a code is not stored, so that the code works again.
    case factorUseNotWritten
    /// The counter of a passkey is not stored, so that a copied response works again.
    case passkeyUseNotWritten
    /// The times at which phone numbers were used are not loaded, so that an unused one still signs in.
    case unusedNumberSignsIn
    /// Pending events are stored without the accounts that order them.
    case pendingWithoutAccounts
}
