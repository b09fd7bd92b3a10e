internal import Foundation

/// A file that is read in parts, so that it may be larger than the memory.
package struct ImportFile {
    private static let partBytes = 262_144

    /// The bytes with which some programs begin a text in UTF-8, and which are no part of it.
    package static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// The first bytes of files in other forms, in which exports are handed out or programs save them.
    private static let otherForms: [(start: [UInt8], name: String)] = [
        ([0x1F, 0x8B], "compressed by gzip"), (Array("PK\u{03}\u{04}".utf8), "a ZIP archive"),
        ([0xFF, 0xFE], "UTF-16"), ([0xFE, 0xFF], "UTF-16"),
        (Array("PGDMP".utf8), "a dump that pg_restore --file=- writes as text"),
    ]

    private let file: FileHandle
    /// The length of the byte order mark, if the file begins with one: offsets are those of the text after it.
    private var markBytes: UInt64 = 0
    /// The offset of the next part.
    private(set) var offset: UInt64 = 0

    /// Opens a file.
    ///
    /// - Throws: `ImportFault.unreadable`, or `noText` when it is in another form.
    package init(path: String) throws(ImportFault) {
        guard let file = FileHandle(forReadingAtPath: path) else { throw .unreadable(path) }
        self.file = file
        let start = try bytes(from: 0, count: 8)
        if let form = Self.otherForms.first(where: { start.starts(with: $0.start) }) {
            throw .noText(path, form: form.name)
        }
        if start.starts(with: Self.byteOrderMark) {
            markBytes = UInt64(Self.byteOrderMark.count)
        }
        try rewind()
    }

    /// Returns the next part; empty at the end.
    ///
    /// - Throws: `ImportFault.unreadable`.
    mutating func next() throws(ImportFault) -> [UInt8] {
        do {
            let part = Array(try file.read(upToCount: Self.partBytes) ?? Data())
            offset += UInt64(part.count)
            return part
        } catch {
            throw .unreadable("the file")
        }
    }

    /// Returns bytes from an offset; fewer at the end.
    ///
    /// - Throws: `ImportFault.unreadable`.
    mutating func bytes(from start: UInt64, count: Int) throws(ImportFault) -> [UInt8] {
        do {
            try file.seek(toOffset: markBytes + start)
            return Array(try file.read(upToCount: count) ?? Data())
        } catch {
            throw .unreadable("the file")
        }
    }

    /// Returns all bytes of a file of up to a size; nil for a larger one.
    ///
    /// - Throws: `ImportFault.unreadable`.
    mutating func content(upTo bytesMax: Int) throws(ImportFault) -> [UInt8]? {
        do {
            guard try file.seekToEnd() <= UInt64(bytesMax) else { return nil }
        } catch {
            throw .unreadable("the file")
        }
        try rewind()
        var content: [UInt8] = []
        while true {
            let part = try next()
            guard !part.isEmpty else { return content }
            content += part
        }
    }

    /// Returns to the beginning.
    ///
    /// - Throws: `ImportFault.unreadable`.
    mutating func rewind() throws(ImportFault) {
        do { try file.seek(toOffset: markBytes) } catch { throw .unreadable("the file") }
        offset = 0
    }

    /// Returns the first bytes without whitespace, and goes back to the beginning.
    ///
    /// - Throws: `ImportFault.unreadable`.
    mutating func firstBytes(_ count: Int) throws(ImportFault) -> [UInt8] {
        let blanks: Set<UInt8> = [0x20, 0x09, 0x0A, 0x0D]
        let first = try next().drop { blanks.contains($0) }.prefix(count)
        try rewind()
        return Array(first)
    }
}

/// The reasons why an import can't go on; without personal data.
package enum ImportFault: Error, Hashable, Sendable, CustomStringConvertible {
    case unreadable(String)
    /// The file is in another form than text in UTF-8.
    case noText(String, form: String)
    /// The text is not of the format from this line on.
    case malformed(line: Int)
    /// The row of an identity, a factor or a hash can't be read, which is known before anything is imported.
    case malformedIdentity(line: Int)
    /// The first row lacks a column.
    case missingColumn(String)
    /// The dump has no rows of a table.
    case missingTable(String)
    /// The JSON has no list of users.
    case noUsers
    /// The export of Keycloak has users of several realms.
    case severalRealms
    /// A hash of Firebase needs the parameters of its project, which is known before anything is imported.
    case missingHashConfig(line: Int)

    package var description: String {
        switch self {
        case .unreadable(let path): "\(path) can't be read"
        case .noText(let path, let form): "\(path) has to be text in UTF-8, and is \(form)"
        case .malformed(let line):
            "the file is not of the format from line \(line) on, where the import ended"
        case .malformedIdentity(let line):
            "the identity, factor or hash in line \(line) can't be read; nothing is imported"
        case .missingColumn(let name): "the file has no column \(name)"
        case .missingTable(let name): "the file has no COPY of \(name)"
        case .noUsers: "the file has no users"
        case .severalRealms:
            "the file has users of several realms: export one, with kc.sh export --realm NAME"
        case .missingHashConfig(let line):
            "the user in line \(line) has a password hash whose parameters are the project's:"
                + " name the file of its hash_config with --hash-config; nothing is imported"
        }
    }
}
