import Ledger
import LedgerEngine
import LedgerPostgres
import Postgres
import TransparencyLog

/// Creates and checks the proofs of one tenant's log on a connection.
///
/// A size may have been signed in several logs if the log was continued after a restore; the proof
/// leads to the newest checkpoint that it verifies against.
struct TenantProofs {
    private static let entry = Statement(
        "proved_entry", "SELECT entry FROM events WHERE tenant_id = $1 AND position = $2")

    private let tenant: TenantID
    private let connection: Connection

    init(_ tenant: TenantID, _ connection: Connection) {
        self.tenant = tenant
        self.connection = connection
    }

    /// - Throws: A refusal, or damage if the stored entry and hashes do not lead to a signed root.
    func inclusion(
        of position: LogPosition, size: Int64?
    ) throws(ProofFailure) -> ProvedInclusion {
        let size = try sizeOrLatest(size)
        guard isPossible(size) else { throw .refused(.sizeNotSigned(size)) }
        let isInside = position.value >= 0 && position.value < size
        let indexes =
            isInside
            ? plan { () throws(ProofFault) in
                try InclusionProof.nodes(position: position.value, size: size)
            } : nil
        let results = try pipeline([
            CheckpointRows.call(of: tenant, size: size),
            NodeRows.call(at: indexes?.indexes ?? [], of: tenant),
            Call(Self.entry, [.text(tenant.description), .int8(position.value)]),
            CheckpointRows.keysCall(of: tenant),
        ])
        let signed = try checkpoints(results[0], size: size, keys: results[3])
        guard let indexes else { throw .refused(.notCovered(position, size: size)) }
        let what = "the event at position \(position) of tenant \(tenant)"
        guard let entry = try entry(results[2]), let nodes = try nodes(results[1]) else {
            throw try damage("\(what) or one of its hashes is missing", among: signed)
        }
        let leaf = TreeHash.leaf(entry)
        let proof = InclusionProof(
            position: position.value, size: size, path: indexes.path(nodes))
        for checkpoint in signed
        where verifies({ () throws(ProofFault) in
            try proof.verify(leaf: leaf, root: TreeHash(checkpoint.root))
        }) {
            return ProvedInclusion(
                position: position, leaf: Digest(leaf), path: proof.path.map(Digest.init),
                checkpoint: checkpoint)
        }
        throw try damage("\(what) is not the signed one at size \(size)", among: signed)
    }

    /// - Throws: A refusal, or damage if the stored hashes do not lead to two signed roots.
    func consistency(
        from old: Int64, to size: Int64?
    ) throws(ProofFailure) -> ProvedConsistency {
        let size = try sizeOrLatest(size)
        guard isPossible(old) else { throw .refused(.sizeNotSigned(old)) }
        guard isPossible(size) else { throw .refused(.sizeNotSigned(size)) }
        let indexes = plan { () throws(ProofFault) in
            try ConsistencyProof.nodes(old: old, size: size)
        }
        guard let indexes else {
            throw .refused(.oldSizeAboveSize(old: old, size: size))
        }
        let results = try pipeline([
            CheckpointRows.call(of: tenant, size: old),
            CheckpointRows.call(of: tenant, size: size),
            NodeRows.call(at: indexes.indexes, of: tenant),
            CheckpointRows.keysCall(of: tenant),
        ])
        let oldCheckpoints = try checkpoints(results[0], size: old, keys: results[3])
        let newCheckpoints = try checkpoints(results[1], size: size, keys: results[3])
        guard let nodes = try nodes(results[2]) else {
            throw try damage(
                "hashes of tenant \(tenant) below size \(size) are missing", among: newCheckpoints)
        }
        let proof = ConsistencyProof(old: old, size: size, path: indexes.path(nodes))
        for new in newCheckpoints {
            for old in oldCheckpoints
            where verifies({ () throws(ProofFault) in
                try proof.verify(oldRoot: TreeHash(old.root), root: TreeHash(new.root))
            }) {
                return ProvedConsistency(old: old, new: new, path: proof.path.map(Digest.init))
            }
        }
        throw try damage(
            "the hashes of tenant \(tenant) do not lead from size \(old) to size \(size)",
            among: newCheckpoints)
    }

    private func isPossible(_ size: Int64) -> Bool {
        (1...StoredHashIndex.leavesMax).contains(size)
    }

    private func sizeOrLatest(_ size: Int64?) throws(ProofFailure) -> Int64 {
        if let size { return size }
        return try latest().size
    }

    private func latest() throws(ProofFailure) -> SignedCheckpoint {
        let latest = try reading { try NewestCheckpoint.read(of: tenant, on: connection) }
        guard let latest else { throw .refused(.nothingSigned) }
        return latest
    }

    /// Returns the checkpoints of a size that one of the log's keys has signed.
    private func checkpoints(
        _ result: QueryResult, size: Int64, keys: QueryResult
    ) throws(ProofFailure) -> [SignedCheckpoint] {
        let found = try reading { try CheckpointRows.checkpoints(result) }
        guard let first = found.first else {
            _ = try latest()
            throw .refused(.sizeNotSigned(size))
        }
        let verifiers = try reading { try CheckpointRows.verifiers(keys) }
        let signed = found.filter { $0.fault(verifiers) == nil }
        guard signed.isEmpty else { return signed }
        let what = first.fault(verifiers) ?? ""
        throw .damaged(
            ProofDamage(what: "the checkpoint of size \(size) of tenant \(tenant) \(what)"))
    }

    /// Returns the damage, or a refusal if the size was signed only in a log that a restore has
    /// ended.
    private func damage(
        _ what: String, among signed: [SignedCheckpoint]
    ) throws(ProofFailure) -> ProofFailure {
        let current = try latest().origin
        guard let first = signed.first, !signed.contains(where: { $0.origin == current }) else {
            return .damaged(ProofDamage(what: what))
        }
        return .refused(.sizeNotSigned(first.size))
    }

    private func plan(
        _ nodes: () throws(ProofFault) -> ProofNodes
    ) -> ProofNodes? {
        do throws(ProofFault) { return try nodes() } catch { return nil }
    }

    private func verifies(_ check: () throws(ProofFault) -> Void) -> Bool {
        do throws(ProofFault) {
            try check()
            return true
        } catch {
            return false
        }
    }

    private func pipeline(_ calls: [Call]) throws(ProofFailure) -> [QueryResult] {
        do throws(PostgresError) { return try connection.pipeline(calls) } catch {
            throw .store(error)
        }
    }

    private func nodes(_ result: QueryResult) throws(ProofFailure) -> [TreeHash]? {
        try reading { try NodeRows.hashes(result).whole }
    }

    private func entry(_ result: QueryResult) throws(ProofFailure) -> [UInt8]? {
        guard result.rowCount == 1 else { return nil }
        return try reading { try result.bytes(0, 0) }
    }

    /// Reads rows; a malformed row is damage.
    private func reading<Value>(_ body: () throws -> Value) throws(ProofFailure) -> Value {
        do {
            return try body()
        } catch let damage as ProofDamage {
            throw .damaged(damage)
        } catch let error as PostgresError {
            guard case .unexpectedResult(let what) = error else { throw .store(error) }
            throw .damaged(ProofDamage(what: "a row of tenant \(tenant) can't be read: \(what)"))
        } catch {
            throw .damaged(ProofDamage(what: "a row of tenant \(tenant) can't be read"))
        }
    }
}
