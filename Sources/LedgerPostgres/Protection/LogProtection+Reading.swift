package import Ledger
package import LedgerEngine
package import Postgres

extension LogProtection {
    private static let statement = Statement(
        "log_marks",
        """
        SELECT position, entry, mac FROM events
        WHERE tenant_id = $1::text AND position = 0
        UNION ALL
        SELECT position, entry, mac FROM events
        WHERE tenant_id = $1::text AND type IN ('KeyRotated', 'LedgerRestored') AND position > 0
        ORDER BY position
        """)

    /// Requests the events that record keys.
    package static func call(of tenant: TenantID) -> Call {
        Call(statement, [.text(tenant.description)])
    }

    /// As ``call(of:)``, but empty if there is no key for the check.
    ///
    /// To be requested after the rows to check, so that none of them is newer than the marks.
    package static func calls(of tenant: TenantID, keys: MACKeys?) -> [Call] {
        keys.map { $0.isEmpty ? [] : [call(of: tenant)] } ?? []
    }

    /// Reads the results of ``calls(of:keys:)``, the first of these; nil if nothing was requested.
    package static func found(
        in results: ArraySlice<QueryResult>, of tenant: TenantID, keys: MACKeys?
    ) throws(PostgresError) -> LogProtection? {
        guard let keys, let result = results.first else { return nil }
        return try LogProtection(result, of: tenant, keys: keys)
    }

    /// Reads the result of ``call(of:)``.
    private init(_ result: QueryResult, of tenant: TenantID, keys: MACKeys) throws(PostgresError) {
        var marks: [(position: Int64, entry: [UInt8], mac: [UInt8]?)] = []
        for row in 0..<result.rowCount {
            marks.append(
                (
                    position: try result.int8(row, result.column("position")),
                    entry: try result.bytes(row, result.column("entry")),
                    mac: try result.optionalBytes(row, result.column("mac"))
                ))
        }
        self.init(marks: marks, of: tenant, keys: keys)
    }

    /// Reads the marks of a log.
    package static func read(
        of tenant: TenantID, keys: MACKeys, on connection: Connection
    ) throws(PostgresError) -> LogProtection {
        let results = try connection.pipeline([call(of: tenant)])
        guard let result = results.first else { throw .unexpectedResult("no marks") }
        return try LogProtection(result, of: tenant, keys: keys)
    }

    /// Reads the marks of a log; nil if there is no key for the check.
    package static func read(
        of tenant: TenantID, checkingWith keys: MACKeys?, on connection: Connection
    ) throws(PostgresError) -> LogProtection? {
        guard let keys, !keys.isEmpty else { return nil }
        return try read(of: tenant, keys: keys, on: connection)
    }
}
