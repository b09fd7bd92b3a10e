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
        let stated = try ExportStatements.keys(of: tenant, on: connection)
        guard let note = try ExportStatements.newest(of: tenant, on: connection) else {
            throw ExportFailure.nothingSigned
        }
        let verifiers = stated.compactMap { NoteVerifier($0) }
        guard
            let signed = try? SignedNote(parsing: note),
            let checkpoint = try? Checkpoint.open(signed, verifiers),
            let signers = try? signed.verify(verifiers).map(\.vkey)
        else {
            throw ExportFailure.damaged("the last checkpoint is not one that its key has signed")
        }
        keys = signers + stated.filter { !signers.contains($0) }
        self.verifiers = verifiers
        self.note = note
        self.checkpoint = checkpoint
        older = try Self.older(
            than: checkpoint, signedBy: verifiers, of: tenant, since: since, on: connection)
    }

    /// Opens the note of an older checkpoint.
    ///
    /// - Throws: `ExportFailure` when no key of the log has signed it, or it is another log's.
    func open(_ note: String) throws(ExportFailure) -> Checkpoint {
        let opened = try Self.open(note, verifiers)
        guard opened.origin == checkpoint.origin else {
            throw .damaged("a checkpoint of \(opened.size) entries is another log's")
        }
        return opened
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
        var sizes: Set<Int64> = []
        var older: [OlderCheckpoint] = []
        for size in [0, since].compactMap(\.self).sorted() {
            let note = try ExportStatements.checkpoint(
                of: tenant, origin: checkpoint.origin, from: size, on: connection)
            guard let note else { throw ExportFailure.noCheckpoint(size: size) }
            let found = try open(note, verifiers)
            guard size == 0 || found.size == size else {
                throw ExportFailure.noCheckpoint(size: size)
            }
            guard found.size < checkpoint.size, sizes.insert(found.size).inserted else { continue }
            older.append(
                OlderCheckpoint(
                    note: note,
                    path: try path(from: found, to: checkpoint, of: tenant, on: connection)))
        }
        return older
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
