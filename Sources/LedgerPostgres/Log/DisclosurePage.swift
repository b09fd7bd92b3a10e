package import Ledger
package import LedgerEngine
package import Postgres

/// The disclosures of a page of the log, opened event by event.
package struct DisclosurePage {
    private let reader: DisclosureReader?
    private var rest: ArraySlice<DisclosureReader.Row> = []
    private var keys = DisclosureReader.KeyCache()
    /// The positions of rows that belong to no event of the page.
    package private(set) var strayPositions: [LogPosition] = []

    /// Creates a page of rows in the order of their positions.
    package init(_ rows: [DisclosureReader.Row], reader: DisclosureReader?) {
        self.reader = reader
        rest = rows[...]
    }

    /// Reads the disclosures between a page's first and last position.
    package init(
        _ page: QueryResult, in tenant: TenantID, reader: DisclosureReader?,
        on connection: Connection
    ) throws(PostgresError) {
        self.reader = reader
        guard reader != nil, page.rowCount > 0 else { return }
        let first = try page.int8(0, 0)
        let count = try page.int8(page.rowCount - 1, 0).subtractingReportingOverflow(first)
        let results = try connection.pipeline([
            DisclosureReader.call(
                from: LogPosition(first),
                count: count.overflow ? .max : Int(LogPosition(count.partialValue).next.value),
                in: tenant)
        ])
        guard let result = results.first else { throw .unexpectedResult("no page") }
        rest = try DisclosureReader.rows(result)[...]
    }

    /// Returns the number of rows of an event that has not been opened yet.
    package func rowCount(of recorded: RecordedEvent) -> Int {
        rest.drop { $0.position < recorded.position }
            .prefix { $0.position == recorded.position }.count
    }

    /// Returns the disclosures of an event.
    ///
    /// - Throws: `LogDamage` for a disclosure that differs from what the entry commits to.
    package mutating func open(_ recorded: RecordedEvent) throws(LogDamage) -> DisclosedValues {
        guard let reader else { return DisclosedValues() }
        while let row = rest.first, row.position < recorded.position {
            strayPositions.append(row.position)
            rest.removeFirst()
        }
        let own = rest.prefix { $0.position == recorded.position }
        rest = rest.dropFirst(own.count)
        return try reader.open(own, of: recorded, keys: &keys)
    }
}
