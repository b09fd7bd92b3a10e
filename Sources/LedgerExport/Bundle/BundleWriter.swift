package import Archive
internal import Cryptography
internal import Encodings
internal import JSON
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

    /// The page with the same checks for a browser in every bundle.
    package static let page = VerificationPage.bytes

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
        try add(BundleFiles.page, VerificationPage.bytes)
    }

    /// Adds the next part.
    package func add(_ part: ExportedPart) throws(ArchiveError) {
        if !part.checkpoints.isEmpty {
            var lines = JSONWriter()
            for note in part.checkpoints { lines.line { $0.member("note", note) } }
            try add(BundleFiles.checkpoints(parts), lines.bytes)
        }
        var lines = JSONWriter(reserving: part.events.reduce(0) { $0 + Self.byteCount($1) })
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
        var manifest = JSONWriter()
        manifest.line { writer in
            writer.member("format", BundleManifest.format)
            writer.member("complete", head.completeness)
            writer.member("events", String(events))
            writer.member("checkpoints", String(checkpoints))
            writer.name("files")
            writer.array { writer in
                for (name, file) in files {
                    writer.lineBreak()
                    writer.object { writer in
                        writer.member("name", name)
                        writer.member("bytes", String(file.byteCount))
                        writer.member("sha256", file.sha256)
                    }
                }
            }
        }
        try archive.add(BundleFiles.manifest, manifest.bytes)
        try archive.finish()
    }

    private func add(_ name: String, _ bytes: [UInt8]) throws(ArchiveError) {
        let digest = Hex.encode(SHA256.hash(bytes))
        files.append((name: name, file: File(byteCount: Int64(bytes.count), sha256: digest)))
        try archive.add(name, bytes)
    }

    /// Returns the length of an event's line, or a little more: a part is long, and a buffer that grows
    /// by doubling would hold three times as much.
    private static func byteCount(_ event: ExportedEvent) -> Int {
        64 + event.entry.count * 4 / 3
            + event.disclosures.reduce(16) { $0 + $1.encoded.count + 3 }
            + (event.path?.count ?? 0) * 47
    }

    private static func write(_ event: ExportedEvent, to lines: inout JSONWriter) {
        lines.line { writer in
            writer.member("position", event.recorded.position.description)
            writer.name("entry")
            writer.base64(event.entry)
            if !event.disclosures.isEmpty {
                writer.name("disclosures")
                writer.texts(
                    event.disclosures.map { String(decoding: $0.encoded, as: UTF8.self) })
            }
            if let path = event.path { writer.hashes("path", path) }
        }
    }

    private static func lines(_ older: [OlderCheckpoint]) -> [UInt8] {
        var lines = JSONWriter()
        for checkpoint in older {
            lines.line { writer in
                writer.member("note", checkpoint.note)
                writer.hashes("path", checkpoint.path)
            }
        }
        return lines.bytes
    }
}

extension JSONWriter {
    fileprivate mutating func hashes(_ name: String, _ path: [TreeHash]) {
        self.name(name)
        array { writer in for hash in path { writer.base64(hash.bytes) } }
    }
}

// A file that one thread writes.
@available(*, unavailable)
extension BundleWriter: Sendable {}
