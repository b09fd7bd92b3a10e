import Ledger
package import LedgerEngine

/// The result of a replay.
package struct ReplaySummary: Hashable, Sendable {
    /// The number of events emitted.
    package internal(set) var events: Int64 = 0
    /// The faults of the history (gaps, wrong `prev`, unreadable rows), at most `findingsMax`.
    package private(set) var findings: [LogDamage] = []
    package private(set) var findingCount = 0

    /// The maximum number of findings that are kept; all are counted.
    package static let findingsMax = 20

    /// Whether the history is complete and correct.
    package var isWhole: Bool { findingCount == 0 }

    mutating func add(_ finding: LogDamage) {
        findingCount += 1
        if findings.count < Self.findingsMax { findings.append(finding) }
    }
}
