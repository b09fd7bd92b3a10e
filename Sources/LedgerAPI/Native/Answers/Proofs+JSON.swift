internal import Cryptography
internal import Encodings
internal import JSON
internal import Ledger

extension SignedCheckpoint: JSONWritable {
    static let schema = Schema.object(
        "Checkpoint",
        [
            .required("origin", .text("ledger.example/default")), .required("size", .number),
            .required("root_hash", .hash), .required("signed_at", .time),
            .required("note", .text("ledger.example/default\n41\n..."), "The signed note"),
        ])

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("origin", origin)
            writer.member("size", String(size))
            writer.member("root_hash", Base64.encode(root.bytes))
            writer.member("signed_at", signedAt.description)
            writer.member("note", note)
        }
    }
}

extension ProvedInclusion: JSONWritable {
    static let schema = Schema.object(
        "InclusionProof",
        [
            .required("position", .number), .required("size", .number),
            .required("leaf_hash", .hash), .required("path", .list(.hash)),
            .required("checkpoint", SignedCheckpoint.schema),
        ])

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("position", position.description)
            writer.member("size", String(checkpoint.size))
            writer.member("leaf_hash", Base64.encode(leaf.bytes))
            writer.hashes("path", path)
            writer.name("checkpoint")
            checkpoint.write(to: &writer)
        }
    }
}

extension ProvedConsistency: JSONWritable {
    static let schema = Schema.object(
        "ConsistencyProof",
        [
            .required("old", .number), .required("size", .number), .required("path", .list(.hash)),
            .required("old_checkpoint", SignedCheckpoint.schema),
            .required("checkpoint", SignedCheckpoint.schema),
        ])

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("old", String(old.size))
            writer.member("size", String(new.size))
            writer.hashes("path", path)
            writer.name("old_checkpoint")
            old.write(to: &writer)
            writer.name("checkpoint")
            new.write(to: &writer)
        }
    }
}

extension JSONWriter {
    /// Writes a member that is a list of hashes, each in standard base64.
    fileprivate mutating func hashes(_ name: String, _ hashes: [Digest]) {
        self.name(name)
        texts(hashes.map { Base64.encode($0.bytes) })
    }
}
