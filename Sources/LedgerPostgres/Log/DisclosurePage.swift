package import Ledger
package import LedgerEngine
package import Postgres

/// The disclosures of a page of the log, opened event by event.
package struct DisclosurePage {
    private let reader: DisclosureReader?
    /// The rows in the order of their positions.
    private let rows: [DisclosureReader.Row]
    /// The index after the rows of the event that was opened last.
    private var next = 0
    private var keys = DisclosureReader.KeyCache()
    /// The positions of rows that belong to no event of the page, whose events are opened in the order of the log.
    package private(set) var strayPositions: [LogPosition] = []

    /// Creates a page of rows in the order of their positions.
    package init(_ rows: [DisclosureReader.Row], reader: DisclosureReader?) {
        self.reader = reader
        self.rows = rows
    }

    /// Reads the disclosures between a page's first and last position.
    package init(
        _ page: QueryResult, in tenant: TenantID, reader: DisclosureReader?,
        on connection: Connection
    ) throws(PostgresError) {
        self.reader = reader
        guard reader != nil, page.rowCount > 0 else {
            rows = []
            return
        }
        let first = try page.int8(0, 0)
        let count = try page.int8(page.rowCount - 1, 0).subtractingReportingOverflow(first)
        let results = try connection.pipeline([
            DisclosureReader.call(
                from: LogPosition(first),
                count: count.overflow ? .max : Int(LogPosition(count.partialValue).next.value),
                in: tenant)
        ])
        guard let result = results.first else { throw .unexpectedResult("no page") }
        rows = try DisclosureReader.rows(result)
    }

    /// Returns the number of rows of an event.
    package func rowCount(of recorded: RecordedEvent) -> Int { own(recorded.position).count }

    /// Returns the disclosures of an event, in the order of the log or any other one.
    ///
    /// - Throws: `LogDamage` for a disclosure that differs from what the entry commits to.
    package mutating func open(_ recorded: RecordedEvent) throws(LogDamage) -> DisclosedValues {
        guard let reader else { return DisclosedValues() }
        let own = own(recorded.position)
        if next < own.startIndex {
            strayPositions += rows[next..<own.startIndex].map(\.position)
        }
        next = own.endIndex
        return try reader.open(own, of: recorded, keys: &keys)
    }

    private func own(_ position: LogPosition) -> ArraySlice<DisclosureReader.Row> {
        var start = next
        // Pages may be read from the newest event on.
        while start > 0, rows[start - 1].position >= position { start -= 1 }
        return rows[start...].drop { $0.position < position }.prefix { $0.position == position }
    }
}
