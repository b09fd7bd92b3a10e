internal import Archive
internal import Cryptography
internal import Encodings

/// Reads the files of a bundle in order and digests them.
final class BundleMembers {
    private let reader: ArchiveReader
    private(set) var files: [String: BundleWriter.File] = [:]
    /// The name of the next file; nil after the last one.
    private(set) var name: String?

    init(path: String) throws {
        reader = try ArchiveReader(path: path)
        try advance()
    }

    /// Moves to the next file.
    ///
    /// - Throws: `BundleFault` for a member that is not a file, or a duplicate name.
    func advance() throws {
        guard let member = try reader.next() else {
            name = nil
            return
        }
        guard member.isFile else { throw BundleFault("the bundle has a member that is not a file") }
        guard files[member.name] == nil else {
            throw BundleFault("the bundle has a duplicate file name")
        }
        name = member.name
    }

    /// Reads the next file, which must have this name, into memory.
    func whole(_ wanted: String, bytesMax: Int = BundleFiles.smallBytesMax) throws -> [UInt8] {
        try expect(wanted)
        var bytes: [UInt8] = []
        try eachChunk(of: wanted) { chunk in
            guard bytes.count + chunk.count <= bytesMax else {
                throw BundleFault("\(wanted) is longer than \(bytesMax) bytes")
            }
            bytes.append(contentsOf: chunk)
        }
        return bytes
    }

    /// Reads the next file, which must have this name, line by line, without the newlines.
    func eachLine(of wanted: String, _ body: ([UInt8]) throws -> Void) throws {
        try expect(wanted)
        var rest: [UInt8] = []
        try eachChunk(of: wanted) { chunk in
            var start = chunk.startIndex
            while let end = chunk[start...].firstIndex(of: UInt8(ascii: "\n")) {
                rest.append(contentsOf: chunk[start..<end])
                try body(rest)
                rest.removeAll(keepingCapacity: true)
                start = end + 1
            }
            rest.append(contentsOf: chunk[start...])
            guard rest.count <= BundleFiles.lineBytesMax else {
                throw BundleFault("\(wanted) has a line of more than a mebibyte")
            }
        }
        guard rest.isEmpty else { throw BundleFault("\(wanted) is truncated within a line") }
    }

    private func expect(_ wanted: String) throws(BundleFault) {
        guard let name else { throw BundleFault("\(wanted) is missing") }
        guard name == wanted else {
            throw BundleFault("\(wanted) is out of order: no ledger wrote this bundle")
        }
    }

    private func eachChunk(of name: String, _ body: ([UInt8]) throws -> Void) throws {
        let digest = RunningSHA256()
        var byteCount: Int64 = 0
        while true {
            let chunk = try reader.read()
            guard !chunk.isEmpty else { break }
            digest.update(chunk)
            byteCount += Int64(chunk.count)
            try body(chunk)
        }
        files[name] = BundleWriter.File(byteCount: byteCount, sha256: Hex.encode(digest.finish()))
        try advance()
    }
}
