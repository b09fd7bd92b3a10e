import Ledger
package import Postgres

/// Streams the rows of a query in pages, inside the open transaction.
package struct RowCursor {
    private static let pageRows = 1_000

    private let fetch: Statement
    private var page: QueryResult?
    private var row = -1

    /// Opens a cursor, whose name must be unused on the connection.
    package init(
        _ name: String, _ query: String, on connection: Connection
    ) throws(PostgresError) {
        try connection.execute("DECLARE \(name) NO SCROLL CURSOR FOR \(query)")
        fetch = Statement("fetch_\(name)", "FETCH \(Self.pageRows) FROM \(name)")
    }

    /// Returns the next row; nil when there are no more.
    package mutating func next(
        on connection: Connection
    ) throws(PostgresError) -> (result: QueryResult, row: Int)? {
        row += 1
        if page.map({ row >= $0.rowCount }) ?? true {
            if let page, page.rowCount < Self.pageRows { return nil }
            page = try connection.query(fetch)
            row = 0
        }
        guard let page, row < page.rowCount else { return nil }
        return (result: page, row: row)
    }
}
