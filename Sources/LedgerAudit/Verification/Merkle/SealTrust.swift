package import Ledger
package import TransparencyLog

/// The keys and checkpoints from outside the database that a verification of the Merkle log relies on.
package struct SealTrust: Sendable {
    /// The keys that checkpoints have to be signed with; when empty, those that the database names are
    /// accepted.
    package var verifiers: [NoteVerifier] = []
    /// Checkpoints that were kept elsewhere, by tenant, with which the log has to agree.
    package var anchors: [TenantID: [Checkpoint]] = [:]
    /// The last signed checkpoints in a sealer's own record: anchors whose hashes must also be stored.
    package var records: [TenantID: Checkpoint] = [:]
    /// The keys in a sealer's own record: their checkpoints bound the range of a contradiction.
    package var recordKeys: [TenantID: [NoteVerifier]] = [:]

    /// Creates a trust without anything from outside.
    package init() {}
}
