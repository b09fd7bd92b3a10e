/// The rows of a table in a text: CSV (RFC 4180), the text format of Postgres' COPY, or lines.
///
/// A CSV row ends at a line end outside of quotes, so its fields may contain line ends. An empty line is no row.
package struct TextRows {
    /// The form of a row.
    package enum Form: Sendable {
        case csv
        case copyText
        /// Each line is one field.
        case lines
    }

    /// A row.
    package struct Row: Sendable {
        /// The values; nil for NULL, which in CSV is an empty field without quotes, and for an empty line of text.
        package let fields: [String?]
        /// The line, from 1, in which it begins.
        package let line: Int
        /// The offset of its first byte.
        let offset: UInt64
    }

    /// The result of a step.
    package enum Step: Sendable {
        case row(Row)
        /// The row can't be read: it is too long, or has misplaced quotes or is not UTF-8.
        case flaw(RecordFlaw, line: Int)
        case end
    }

    /// The maximum length of a row, in bytes.
    package static let rowBytesMax = 1 << 20
    private static let fieldsMax = 1024

    private let form: Form
    private let read: () throws(ImportFault) -> [UInt8]
    private var part: ArraySlice<UInt8> = []
    /// The number of the line to read next, from 1.
    private(set) var line = 1
    private var offset: UInt64 = 0
    /// The line of a row whose quotes never close; nothing after it can be read.
    private var openLine: Int?

    /// Reads the rows of a text.
    ///
    /// - Parameters:
    ///   - form: The form of a row.
    ///   - read: Returns the next part of the text; empty at the end.
    package init(_ form: Form, read: @escaping () throws(ImportFault) -> [UInt8]) {
        self.form = form
        self.read = read
    }

    /// Returns the next row.
    ///
    /// - Throws: `ImportFault` when the text can't be read, or ends inside of quotes.
    package mutating func next() throws(ImportFault) -> Step {
        var start = (line: line, offset: offset)
        var next = try rowBytes()
        while form == .csv, next?.isEmpty == true {
            start = (line: line, offset: offset)
            next = try rowBytes()
        }
        guard let bytes = next else { return .end }
        guard bytes.count <= Self.rowBytesMax else {
            return .flaw(.tooLong, line: start.line)
        }
        let fields: [String?]?
        switch form {
        case .csv: fields = Self.csvFields(bytes)
        case .copyText: fields = Self.copyFields(bytes)
        case .lines:
            fields = String(validating: bytes, as: UTF8.self).map { [$0.isEmpty ? nil : $0] }
        }
        guard let fields else { return .flaw(.malformed, line: start.line) }
        return .row(Row(fields: fields, line: start.line, offset: start.offset))
    }

    /// Returns the next line of a text without quotes, and its number; nil at the end.
    ///
    /// - Throws: `ImportFault` when the text can't be read.
    mutating func nextLine() throws(ImportFault) -> (bytes: [UInt8], line: Int)? {
        let number = line
        return try rowBytes().map { (bytes: $0, line: number) }
    }

    /// Returns the bytes of the next row without its line end; nil at the end of the text.
    ///
    /// Of a longer row, only the maximum and one more are kept.
    private mutating func rowBytes() throws(ImportFault) -> [UInt8]? {
        if let openLine { throw .malformed(line: openLine) }
        let start = line
        var row: [UInt8] = []
        var isInQuotes = false
        var hasBytes = false
        while true {
            if part.isEmpty { part = try read()[...] }
            guard !part.isEmpty else {
                guard !isInQuotes else {
                    openLine = start
                    throw .malformed(line: start)
                }
                return hasBytes ? row.withoutReturn : nil
            }
            hasBytes = true
            // Not of the member, which each byte would read anew.
            let bytes = part
            var index = bytes.startIndex
            var isAtEnd = false
            while index < bytes.endIndex {
                let byte = bytes[index]
                if byte == UInt8(ascii: "\""), form == .csv { isInQuotes.toggle() }
                if byte == 0x0A {
                    line += 1
                    if !isInQuotes {
                        isAtEnd = true
                        break
                    }
                }
                index += 1
            }
            let room = Self.rowBytesMax + 1 - row.count
            row += bytes[..<index].prefix(max(0, room))
            let used = index - bytes.startIndex + (isAtEnd ? 1 : 0)
            offset += UInt64(used)
            part = part.dropFirst(used)
            if isAtEnd { return row.withoutReturn }
        }
    }

    private static func csvFields(_ bytes: [UInt8]) -> [String?]? {
        var fields: [String?] = []
        var index = 0
        while true {
            guard fields.count < fieldsMax else { return nil }
            if index < bytes.count, bytes[index] == UInt8(ascii: "\"") {
                var field: [UInt8] = []
                index += 1
                while true {
                    guard let quote = bytes[index...].firstIndex(of: UInt8(ascii: "\"")) else {
                        return nil
                    }
                    field += bytes[index..<quote]
                    index = quote + 1
                    // Two quotes are one.
                    guard index < bytes.count, bytes[index] == UInt8(ascii: "\"") else { break }
                    field.append(UInt8(ascii: "\""))
                    index += 1
                }
                guard let text = String(validating: field, as: UTF8.self) else { return nil }
                fields.append(text)
            } else {
                let end = bytes[index...].firstIndex(of: UInt8(ascii: ",")) ?? bytes.count
                let field = bytes[index..<end]
                guard !field.contains(UInt8(ascii: "\"")),
                    let text = String(validating: field, as: UTF8.self)
                else { return nil }
                fields.append(text.isEmpty ? nil : text)
                index = end
            }
            guard index < bytes.count else { return fields }
            guard bytes[index] == UInt8(ascii: ",") else { return nil }
            index += 1
        }
    }

    private static func copyFields(_ bytes: [UInt8]) -> [String?]? {
        var fields: [String?] = []
        for field in bytes.split(separator: 0x09, omittingEmptySubsequences: false) {
            guard fields.count < fieldsMax else { return nil }
            if field.elementsEqual("\\N".utf8) {
                fields.append(nil)
                continue
            }
            guard let unescaped = unescape(field),
                let text = String(validating: unescaped, as: UTF8.self)
            else { return nil }
            fields.append(text)
        }
        return fields
    }

    private static func unescape(_ field: ArraySlice<UInt8>) -> [UInt8]? {
        guard field.contains(UInt8(ascii: "\\")) else { return Array(field) }
        var bytes: [UInt8] = []
        var rest = field
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\") else {
                bytes.append(byte)
                continue
            }
            guard let escaped = rest.popFirst() else { return nil }
            switch escaped {
            case UInt8(ascii: "n"): bytes.append(0x0A)
            case UInt8(ascii: "r"): bytes.append(0x0D)
            case UInt8(ascii: "t"): bytes.append(0x09)
            case UInt8(ascii: "b"): bytes.append(0x08)
            case UInt8(ascii: "f"): bytes.append(0x0C)
            case UInt8(ascii: "v"): bytes.append(0x0B)
            default: bytes.append(escaped)
            }
        }
        return bytes
    }
}

extension [UInt8] {
    /// The line without the carriage return at its end.
    fileprivate var withoutReturn: [UInt8] { last == 0x0D ? Array(dropLast()) : self }
}
