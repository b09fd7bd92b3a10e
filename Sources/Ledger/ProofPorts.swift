/// A signed checkpoint of a tenant's log.
package struct SignedCheckpoint: Hashable, Sendable {
    /// The log's name, which is also the name of its signing keys.
    package let origin: String
    /// The number of events that the tree covers.
    package let size: Int64
    /// The tree's root.
    package let root: Digest
    /// The signed note, unchanged.
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

/// A public key that signs or has signed checkpoints of a tenant.
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

/// A proof that the tree of a signed checkpoint contains an event (RFC 6962, section 2.1.1).
package struct ProvedInclusion: Hashable, Sendable {
    package let position: LogPosition
    /// The leaf hash of the stored entry at the position.
    package let leaf: Digest
    /// The siblings on the path from the leaf to the root.
    package let path: [Digest]
    package let checkpoint: SignedCheckpoint

    /// Describes a checked proof.
    package init(
        position: LogPosition, leaf: Digest, path: [Digest], checkpoint: SignedCheckpoint
    ) {
        self.position = position
        self.leaf = leaf
        self.path = path
        self.checkpoint = checkpoint
    }
}

/// A proof that the tree of a signed checkpoint extends another's (RFC 6962, section 2.1.2).
package struct ProvedConsistency: Hashable, Sendable {
    package let old: SignedCheckpoint
    package let new: SignedCheckpoint
    package let path: [Digest]

    /// Describes a checked proof.
    package init(old: SignedCheckpoint, new: SignedCheckpoint, path: [Digest]) {
        self.old = old
        self.new = new
        self.path = path
    }
}

/// The reasons why a proof does not exist; the caller can correct the request, or wait.
package enum ProofRefusal: Error, Hashable, Sendable {
    /// No checkpoint of the tenant was ever signed.
    case nothingSigned
    /// No checkpoint of this size was signed, or only for a log that a restore has ended.
    case sizeNotSigned(Int64)
    /// The position is at or after the size: the requested one or the latest signed one.
    case notCovered(LogPosition, size: Int64)
    /// The older size is greater than the other one.
    case oldSizeAboveSize(old: Int64, size: Int64)
}

/// Reads the Merkle log: always at signed sizes, never the live tree.
package protocol ProofReader: Sendable {
    /// Returns the latest signed checkpoint, or nil.
    func latestCheckpoint(
        of tenant: TenantID
    ) async throws(LedgerFault) -> SignedCheckpoint?

    /// Returns the checkpoints with sizes in a range, smallest first.
    ///
    /// The page holds `limit` checkpoints and those with the same size as the last of them, since a
    /// log that was restored may have several. The next page begins at the last size plus 1.
    func checkpoints(
        of tenant: TenantID, sizes: ClosedRange<Int64>, limit: Int
    ) async throws(LedgerFault) -> [SignedCheckpoint]

    /// Returns the keys that sign or have signed, oldest first.
    func checkpointKeys(of tenant: TenantID) async throws(LedgerFault) -> [CheckpointKey]

    /// Proves that the event at a position is in the tree of a signed size, by default the latest.
    ///
    /// Throws `.internalFailure` when the stored data does not prove it.
    func inclusion(
        of position: LogPosition, in tenant: TenantID, size: Int64?
    ) async throws(LedgerFault) -> Result<ProvedInclusion, ProofRefusal>

    /// Proves that the tree of a signed size, by default the latest, extends that of another.
    ///
    /// Throws `.internalFailure` when the stored data does not prove it.
    func consistency(
        from old: Int64, to size: Int64?, in tenant: TenantID
    ) async throws(LedgerFault) -> Result<ProvedConsistency, ProofRefusal>
}
