internal import Cryptography
internal import Encodings
internal import JSON
internal import Ledger

extension SignedCheckpoint: JSONWritable {
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
