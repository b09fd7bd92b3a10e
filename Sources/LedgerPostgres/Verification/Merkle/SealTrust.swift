package import Ledger
package import TransparencyLog

/// What a verification of the Merkle log may rely on that does not come from the database.
package struct SealTrust: Sendable {
    /// Keys that checkpoints have to be signed with; without any, those that the database names count.
    package var verifiers: [NoteVerifier] = []
    /// Checkpoints that somebody kept elsewhere, by tenant: the log has to agree with them.
    package var anchors: [TenantID: [Checkpoint]] = [:]
    /// What a sealer's own record says was signed last: anchors, whose hashes are stored besides.
    package var records: [TenantID: Checkpoint] = [:]
    /// The keys of a sealer's own record: what they have signed is where a contradiction can begin.
    package var recordKeys: [TenantID: [NoteVerifier]] = [:]

    /// Relies on nothing from outside.
    package init() {}
}
