import CommandLine
import Foundation
import LedgerImport

/// The lines of a file without its byte order mark, read in parts, so that the file may be larger than the memory.
struct FileLines {
    /// Of a longer line, only so many bytes and one more are kept.
    static let bytesMax = 16_384
    private static let partBytes = 65_536

    private let file: FileHandle
    private var part: ArraySlice<UInt8> = []
    private var isAtStart = true

    /// Opens a file; nil when it can't be read.
    init?(of path: String) {
        guard let file = FileHandle(forReadingAtPath: path) else { return nil }
        self.file = file
    }

    /// Returns the next line without its end; nil after the last one.
    ///
    /// - Throws: `Fault` when the file can't be read.
    mutating func next() throws(Fault) -> [UInt8]? {
        var line: [UInt8]?
        while true {
            if part.isEmpty { part = try read() }
            guard !part.isEmpty else { return line }
            let end = part.firstIndex(of: UInt8(ascii: "\n"))
            let begun = line ?? []
            line = begun + part[..<(end ?? part.endIndex)].prefix(Self.bytesMax + 1 - begun.count)
            part = end.map { part[($0 + 1)...] } ?? []
            if end != nil { return line }
        }
    }

    private mutating func read() throws(Fault) -> ArraySlice<UInt8> {
        defer { isAtStart = false }
        do {
            let bytes = Array(try file.read(upToCount: Self.partBytes) ?? Data())
            let hasMark = isAtStart && bytes.starts(with: ImportFile.byteOrderMark)
            return bytes.dropFirst(hasMark ? ImportFile.byteOrderMark.count : 0)
        } catch {
            throw Fault("the file can't be read")
        }
    }
}
