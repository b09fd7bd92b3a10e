import CommandLine
import Foundation

/// The lines of a file, read in parts, so that the file may be larger than the memory.
struct FileLines {
    /// A longer line is none, so that a file of another kind is not read into memory.
    static let bytesMax = 16_384
    private static let partBytes = 65_536

    private let file: FileHandle
    private var rest: ArraySlice<UInt8> = []
    private var isAtEnd = false

    /// Opens a file; nil when it can't be read.
    init?(of path: String) {
        guard let file = FileHandle(forReadingAtPath: path) else { return nil }
        self.file = file
    }

    /// Returns the next line without its end; nil after the last one.
    ///
    /// - Throws: `Fault` when the file can't be read, or a line is longer than ``bytesMax``.
    mutating func next() throws(Fault) -> [UInt8]? {
        while true {
            if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                defer { rest = rest[(end + 1)...] }
                return Array(rest[..<end])
            }
            if isAtEnd {
                defer { rest = [] }
                return rest.isEmpty ? nil : Array(rest)
            }
            guard rest.count <= Self.bytesMax else {
                throw Fault("a line is longer than \(Self.bytesMax) bytes")
            }
            let part: Data?
            do { part = try file.read(upToCount: Self.partBytes) } catch {
                throw Fault("the file can't be read")
            }
            isAtEnd = part?.isEmpty ?? true
            rest = rest + (part ?? Data())
        }
    }
}
