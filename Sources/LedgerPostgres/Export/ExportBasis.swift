import Ledger
package import LedgerExport
import Postgres
package import TransparencyLog

/// The signed checkpoint that everything in a bundle is held against, and what goes with it.
package struct ExportBasis: Sendable {
    package let checkpoint: Checkpoint
    /// The checkpoint as it was signed.
    package let note: String
    /// The verifier keys that the ledger states, those first that signed the checkpoint.
    package let keys: [String]
    /// Older checkpoints, each with the proof that this one continues it.
    package let older: [OlderCheckpoint]
    private let verifiers: [NoteVerifier]

    /// Reads the checkpoint that was signed last, and checks it.
    ///
    /// - Throws: `ExportFailure`, or `PostgresError`.
    init(of tenant: TenantID, since: Int64?, on connection: Connection) throws {
        // What is no key of the table would make the bundle's list of keys none.
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

    /// The log's checkpoints by size.
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
            throw .damaged("a checkpoint is not one that its key has signed: \(error)")
        }
    }

    /// The first checkpoint of this origin, and the one that the auditor holds.
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
            let isThere = older.contains { isExactly($0.note, row.note) }
            guard found.size < checkpoint.size, !isThere else { continue }
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
                "the checkpoint of \(new.size) entries does not continue that of \(old.size)")
        }
        return proof.path
    }
}

/// Why nothing was exported.
package enum ExportFailure: Error, CustomStringConvertible {
    /// No sealer has signed a checkpoint of this log.
    case nothingSigned
    /// No checkpoint of this size was signed.
    case noCheckpoint(size: Int64)
    /// Nothing names the account, or nothing below the checkpoint.
    case unknownAccount
    /// What is stored is not what was written or signed.
    case damaged(String)

    package var description: String {
        switch self {
        case .nothingSigned:
            "no checkpoint of this log has been signed: a sealer has to run first"
        case .noCheckpoint(let size): "no checkpoint of \(size) entries has been signed"
        case .unknownAccount: "no event of this account is there"
        case .damaged(let what): "\(what); verify tells more"
        }
    }
}
