/// A checkpoint of a tenant's log as it was signed.
package struct SignedCheckpoint: Hashable, Sendable {
    /// The log's name, which is also that of the keys which sign it.
    package let origin: String
    /// How many events the tree covers.
    package let size: Int64
    /// The tree's root.
    package let root: Digest
    /// The signed note, to the letter.
    package let note: String
    /// When it was published, by the database's clock.
    package let signedAt: Timestamp

    /// Describes a checkpoint.
    package init(origin: String, size: Int64, root: Digest, note: String, signedAt: Timestamp) {
        self.origin = origin
        self.size = size
        self.root = root
        self.note = note
        self.signedAt = signedAt
    }
}

/// A public key that checkpoints of a tenant are or were signed with.
package struct CheckpointKey: Hashable, Sendable {
    /// The C2SP verifier key.
    package let verifierKey: String
    package let addedAt: Timestamp

    /// Describes a key.
    package init(verifierKey: String, addedAt: Timestamp) {
        self.verifierKey = verifierKey
        self.addedAt = addedAt
    }
}

/// That an event is in the tree of a signed checkpoint (RFC 6962, section 2.1.1).
package struct ProvedInclusion: Hashable, Sendable {
    package let position: LogPosition
    /// The leaf hash of the entry that is stored at the position.
    package let leaf: Digest
    /// The siblings on the way from the leaf to the root.
    package let path: [Digest]
    package let checkpoint: SignedCheckpoint

    /// Describes a proof that has been checked.
    package init(
        position: LogPosition, leaf: Digest, path: [Digest], checkpoint: SignedCheckpoint
    ) {
        self.position = position
        self.leaf = leaf
        self.path = path
        self.checkpoint = checkpoint
    }
}

/// That the tree of a signed checkpoint continues that of another one (RFC 6962, section 2.1.2).
package struct ProvedConsistency: Hashable, Sendable {
    package let old: SignedCheckpoint
    package let new: SignedCheckpoint
    package let path: [Digest]

    /// Describes a proof that has been checked.
    package init(old: SignedCheckpoint, new: SignedCheckpoint, path: [Digest]) {
        self.old = old
        self.new = new
        self.path = path
    }
}

/// Why there is no such proof: something that the caller may mend or wait for.
package enum ProofRefusal: Error, Hashable, Sendable {
    /// No checkpoint of the tenant was ever signed.
    case nothingSigned
    /// No checkpoint of this size was signed, or only in a log that a restore has ended.
    case sizeNotSigned(Int64)
    /// The position is at or after the size, be it given or the latest one signed.
    case notCovered(LogPosition, size: Int64)
    /// The older size is larger than the other one.
    case oldSizeAboveSize(old: Int64, size: Int64)
}

/// Reads of the Merkle log: always against sizes that were signed, never the live tree.
package protocol ProofReader: Sendable {
    /// The checkpoint that was signed last; nil when none ever was.
    func latestCheckpoint(
        of tenant: TenantID
    ) async throws(LedgerFault) -> SignedCheckpoint?

    /// The checkpoints with sizes of a range, the smallest first.
    ///
    /// The page holds `limit` checkpoints and those with the same size as the last of them: a log that
    /// was continued after a restore may have several. The next page begins at the last size plus 1.
    func checkpoints(
        of tenant: TenantID, sizes: ClosedRange<Int64>, limit: Int
    ) async throws(LedgerFault) -> [SignedCheckpoint]

    /// The keys that sign or signed, the oldest first.
    func checkpointKeys(of tenant: TenantID) async throws(LedgerFault) -> [CheckpointKey]

    /// Proves that the event at a position is in the tree of a signed size, by default the latest.
    ///
    /// Throws `.internalFailure` when what is stored does not prove it.
    func inclusion(
        of position: LogPosition, in tenant: TenantID, size: Int64?
    ) async throws(LedgerFault) -> Result<ProvedInclusion, ProofRefusal>

    /// Proves that the tree of a signed size, by default the latest, continues the one of another.
    ///
    /// Throws `.internalFailure` when what is stored does not prove it.
    func consistency(
        from old: Int64, to size: Int64?, in tenant: TenantID
    ) async throws(LedgerFault) -> Result<ProvedConsistency, ProofRefusal>
}
