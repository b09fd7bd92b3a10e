import Cryptography
import DurableFiles
package import Ledger
package import TransparencyLog

/// A sealer's record as files: the directory named by `LEDGER_SEALER_STATE`, with a subdirectory for each
/// tenant.
///
/// `last-signed` holds the last signed note, `erasures` the erasures that were seen, `origin` the log's name,
/// and `checkpoint-ID.key` each signing key. A file is replaced atomically and durably.
package struct SealerDirectory: SealerRecord {
    static let lastName = "last-signed"
    private static let originName = "origin"
    private static let erasuresName = "erasures"
    private static let noteBytesMax = 65_536
    /// More than one page of the log can add.
    private static let erasureEndBytes = 512 * 1024

    let root: DurableDirectory
    private let base: NoteKeyName

    /// The path of the directory.
    package var path: String { root.path }

    /// Creates a record; the directory need not exist yet.
    ///
    /// - Parameters:
    ///   - path: the path of the directory.
    ///   - base: the common prefix of the names of all logs, before the tenant's.
    package init(path: String, base: NoteKeyName) {
        root = DurableDirectory(path: path)
        self.base = base
    }

    /// Returns the tenants that have a directory, in order.
    package func tenants() throws(SealerRecordFault) -> [TenantID] {
        try mappingErrors { (try root.names() ?? []).compactMap { TenantID($0) }.sorted() }
    }

    /// Returns the tenants with a signed log, in order.
    package func signedTenants() throws(SealerRecordFault) -> [TenantID] {
        try mappingErrors { try tenants().filter { try lastSigned(of: $0) != nil } }
    }

    package func logState(
        of tenant: TenantID, mayBegin: Bool
    ) throws(SealerRecordFault) -> SealerLogRecord {
        try mappingErrors {
            let directory = root.directory(tenant.description)
            if let logState = try logState(of: tenant, in: directory) { return logState }
            guard mayBegin else {
                throw SealerRecordFault.missing(
                    "\(directory.path) holds no key for the log of tenant \(tenant), which was sealed"
                        + " before, as checkpoint_keys and checkpoints have it: restore it, or delete"
                        + " these rows if they are forged")
            }
            try root.make()
            try directory.make()
            try whileLocked(directory) {
                guard try logState(of: tenant, in: directory) == nil else { return }
                try makeKey(of: try firstOrigin(of: tenant), in: directory)
            }
            guard let logState = try logState(of: tenant, in: directory) else {
                throw SealerRecordFault.damaged("\(directory.path) lost the key just written")
            }
            return logState
        }
    }

    /// Replaces `last-signed`, if it holds the note that the new one follows.
    package func write(
        _ signed: LastSigned, after previous: Checkpoint?, of tenant: TenantID
    ) throws(SealerRecordFault) {
        try mappingErrors {
            let directory = root.directory(tenant.description)
            try whileLocked(directory) {
                let new = signed.checkpoint
                guard try origin(of: tenant, in: directory) == new.origin,
                    previous.map({ $0.size < new.size || $0 == new }) ?? true
                else { throw SealerRecordFault.outdated }
                // A note signed under another name does not bind this one.
                let last = try last(in: directory)?.checkpoint
                let written = last?.origin == new.origin ? last : nil
                guard written == previous || written == new else {
                    throw SealerRecordFault.outdated
                }
                try directory.replace(Self.lastName, with: Array(signed.note.utf8))
            }
        }
    }

    package func add(
        _ erasures: [SeenErasure], of tenant: TenantID
    ) throws(SealerRecordFault) {
        try mappingErrors {
            let directory = root.directory(tenant.description)
            try whileLocked(directory) {
                let name = Self.erasuresName
                // Erasures added by a sealer that died are at the end; a duplicate is harmless.
                let end = try directory.readEnd(of: name, bytesMax: Self.erasureEndBytes) ?? []
                let known = Set(ErasureList.erasures(end))
                let new = erasures.filter { !known.contains($0) }.map(ErasureList.line).joined()
                guard !new.isEmpty else { return }
                // An incomplete last line must not merge with the next one.
                let start = end.last.map { $0 == UInt8(ascii: "\n") } ?? true ? "" : "\n"
                try directory.append(Array((start + new).utf8), to: name)
            }
        }
    }

    /// Returns the erasures that were seen in the log of a tenant, in the order of their sealing.
    package func erasures(of tenant: TenantID) throws(SealerRecordFault) -> [SeenErasure] {
        try mappingErrors {
            let directory = root.directory(tenant.description)
            let bytes = try directory.read(Self.erasuresName, bytesMax: .max)
            return ErasureList.erasures(bytes ?? [])
        }
    }

    // MARK: - One tenant's directory

    /// Returns the record; nil when there is neither a key that signs under the log's name nor a signature.
    private func logState(
        of tenant: TenantID, in directory: DurableDirectory
    ) throws -> SealerLogRecord? {
        guard let names = try directory.names() else { return nil }
        let origin = try origin(of: tenant, in: directory)
        var signers: [NoteSigner] = []
        var former: [NoteVerifier] = []
        for name in names {
            if CheckpointKeyFile.isSigning(name) {
                // The key may have been retired since its name was read.
                guard let bytes = try directory.read(name, bytesMax: CheckpointKeyFile.bytesMax)
                else { continue }
                guard let signer = CheckpointKeyFile.signer(bytes) else {
                    throw notAKey(name, in: directory)
                }
                signers.append(signer)
            } else if CheckpointKeyFile.isRetired(name) {
                guard let bytes = try directory.read(name, bytesMax: CheckpointKeyFile.bytesMax),
                    let verifier = CheckpointKeyFile.verifier(bytes)
                else { throw notAKey(name, in: directory) }
                former.append(verifier)
            }
        }
        let own = signers.filter { $0.verifier.name == origin }
        let verifiers = own.map(\.verifier) + former.filter { $0.name == origin }
        guard let last = try last(in: directory) else {
            guard !own.isEmpty else { return nil }
            return SealerLogRecord(
                origin: origin, signers: own, verifiers: verifiers, last: nil)
        }
        guard !own.isEmpty else {
            throw SealerRecordFault.missing(
                "\(directory.path) holds no signing key for \(origin): restore it")
        }
        // A note signed as another log, before a restore, does not bind this one.
        guard last.checkpoint.origin == origin else {
            return SealerLogRecord(
                origin: origin, signers: own, verifiers: verifiers, last: nil)
        }
        guard let note = try? SignedNote(parsing: last.note),
            (try? Checkpoint.open(note, verifiers)) != nil
        else {
            throw SealerRecordFault.damaged(
                "\(directory.path(of: Self.lastName)) was not signed by the keys beside it")
        }
        return SealerLogRecord(
            origin: origin, signers: own, verifiers: verifiers, last: last)
    }

    /// Returns the last signed checkpoint under any name, or nil.
    func last(
        in directory: DurableDirectory, _ name: String = Self.lastName
    ) throws -> LastSigned? {
        guard let bytes = try directory.read(name, bytesMax: Self.noteBytesMax) else { return nil }
        guard let note = try? SignedNote(parsing: bytes),
            let checkpoint = Checkpoint(text: note.text)
        else {
            throw SealerRecordFault.damaged(
                "\(directory.path(of: name)) holds no signed checkpoint")
        }
        return LastSigned(checkpoint: checkpoint, note: note.description)
    }

    func firstOrigin(of tenant: TenantID) throws(SealerRecordFault) -> NoteKeyName {
        guard let origin = NoteKeyName("\(base)/\(tenant)") else {
            throw .damaged("'\(base)/\(tenant)' can't be the name of a log")
        }
        return origin
    }

    /// Returns the present name of the log, which a restore changes.
    func origin(
        of tenant: TenantID, in directory: DurableDirectory
    ) throws -> NoteKeyName {
        let first = try firstOrigin(of: tenant)
        guard let bytes = try directory.read(Self.originName, bytesMax: Self.noteBytesMax) else {
            return first
        }
        let line = String(decoding: bytes, as: UTF8.self).split(separator: "\n").first ?? ""
        guard let origin = NoteKeyName(String(line)),
            line == first.description || line.hasPrefix("\(first)/")
        else {
            throw SealerRecordFault.damaged(
                "\(directory.path(of: Self.originName)) names a log '\(line)', which is not one of"
                    + " '\(first)'")
        }
        return origin
    }

    /// Creates a key that signs as a log, unless it exists, and makes it the log of the tenant.
    ///
    /// A crash after the key was written resumes with it the next time: a second key would otherwise sign for
    /// good.
    func makeKey(of origin: NoteKeyName, in directory: DurableDirectory) throws {
        if try signers(of: origin, in: directory).isEmpty {
            let key = Ed25519PrivateKey.generate()
            let verifier = NoteVerifier(name: origin, publicKey: key.publicKey)
            let text = CheckpointKeyFile.text(of: key, name: origin)
            guard
                try directory.create(
                    CheckpointKeyFile.name(of: verifier), with: Array(text.utf8))
            else {
                throw SealerRecordFault.damaged(
                    "\(directory.path) holds another key with this name")
            }
        }
        try directory.replace(Self.originName, with: Array("\(origin)\n".utf8))
    }

    /// Runs a body exclusively, and deletes the drafts that a killed process left: a draft may hold a secret.
    func whileLocked<Value>(
        _ directory: DurableDirectory, _ body: () throws -> Value
    ) throws -> Value {
        try directory.whileLocked {
            try directory.removeDrafts()
            return try body()
        }
    }

    private func notAKey(_ name: String, in directory: DurableDirectory) -> SealerRecordFault {
        .damaged("\(directory.path(of: name)) does not hold the key that it is named for")
    }

    func mappingErrors<Value>(
        _ body: () throws -> Value
    ) throws(SealerRecordFault) -> Value {
        do {
            return try body()
        } catch let fault as SealerRecordFault {
            throw fault
        } catch {
            throw .damaged("\(error)")
        }
    }
}
