internal import Archive
internal import Cryptography
internal import JSON
internal import Ledger
package import TransparencyLog

/// Verifies a bundle without a database, as an untrusted file.
///
/// Reads the file once from beginning to end, with one part and about 100 bytes an account in
/// memory. Stops at the first failed check.
package struct BundleVerification {
    private let members: BundleMembers
    private let verifiers: [NoteVerifier]?

    /// Opens a bundle.
    ///
    /// The verifiers are the log's keys from another source; without them the bundle's own are
    /// used, which only shows that the bundle is consistent.
    /// - Throws: `BundleFault` when it is not a bundle.
    package init(path: String, verifiers: [NoteVerifier]?) throws(BundleFault) {
        self.verifiers = verifiers
        do {
            members = try BundleMembers(path: path)
        } catch {
            throw Self.fault(error)
        }
    }

    /// Verifies everything.
    ///
    /// - Throws: `BundleFault` for the first failed check.
    package func run() throws(BundleFault) -> BundleReport {
        do {
            return try verify()
        } catch {
            throw Self.fault(error)
        }
    }

    private static func fault(_ error: any Error) -> BundleFault {
        error as? BundleFault ?? BundleFault("\(error)")
    }

    private func verify() throws -> BundleReport {
        guard let head = BundleHead(parsing: try members.whole(BundleFiles.head)) else {
            throw BundleFault("\(BundleFiles.head) has an unknown format")
        }
        var report = BundleReport(head: head)
        let keys = try openKeys(&report)
        let note = try openCheckpoint(head, keys, &report)
        try checkOlderCheckpoints(note, keys, &report)
        for name in [
            BundleFiles.instructions, BundleFiles.pythonProgram, BundleFiles.goProgram,
        ] {
            _ = try members.whole(name)
        }
        // Bundles of former releases have no page.
        if members.name == BundleFiles.page { _ = try members.whole(BundleFiles.page) }
        let log = LogCheck(head, keys)
        var part = 0
        while members.name != BundleFiles.manifest {
            try log.take(part: part, from: members)
            part += 1
        }
        try log.finish(&report)
        try checkManifest(report)
        return report
    }

    private func openKeys(_ report: inout BundleReport) throws -> [NoteVerifier] {
        let lines = String(decoding: try members.whole(BundleFiles.keys), as: UTF8.self)
            .split(separator: "\n")
        if let verifiers { return verifiers }
        report.trustsOwnKeys = true
        let keys = lines.compactMap { NoteVerifier(String($0)) }
        guard keys.count == lines.count else {
            throw BundleFault("\(BundleFiles.keys) has a malformed verifier key")
        }
        return keys
    }

    private func openCheckpoint(
        _ head: BundleHead, _ keys: [NoteVerifier], _ report: inout BundleReport
    ) throws -> Checkpoint {
        let bytes = try members.whole(BundleFiles.checkpoint)
        let checkpoint: Checkpoint
        do throws(NoteFault) {
            let note = try SignedNote(parsing: bytes)
            checkpoint = try Checkpoint.open(note, keys)
            report.signers = try note.verify(keys).map(\.vkey)
        } catch {
            throw BundleFault("\(BundleFiles.checkpoint) is invalid: \(error)")
        }
        guard checkpoint == head.checkpoint else {
            throw BundleFault("\(BundleFiles.checkpoint) does not match \(BundleFiles.head)")
        }
        return checkpoint
    }

    private func checkOlderCheckpoints(
        _ newest: Checkpoint, _ keys: [NoteVerifier], _ report: inout BundleReport
    ) throws {
        try members.eachLine(of: BundleFiles.consistency) { line in
            let value = JSONValue(parsing: line)?.members
            let older = try SignedCheckpointLine(value?["note"]?.string, keys)
            guard older.checkpoint.origin == newest.origin else {
                throw BundleFault("an older checkpoint is of another log")
            }
            let path = try BundleLine.path(value?["path"], position: nil)
            let proof = ConsistencyProof(
                old: older.checkpoint.size, size: newest.size, path: path)
            do throws(ProofFault) {
                try proof.verify(oldRoot: older.checkpoint.root, root: newest.root)
            } catch {
                throw BundleFault(
                    "the checkpoint does not continue the one of \(older.checkpoint.size) entries")
            }
            report.checkpoints += 1
            report.unsignedCheckpoints += older.isSigned ? 0 : 1
        }
    }

    private func checkManifest(_ report: BundleReport) throws {
        let files = members.files
        let bytes = try members.whole(
            BundleFiles.manifest, bytesMax: BundleFiles.manifestBytesMax)
        guard let manifest = BundleManifest(parsing: bytes) else {
            throw BundleFault("\(BundleFiles.manifest) is malformed")
        }
        guard members.name == nil else {
            throw BundleFault("a file follows \(BundleFiles.manifest)")
        }
        guard manifest.events == report.events, manifest.checkpoints == report.checkpoints else {
            throw BundleFault("\(BundleFiles.manifest) states other counts")
        }
        for (name, file) in files.sorted(by: { $0.key < $1.key })
        where manifest.files[name] != file {
            throw BundleFault("\(name) does not match \(BundleFiles.manifest)")
        }
        guard manifest.files.count == files.count else {
            throw BundleFault("a file that \(BundleFiles.manifest) names is missing")
        }
    }
}

/// A parsed checkpoint of a list.
struct SignedCheckpointLine {
    let checkpoint: Checkpoint
    /// Whether a known key has signed it; an older one may be signed by a key that was not given.
    let isSigned: Bool

    init(_ note: String?, _ keys: [NoteVerifier]) throws(BundleFault) {
        guard
            let note, let signed = try? SignedNote(parsing: note),
            let checkpoint = Checkpoint(text: signed.text)
        else {
            throw BundleFault("a listed checkpoint is malformed")
        }
        do throws(NoteFault) {
            _ = try Checkpoint.open(signed, keys)
            isSigned = true
        } catch {
            guard error == .noKnownSignature else {
                throw BundleFault(
                    "the signature of the checkpoint of \(checkpoint.size) entries is wrong")
            }
            isSigned = false
        }
        self.checkpoint = checkpoint
    }
}
