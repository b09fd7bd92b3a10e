package import Ledger
import LedgerEngine
package import Postgres

/// Reads a tenant's log in pages.
///
/// Positions are gapless and become visible in order, so a reader that remembers its last position
/// misses nothing.
package enum LogReader {
    /// The maximum number of rows in one page.
    package static let pageMax = 1_000

    private static let list: SelectList = [
        "position", "event_id", "type", "schema_version", "recorded_at", "account_id",
        "account_seq", "command_id", "request_id", "actor", "entry", "mac",
    ]
    fileprivate static let columns = Columns()

    /// The positions of the columns.
    fileprivate struct Columns {
        let position = list["position"]
        let event = list["event_id"]
        let type = list["type"]
        let version = list["schema_version"]
        let recordedAt = list["recorded_at"]
        let account = list["account_id"]
        let sequence = list["account_seq"]
        let command = list["command_id"]
        let request = list["request_id"]
        let actor = list["actor"]
        let entry = list["entry"]
        let mac = list["mac"]
    }

    private static let rowsAfter = Statement(
        "log_rows_after",
        """
        SELECT \(list.sql) FROM events
        WHERE tenant_id = $1 AND position > $2 ORDER BY position LIMIT $3
        """)

    private static let rowsAt = Statement(
        "log_rows_at",
        """
        SELECT \(list.sql) FROM events
        WHERE tenant_id = $1 AND position = ANY ($2::bigint[]) ORDER BY position
        """)

    private static let entriesFrom = Statement(
        "log_entries_from",
        """
        SELECT position, entry FROM events
        WHERE tenant_id = $1 AND position >= $2 ORDER BY position LIMIT $3
        """)

    /// Returns the next rows after a position, in order; all columns.
    ///
    /// The limit is capped at ``pageMax``.
    package static func rows(
        after position: Int64, in tenant: TenantID, limit: Int = pageMax,
        on connection: Connection
    ) throws(PostgresError) -> [EventRow] {
        let results = try connection.pipeline([rowsCall(after: position, in: tenant, limit: limit)])
        guard let result = results.first else { throw .unexpectedResult("no page") }
        return try rows(result)
    }

    /// Requests positions and entries only, which is enough for a fold.
    package static func entriesCall(
        from position: LogPosition, in tenant: TenantID, limit: Int
    ) -> Call {
        Call(
            entriesFrom,
            [.text(tenant.description), .int8(position.value), .int8(Int64(min(limit, pageMax)))])
    }

    /// Requests the next rows after a position.
    package static func rowsCall(after position: Int64, in tenant: TenantID, limit: Int) -> Call {
        Call(
            rowsAfter,
            [.text(tenant.description), .int8(position), .int8(Int64(min(limit, pageMax)))])
    }

    /// Requests the rows at some positions, in order; positions without a row are omitted.
    package static func rowsCall(at positions: [Int64], in tenant: TenantID) -> Call {
        Call(rowsAt, [.text(tenant.description), .int8s(positions)])
    }

    private static func rows(_ result: QueryResult) throws(PostgresError) -> [EventRow] {
        var rows: [EventRow] = []
        rows.reserveCapacity(result.rowCount)
        for row in 0..<result.rowCount {
            rows.append(try EventRow(result, row))
        }
        return rows
    }
}

extension EventRow {
    /// Reads a row of the log's columns.
    package init(_ result: QueryResult, _ row: Int) throws(PostgresError) {
        let at = LogReader.columns
        self.init(
            position: LogPosition(try result.int8(row, at.position)),
            event: try result.uuid(row, at.event), type: try result.text(row, at.type),
            schemaVersion: try result.int8(row, at.version),
            recordedAt: Timestamp(microseconds: try result.timestamp(row, at.recordedAt)),
            account: try result.optionalUUID(row, at.account),
            accountSequence: try result.optionalInt8(row, at.sequence),
            command: try result.uuid(row, at.command),
            request: try result.optionalUUID(row, at.request),
            actor: try result.text(row, at.actor), entry: try result.bytes(row, at.entry),
            mac: try result.optionalBytes(row, at.mac))
    }
}
