internal import Postgres

/// The comparison of the clients' answers with the log.
package struct LogComparison: Sendable {
    /// Acknowledged commands without all of their events.
    package private(set) var lost = 0
    /// Commands whose events exist more than once.
    package private(set) var doubled = 0
    /// Commands without an acknowledgement of which only a part of the events exists.
    package private(set) var halves = 0
    /// The first findings, one per line.
    package private(set) var findings: [String] = []

    private static let rowsOfRequests = Statement(
        "rows_of_requests",
        """
        SELECT request_id::text, type, count(*) FROM events
        WHERE request_id IS NOT NULL GROUP BY request_id, type
        """)

    /// Reads the log and compares.
    ///
    /// - Throws: an error of the database.
    package init(_ commands: [TrafficCommand], logAt url: String) async throws {
        let session = Session(url: url, applicationName: "reckoning")
        let rows = try await session.run { connection in
            let result = try connection.query(Self.rowsOfRequests)
            return try (0..<result.rowCount).map { row in
                Row(
                    request: try result.text(row, 0), type: try result.text(row, 1),
                    count: Int(try result.int8(row, 2)))
            }
        }
        await session.close()
        var events: [String: [String: Int]] = [:]
        for row in rows { events[row.request, default: [:]][row.type] = row.count }
        for command in commands {
            let found = command.requests.reduce(into: [String: Int]()) { sum, request in
                sum.merge(events[request] ?? [:], uniquingKeysWith: +)
            }
            compare(command, with: found)
        }
    }

    private struct Row: Sendable {
        let request: String
        let type: String
        let count: Int
    }

    private mutating func compare(_ command: TrafficCommand, with found: [String: Int]) {
        let expected = command.events
        if found == expected || (found.isEmpty && !command.isAcknowledged) { return }
        if found.contains(where: { $0.value > expected[$0.key] ?? 0 }) {
            doubled += 1
        } else if command.isAcknowledged {
            lost += 1
        } else {
            halves += 1
        }
        if findings.count < TrafficCount.surprisesMax {
            findings.append("\(command.kind) \(command.requests): \(found)")
        }
    }
}
