/// The places of rows in a file, by a key of each: 16 bytes a row, and the bytes of a small file.
struct RowIndex {
    private struct Entry {
        let hash: Int
        let offset: UInt64
    }

    private static let partBytes = 4096
    /// The maximum size of a file whose bytes are kept: a read of each row costs more than its parsing.
    static let keptBytesMax = 32 << 20

    private let key: ([String?]) -> String?
    private let form: TextRows.Form
    private let file: ImportFile
    /// The bytes of the file; nil for a large one.
    private let content: [UInt8]?
    /// Sorted by hash.
    private var entries: [Entry] = []

    /// Reads rows to their end and notes their places.
    ///
    /// - Throws: `ImportFault` when the file or a row can't be read, or a row has no key: an account without
    ///   some of its identities would be imported for ever.
    init(
        _ rows: inout TextRows, _ form: TextRows.Form, path: String,
        keptBytesMax: Int = Self.keptBytesMax, key: @escaping ([String?]) -> String?
    ) throws(ImportFault) {
        self.key = key
        self.form = form
        var file = try ImportFile(path: path)
        content = try file.content(upTo: keptBytesMax)
        self.file = file
        reading: while true {
            switch try Self.next(of: &rows) {
            case .end:
                guard form != .copyText else { throw .malformedIdentity(line: rows.line) }
                break reading
            case .flaw(_, let line): throw .malformedIdentity(line: line)
            case .row(let row):
                if form == .copyText, row.fields == ["."] { break reading }
                // An empty line.
                if form == .lines, row.fields == [nil] { continue }
                guard let value = key(row.fields) else { throw .malformedIdentity(line: row.line) }
                entries.append(Entry(hash: value.hashValue, offset: row.offset))
            }
        }
        entries.sort { $0.hash < $1.hash }
    }

    /// Returns the next row; quotes that never close make it unreadable.
    private static func next(of rows: inout TextRows) throws(ImportFault) -> TextRows.Step {
        do throws(ImportFault) {
            return try rows.next()
        } catch {
            guard case .malformed(let line) = error else { throw error }
            throw .malformedIdentity(line: line)
        }
    }

    /// Returns the fields of the rows with a key, in the order of the file.
    ///
    /// - Throws: `ImportFault` when the file can't be read.
    func rows(of value: String) throws(ImportFault) -> [[String?]] {
        let hash = value.hashValue
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].hash < hash { low = middle + 1 } else { high = middle }
        }
        var offsets: [UInt64] = []
        while low < entries.count, entries[low].hash == hash {
            offsets.append(entries[low].offset)
            low += 1
        }
        var found: [[String?]] = []
        for offset in offsets.sorted() {
            var next = offset
            var rows = TextRows(form) { () throws(ImportFault) in
                let part = try bytes(from: next)
                next += UInt64(part.count)
                return part
            }
            guard case .row(let row) = try rows.next(), key(row.fields) == value else { continue }
            found.append(row.fields)
        }
        return found
    }

    /// Returns a part from an offset; empty at the end.
    private func bytes(from start: UInt64) throws(ImportFault) -> [UInt8] {
        guard let content else {
            var file = file
            return try file.bytes(from: start, count: Self.partBytes)
        }
        return Array(content.dropFirst(Int(start)).prefix(Self.partBytes))
    }
}
