package import Archive
internal import Cryptography
internal import Encodings
internal import Ledger
package import TransparencyLog

/// An older checkpoint, with the proof that the bundle's extends it.
package struct OlderCheckpoint: Sendable {
    package let note: String
    package let path: [TreeHash]

    /// Pairs a checkpoint with its proof.
    package init(note: String, path: [TreeHash]) {
        self.note = note
        self.path = path
    }
}

/// Writes a bundle part by part; memory holds only one part.
package final class BundleWriter {
    /// A file of the bundle.
    struct File: Hashable {
        let byteCount: Int64
        let sha256: String
    }

    /// The verification program in every bundle.
    package static let pythonProgram = PackageResources.verify_py

    private let archive: ArchiveWriter
    private let head: BundleHead
    private var files: [(name: String, file: File)] = []
    private var parts = 0
    private var tally: DisclosureTally
    /// The number of events written.
    package private(set) var events: Int64 = 0
    /// The number of checkpoints written, older ones and those of the parts.
    package private(set) var checkpoints: Int64 = 0
    /// Missing disclosures that no erasure in the bundle explains.
    package var withheld: DisclosureTally.Withheld? { tally.withheld }

    /// Starts a bundle with the signed checkpoint that `head` states, verbatim, and the verifier
    /// keys that the ledger states.
    ///
    /// - Throws: `ArchiveError` when the file cannot be written.
    package init(
        path: String, head: BundleHead, note: String, keys: [String], older: [OlderCheckpoint]
    ) throws(ArchiveError) {
        archive = try ArchiveWriter(path: path)
        self.head = head
        tally = DisclosureTally(head)
        try add(BundleFiles.head, head.bytes)
        try add(BundleFiles.keys, Array(keys.map { $0 + "\n" }.joined().utf8))
        try add(BundleFiles.checkpoint, Array(note.utf8))
        try add(BundleFiles.consistency, Self.lines(older))
        checkpoints = Int64(older.count)
        try add(BundleFiles.instructions, Array(Instructions.text(of: head).utf8))
        try add(BundleFiles.pythonProgram, Self.pythonProgram)
        try add(BundleFiles.goProgram, PackageResources.verify_go)
    }

    /// Adds the next part.
    package func add(_ part: ExportedPart) throws(ArchiveError) {
        if !part.checkpoints.isEmpty {
            var lines = JSONLine()
            for note in part.checkpoints {
                lines.begin("note")
                lines.text(note)
                lines.end()
            }
            try add(BundleFiles.checkpoints(parts), lines.bytes)
        }
        var lines = JSONLine()
        for event in part.events {
            tally.take(event.recorded, shown: event.disclosures.count)
            Self.write(event, to: &lines)
        }
        try add(BundleFiles.entries(parts), lines.bytes)
        events += Int64(part.events.count)
        checkpoints += Int64(part.checkpoints.count)
        parts += 1
    }

    /// Writes the manifest and ends the bundle.
    package func finish() throws(ArchiveError) {
        var line = JSONLine()
        line.begin("format")
        line.text(BundleManifest.format)
        line.member("complete")
        line.text(head.completeness)
        line.member("events")
        line.text(String(events))
        line.member("checkpoints")
        line.text(String(checkpoints))
        line.member("files")
        line.literal("[")
        for (index, (name, file)) in files.enumerated() {
            line.literal(index == 0 ? "\n" : ",\n")
            line.begin("name")
            line.text(name)
            line.member("bytes")
            line.text(String(file.byteCount))
            line.member("sha256")
            line.text(file.sha256)
            line.literal("}")
        }
        line.literal("]")
        line.end()
        try archive.add(BundleFiles.manifest, line.bytes)
        try archive.finish()
    }

    private func add(_ name: String, _ bytes: [UInt8]) throws(ArchiveError) {
        let digest = Hex.encode(SHA256.hash(bytes))
        files.append((name: name, file: File(byteCount: Int64(bytes.count), sha256: digest)))
        try archive.add(name, bytes)
    }

    private static func write(_ event: ExportedEvent, to line: inout JSONLine) {
        line.begin("position")
        line.plain(Array(event.recorded.position.description.utf8))
        line.member("entry")
        line.base64(event.entry)
        if !event.disclosures.isEmpty {
            line.member("disclosures")
            for (index, disclosure) in event.disclosures.enumerated() {
                line.literal(index == 0 ? "[" : ",")
                line.plain(disclosure.encoded)
            }
            line.literal("]")
        }
        if let path = event.path {
            line.member("path")
            line.hashes(path)
        }
        line.end()
    }

    private static func lines(_ older: [OlderCheckpoint]) -> [UInt8] {
        var lines = JSONLine()
        for checkpoint in older {
            lines.begin("note")
            lines.text(checkpoint.note)
            lines.member("path")
            lines.hashes(checkpoint.path)
            lines.end()
        }
        return lines.bytes
    }
}

// A file that one thread writes.
@available(*, unavailable)
extension BundleWriter: Sendable {}
