import JSON
import Ledger
package import LedgerExport
import Postgres
package import TransparencyLog

/// The signed checkpoint that a bundle is verified against, with its keys and predecessors.
package struct ExportBasis: Sendable {
    package let checkpoint: Checkpoint
    /// The signed note of the checkpoint.
    package let note: String
    /// The verifier keys in the ledger, starting with those that signed the checkpoint.
    package let keys: [String]
    /// Older checkpoints, each with the proof that this one extends it.
    package let older: [OlderCheckpoint]
    private let verifiers: [NoteVerifier]

    /// Reads and checks the last signed checkpoint.
    ///
    /// - Throws: `ExportFailure`, or `PostgresError`.
    init(of tenant: TenantID, since: Int64?, on connection: Connection) throws {
        // A malformed key in the table would invalidate the bundle's whole list of keys.
        verifiers = try ExportStatements.keys(of: tenant, on: connection)
            .compactMap { NoteVerifier($0) }
        guard let newest = try Self.newest(of: tenant, on: connection) else {
            throw ExportFailure.nothingSigned
        }
        note = newest.note
        checkpoint = try Self.open(note, verifiers)
        let stated = verifiers.map(\.vkey)
        let signers = try SignedNote(parsing: note).verify(verifiers).map(\.vkey)
        keys = signers + stated.filter { !signers.contains($0) }
        older = try Self.older(
            than: checkpoint, signedBy: verifiers, of: tenant, since: since, on: connection)
    }

    /// Returns the log's checkpoints by size.
    func checkpoints(of tenant: TenantID, on connection: Connection) -> SignedCheckpoints {
        SignedCheckpoints(tenant: tenant, verifiers: verifiers, connection: connection)
    }

    private static func newest(
        of tenant: TenantID, on connection: Connection
    ) throws -> SignedCheckpoint? {
        do {
            return try NewestCheckpoint.read(of: tenant, on: connection)
        } catch let damage as ProofDamage {
            throw ExportFailure.damaged(damage.what)
        }
    }

    private static func open(
        _ note: String, _ verifiers: [NoteVerifier]
    ) throws(ExportFailure) -> Checkpoint {
        do throws(NoteFault) {
            return try Checkpoint.open(try SignedNote(parsing: note), verifiers)
        } catch {
            throw .damaged("a checkpoint is not signed by its key: \(error)")
        }
    }

    /// Returns the first checkpoint of this origin, and the auditor's.
    private static func older(
        than checkpoint: Checkpoint, signedBy verifiers: [NoteVerifier], of tenant: TenantID,
        since: Int64?, on connection: Connection
    ) throws -> [OlderCheckpoint] {
        let signed = SignedCheckpoints(
            tenant: tenant, verifiers: verifiers, connection: connection)
        var older: [OlderCheckpoint] = []
        for sizes in [1...checkpoint.size] + (since.map { [$0...$0] } ?? []) {
            guard let row = try first(of: sizes, checkpoint.origin, among: signed) else {
                throw ExportFailure.noCheckpoint(size: sizes.lowerBound)
            }
            let found = try open(row.note, verifiers)
            let isIncluded = older.contains { $0.note.isExactly(row.note) }
            guard found.size < checkpoint.size, !isIncluded else { continue }
            older.append(
                OlderCheckpoint(
                    note: row.note,
                    path: try path(from: found, to: checkpoint, of: tenant, on: connection)))
        }
        return older
    }

    private static func first(
        of sizes: ClosedRange<Int64>, _ origin: NoteKeyName, among signed: SignedCheckpoints
    ) throws -> SignedCheckpoint? {
        do {
            return try signed.page(sizes: sizes, limit: 1, origin: origin).signed.first
        } catch let damage as ProofDamage {
            throw ExportFailure.damaged(damage.what)
        }
    }

    private static func path(
        from old: Checkpoint, to new: Checkpoint, of tenant: TenantID, on connection: Connection
    ) throws -> [TreeHash] {
        let plan = try ConsistencyProof.nodes(old: old.size, size: new.size)
        let nodes = try ExportStatements.nodes(
            at: Set(plan.indexes), of: tenant, on: connection)
        let hashes = plan.indexes.compactMap { nodes[$0] }
        guard hashes.count == plan.indexes.count else {
            throw ExportFailure.damaged("hashes below size \(new.size) are missing")
        }
        let proof = ConsistencyProof(old: old.size, size: new.size, path: plan.path(hashes))
        do throws(ProofFault) {
            try proof.verify(oldRoot: old.root, root: new.root)
        } catch {
            throw ExportFailure.damaged(
                "the checkpoint of \(new.size) entries does not extend that of \(old.size)")
        }
        return proof.path
    }
}

/// The reason for which nothing was exported.
package enum ExportFailure: Error, CustomStringConvertible {
    /// No sealer has signed a checkpoint of this log.
    case nothingSigned
    /// No checkpoint of this size was signed.
    case noCheckpoint(size: Int64)
    /// No event of the account exists, or none before the checkpoint.
    case unknownAccount
    /// Stored data differs from what was written or signed.
    case damaged(String)

    package var description: String {
        switch self {
        case .nothingSigned:
            "no checkpoint of this log has been signed: run a sealer first"
        case .noCheckpoint(let size): "no checkpoint of \(size) entries has been signed"
        case .unknownAccount: "no event of this account was found"
        case .damaged(let what): "\(what); run verify for details"
        }
    }
}
