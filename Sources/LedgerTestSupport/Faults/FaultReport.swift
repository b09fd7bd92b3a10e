internal import Foundation

/// The lines of the table of `tools/chaos`.
enum FaultReport {
    private static let variable = "LEDGER_CHAOS_REPORT"

    /// Appends an outcome to the file that the environment names, as one line of JSON.
    ///
    /// `more` are further members.
    static func add(
        _ outcome: FaultTrial.Outcome, _ more: [String: (any Sendable)?] = [:]
    ) throws {
        let members: [String: any Sendable] = [
            "fault": outcome.fault, "rounds": outcome.rounds,
            "acknowledged": outcome.count.acknowledged,
            "lost": outcome.reckoning.lost + outcome.broken.count,
            "doubled": outcome.reckoning.doubled, "halves": outcome.reckoning.halves,
            "unavailable": outcome.count.unavailable, "unanswered": outcome.count.unanswered,
            "slowest_answer_seconds": seconds(outcome.count.slowestAnswer),
            "serves_again_seconds": seconds(outcome.recovery),
            "verify": outcome.verified.status == 0,
            "amcheck": outcome.corruption.isEmpty,
        ]
        try add(members.merging(more.compactMapValues(\.self)) { $1 })
    }

    /// Appends a line.
    static func add(_ line: [String: any Sendable]) throws {
        guard let path = ProcessInfo.processInfo.environment[variable] else { return }
        var data = try JSONSerialization.data(
            withJSONObject: line, options: [.sortedKeys, .withoutEscapingSlashes])
        data.append(0x0A)
        if !FileManager.default.fileExists(atPath: path) {
            try Data().write(to: URL(fileURLWithPath: path))
        }
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try file.seekToEnd()
        try file.write(contentsOf: data)
        try file.close()
    }

    /// Returns a time in seconds, to the millisecond.
    static func seconds(_ duration: Duration) -> Double {
        let whole = duration.components
        return
            ((Double(whole.seconds) + Double(whole.attoseconds) / 1e18) * 1_000).rounded() / 1_000
    }
}
