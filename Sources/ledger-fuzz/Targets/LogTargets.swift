import Cryptography
import Foundation
import Ledger
import LedgerExport
import TransparencyLog

/// Input of verifiers from untrusted sources: notes, proofs and whole bundles.
enum LogTargets {
    private static let signer: NoteSigner = {
        guard let key = Ed25519PrivateKey(seed: [UInt8](repeating: 7, count: 32)),
            let name = NoteKeyName("log.example/fuzz")
        else { preconditionFailure("a seed has 32 bytes") }
        return NoteSigner(name: name, privateKey: key)
    }()
    private static let entry = Array("an entry".utf8)
    private static let checkpoint = Checkpoint(
        origin: signer.verifier.name, size: 2, root: .node(.emptyRoot, .leaf(entry)))

    /// Accepted texts are written back unchanged, and only signed ones open.
    static let notes: FuzzTarget = {
        let note = checkpoint.signed(by: [signer])
        let proof = TLogProof(
            InclusionProof(position: 1, size: 2, path: [.emptyRoot]), note)
        let corpus = [note.description, proof.description, checkpoint.text, signer.verifier.vkey]
        return FuzzTarget(
            "signed-note", corpus: corpus,
            words: [
                "\u{2014} ", "\n\n", "\n", "+", "index 1\n", "extra AA==\n", "AAAAAAA=", "-0", "02",
                signer.verifier.name.description,
            ]
        ) { input in
            let text = String(decoding: input, as: UTF8.self)
            var isAccepted = false
            if let key = NoteVerifier(text) {
                try require(key.vkey.utf8.elementsEqual(text.utf8), "a key is written differently")
                isAccepted = true
            }
            if let found = Checkpoint(text: text) {
                try require(
                    found.text.utf8.elementsEqual(text.utf8), "a checkpoint is written differently")
                isAccepted = true
            }
            if let found = try? SignedNote(parsing: input) {
                try require(
                    found.description.utf8.elementsEqual(input), "a note is written differently")
                if let opened = try? Checkpoint.open(found, [signer.verifier]) {
                    try require(opened == checkpoint, "a forged checkpoint opens")
                }
                isAccepted = true
            }
            if let found = try? TLogProof(parsing: input) {
                try require(
                    found.description.utf8.elementsEqual(input), "a proof is written differently")
                if (try? found.verify(entry: entry, [signer.verifier])) != nil {
                    try require(
                        found.position == 1 && found.path == [.emptyRoot], "a forged proof verifies"
                    )
                }
                isAccepted = true
            }
            return isAccepted
        }
    }()

    /// A bundle that verifies contains the signed events.
    static func bundles(directory: String) throws -> FuzzTarget {
        let location = directory.isEmpty ? NSTemporaryDirectory() : directory
        let path = location + "/bundle-\(ProcessInfo.processInfo.processIdentifier).tar"
        let account = AccountID(bits: 1)
        var (tree, events) = (CompactRange(), [ExportedEvent]())
        for position in 0..<3 as Range<Int64> {
            let recorded = RecordedEvent(
                tenant: .default, position: LogPosition(position), id: EventID(bits: 3),
                recordedAt: Timestamp(seconds: 1_790_000_000), actor: .system,
                command: CommandID(bits: 4), request: nil,
                accounts: position == 1
                    ? [AccountReference(id: account, previous: nil, sequence: 0)] : [],
                disclosureDigests: [],
                event: position == 1
                    ? .accountOpened(AccountOpened(account: account))
                    : .ledgerOpened(
                        LedgerOpened(mode: .development, encryptionKey: "e", tokenKey: "t")))
            let entry = EntryEncoding.encode(recorded)
            tree.append(.leaf(entry))
            events.append(
                ExportedEvent(recorded: recorded, entry: entry, disclosures: [], path: nil))
        }
        let signed = Checkpoint(origin: signer.verifier.name, size: tree.size, root: tree.root)
        let note = signed.signed(by: [signer]).description
        let writer = try BundleWriter(
            path: path,
            head: BundleHead(
                tenant: .default, scope: .all, checkpoint: signed, isDisclosed: false),
            note: note, keys: [signer.verifier.vkey], older: [])
        try writer.add(ExportedPart(checkpoints: [note], events: events))
        try writer.finish()
        let bundle = try Array(Data(contentsOf: URL(fileURLWithPath: path)))
        return FuzzTarget(
            "bundle", bytes: [bundle],
            words: ["ustar", "../", "\"position\":\"1\"", "\"path\":[]", "0000644", "\n", "{", "]"]
        ) { input in
            try Data(input).write(to: URL(fileURLWithPath: path))
            guard
                let report = try? BundleVerification(path: path, verifiers: [signer.verifier]).run()
            else { return false }
            try require(
                report.head.checkpoint == signed && report.events == 3, "a forged bundle verifies")
            return true
        }
    }
}
