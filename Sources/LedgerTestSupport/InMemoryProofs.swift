internal import Cryptography
package import Ledger
internal import Synchronization
package import TransparencyLog

/// Signs the log of an in-memory ledger on request, and makes proofs.
package final class InMemoryProofs: ProofReader {
    private let ledger: InMemoryLedger
    private let signer: NoteSigner
    private let signed = Mutex<[SignedCheckpoint]>([])
    private let fault = Mutex<LedgerFault?>(nil)

    /// Makes proofs for the log of the tenant `default`, signed with a key that has the log's name.
    package init(_ ledger: InMemoryLedger, signer: NoteSigner) {
        self.ledger = ledger
        self.signer = signer
    }

    /// Signs a checkpoint of all events.
    package func seal(at now: Timestamp) {
        var range = CompactRange()
        for recording in ledger.recordings() { range.append(.leaf(recording.entry)) }
        let checkpoint = Checkpoint(
            origin: signer.verifier.name, size: range.size, root: range.root)
        let note = checkpoint.signed(by: [signer]).description
        let root = digest(range.root.bytes)
        signed.withLock { signed in
            signed.append(
                SignedCheckpoint(
                    origin: checkpoint.origin.description, size: checkpoint.size, root: root,
                    note: note, signedAt: now))
        }
    }

    /// Makes proofs fail or work again.
    package func fail(with fault: LedgerFault?) {
        self.fault.withLock { $0 = fault }
    }

    /// Returns the last signed checkpoint.
    package func latestCheckpoint(
        of tenant: TenantID
    ) async throws(LedgerFault) -> SignedCheckpoint? {
        try checkpoints(tenant).last
    }

    /// Returns the checkpoints with sizes in a range.
    package func checkpoints(
        of tenant: TenantID, sizes: ClosedRange<Int64>, limit: Int
    ) async throws(LedgerFault) -> [SignedCheckpoint] {
        Array(try checkpoints(tenant).filter { sizes.contains($0.size) }.prefix(limit))
    }

    /// Returns the key.
    package func checkpointKeys(of tenant: TenantID) async throws(LedgerFault) -> [CheckpointKey] {
        try checkpoints(tenant).isEmpty
            ? []
            : [
                CheckpointKey(
                    verifierKey: signer.verifier.vkey, addedAt: Timestamp(microseconds: 0))
            ]
    }

    /// Proves that an event is in a signed tree.
    package func inclusion(
        of position: LogPosition, in tenant: TenantID, size: Int64?
    ) async throws(LedgerFault) -> Result<ProvedInclusion, ProofRefusal> {
        let signed = try checkpoints(tenant)
        guard let latest = signed.last else { return .failure(.nothingSigned) }
        let size = size ?? latest.size
        guard let checkpoint = signed.first(where: { $0.size == size }) else {
            return .failure(.sizeNotSigned(size))
        }
        guard position.value < size,
            let nodes = try? InclusionProof.nodes(position: position.value, size: size)
        else { return .failure(.notCovered(position, size: size)) }
        return .success(
            ProvedInclusion(
                position: position, leaf: ledger.recordings()[Int(position.value)].leaf,
                path: path(nodes, size), checkpoint: checkpoint))
    }

    /// Proves that a signed tree continues another one.
    package func consistency(
        from old: Int64, to size: Int64?, in tenant: TenantID
    ) async throws(LedgerFault) -> Result<ProvedConsistency, ProofRefusal> {
        let signed = try checkpoints(tenant)
        guard let latest = signed.last else { return .failure(.nothingSigned) }
        let size = size ?? latest.size
        guard old <= size else { return .failure(.oldSizeAboveSize(old: old, size: size)) }
        guard let new = signed.first(where: { $0.size == size }) else {
            return .failure(.sizeNotSigned(size))
        }
        guard let before = signed.first(where: { $0.size == old }),
            let nodes = try? ConsistencyProof.nodes(old: old, size: size)
        else { return .failure(.sizeNotSigned(old)) }
        return .success(ProvedConsistency(old: before, new: new, path: path(nodes, size)))
    }

    private func checkpoints(_ tenant: TenantID) throws(LedgerFault) -> [SignedCheckpoint] {
        if let fault = fault.withLock(\.self) { throw fault }
        return tenant == .default ? signed.withLock(\.self) : []
    }

    private func path(_ nodes: ProofNodes, _ size: Int64) -> [Digest] {
        var range = CompactRange()
        var stored: [TreeHash] = []
        for recording in ledger.recordings().prefix(Int(size)) {
            range.append(.leaf(recording.entry), completing: &stored)
        }
        return nodes.path(nodes.indexes.map { stored[Int($0)] }).map { digest($0.bytes) }
    }
}
