import Foundation
import Ledger

/// The log of the process: JSON lines on standard error.
///
/// No line contains a secret or personal data: fields are ids, counts, templates and fixed sentences.
struct Log: Sendable {
    private let threshold: LogLevel
    private let writer = LogWriter()

    init(threshold: LogLevel) {
        self.threshold = threshold
    }

    /// Writes a line, without the fields that are nil, unless its level is below the threshold.
    func write(
        _ level: LogLevel, _ message: String, _ fields: KeyValuePairs<String, LogValue?> = [:]
    ) {
        guard level >= threshold else { return }
        let droppedCount = writer.resetDroppedCount()
        if droppedCount > 0 {
            put(.warning, "log lines dropped", ["count": .number(Int64(droppedCount))])
        }
        put(level, message, fields)
    }

    /// Waits until all lines are written, up to a time limit.
    func flush() {
        writer.flush()
    }

    private func put(
        _ level: LogLevel, _ message: String, _ fields: KeyValuePairs<String, LogValue?>
    ) {
        var line = LogLine(level, message, at: .now)
        for (name, value) in fields {
            if let value { line.add(name, value) }
        }
        writer.write(line.ended())
    }
}

extension Timestamp {
    /// The current time of the wall clock.
    static var now: Timestamp {
        Timestamp(microseconds: Int64(Date().timeIntervalSince1970 * 1_000_000))
    }
}
