import Ledger

/// What a replay came to.
package struct ReplaySummary: Hashable, Sendable {
    /// Events handed out.
    package internal(set) var events: Int64 = 0
    /// What is wrong with the history (gaps, wrong `prev`, unreadable rows), at most `findingsMax`.
    package private(set) var findings: [LogDamage] = []
    package private(set) var findingCount = 0

    /// The most findings that are kept; all are counted.
    package static let findingsMax = 20

    /// Whether the history is whole.
    package var isWhole: Bool { findingCount == 0 }

    mutating func add(_ finding: LogDamage) {
        findingCount += 1
        if findings.count < Self.findingsMax { findings.append(finding) }
    }
}
