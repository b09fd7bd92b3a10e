import JSON
import Ledger

/// A value in a log line.
enum LogValue: Sendable {
    case text(String)
    case number(Int64)
    case flag(Bool)
}

/// A line of the log: a flat JSON object within the size that a pipe writes atomically.
struct LogLine {
    /// The longest line: what a pipe writes atomically, without interleaving lines of other processes.
    static let bytesMax = 4_096
    private static let textBytesMax = 1_024
    private static let reservedBytes = 256

    private var bytes: [UInt8] = []

    init(_ level: LogLevel, _ message: String, at time: Timestamp) {
        bytes.reserveCapacity(Self.reservedBytes)
        bytes.append(contentsOf: "{\"ts\":\"".utf8)
        time.appendText(to: &bytes)
        bytes.append(contentsOf: "\",\"level\":\"".utf8)
        bytes.append(contentsOf: level.rawValue.utf8)
        bytes.append(UInt8(ascii: "\""))
        add("msg", .text(message))
    }

    /// Adds a member, unless it would make the line too long.
    mutating func add(_ name: String, _ value: LogValue) {
        let length = bytes.count
        bytes.append(contentsOf: ",\"".utf8)
        bytes.append(contentsOf: name.utf8)
        bytes.append(contentsOf: "\":".utf8)
        switch value {
        case .text(let text): JSONText.append(Self.shortened(text), to: &bytes)
        case .number(let number): bytes.append(contentsOf: String(number).utf8)
        case .flag(let flag): bytes.append(contentsOf: (flag ? "true" : "false").utf8)
        }
        // Two bytes are reserved for the end of the object and of the line.
        if bytes.count > Self.bytesMax - 2 { bytes.removeSubrange(length...) }
    }

    /// The characters of a text that fit into its first bytes.
    private static func shortened(_ text: String) -> String {
        guard text.utf8.count > textBytesMax else { return text }
        var end = text.utf8.index(text.startIndex, offsetBy: textBytesMax)
        while end.samePosition(in: text.unicodeScalars) == nil { text.utf8.formIndex(before: &end) }
        return String(text[..<end])
    }

    /// Returns the complete line.
    consuming func ended() -> [UInt8] {
        bytes.append(UInt8(ascii: "}"))
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }
}
