internal import JSON

/// Reads the records of a file one after the other, in little memory.
struct RecordReader {
    /// The maximum length of a record, in bytes.
    static let recordBytesMax = TextRows.rowBytesMax

    /// A record's text, or its flaw.
    struct Record {
        let content: Result<[UInt8], RecordFlaw>
        let line: Int
    }

    private enum Source {
        case lines(TextRows)
        case elements(JSONElements, ImportFile)
    }

    private var source: Source

    /// Reads the lines of a file.
    init(linesOf file: ImportFile) {
        var file = file
        source = .lines(TextRows(.lines) { () throws(ImportFault) in try file.next() })
    }

    /// Reads the elements of an array in a file.
    init(_ layout: JSONElements.Layout, of file: ImportFile) {
        source = .elements(JSONElements(layout, bytesMax: Self.recordBytesMax), file)
    }

    /// The number of arrays whose elements were read.
    var arrayCount: Int {
        if case .elements(let elements, _) = source { elements.arrayCount } else { 0 }
    }

    /// Returns the next record; nil at the end.
    ///
    /// - Throws: `ImportFault` when the file can't be read, or nothing after a place can be.
    mutating func next() throws(ImportFault) -> Record? {
        switch source {
        case .lines(var rows):
            defer { source = .lines(rows) }
            while let (bytes, line) = try rows.nextLine() {
                if bytes.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) { continue }
                let isWhole = bytes.count <= Self.recordBytesMax
                return Record(content: isWhole ? .success(bytes) : .failure(.tooLong), line: line)
            }
            return nil
        case .elements(var elements, var file):
            defer { source = .elements(elements, file) }
            while true {
                switch elements.next() {
                case .element(let element):
                    return Record(
                        content: element.bytes.map { .success($0) } ?? .failure(.tooLong),
                        line: element.line)
                case .needsBytes:
                    let bytes = try file.next()
                    guard bytes.isEmpty else {
                        elements.add(bytes)
                        continue
                    }
                    guard elements.isComplete else { throw .malformed(line: elements.line) }
                    guard elements.arrayCount > 0 else { throw .noUsers }
                    return nil
                case .broken(let line): throw .malformed(line: line)
                }
            }
        }
    }
}
