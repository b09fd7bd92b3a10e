/// A mistake that is planted on purpose: the simulator has to find each of them.
///
/// All of them are variations of the memory store; the product's code has no place for them.
enum PlantedBug: String, CaseIterable, Sendable {
    /// The commands are answered first, and the transaction is committed a little later.
    case ackBeforeCommit
    /// What a batch sees is read by the statement that waits for the lock: from before the wait.
    case lockFoldedIntoRead
    /// A transaction that the store has ended for idling is committed all the same.
    case expiredTransactionCommits
    /// An expired transaction's writes go in without a look at head and sequences.
    case headNotCompared
    /// A commit that fails leaves the log's part of it behind.
    case halfBatchOnFailure
    /// A request that comes again finds no answer under its key.
    case idempotencyNotLoaded
    /// A commit that failed for a moment is repeated by itself, though it may have been done.
    case commitRepeatedBlindly
    /// Read-model rows are committed in one transaction and the checkpoint in the next.
    case checkpointOutsideTransaction
    /// The projector does not wait for whoever holds the checkpoint.
    case checkpointNotLocked
    /// Every sealer takes every log for its own, and stores hashes behind whatever is there.
    case sealerLeaseIgnored
    /// The sealer reads events that a batch has written and not committed.
    case uncommittedSealed
}
