import Ledger
import LedgerEngine
import LedgerPostgres
import Postgres

/// A live row of decision state, with its MAC.
struct ProtectedRow {
    /// The kind and id of the row; never personal data.
    let name: String
    /// The content that its MAC authenticates.
    let message: MACMessage
    /// The stored MAC.
    let stored: [UInt8]?
    /// The position of the row and its writing transaction, which together identify one version of
    /// it.
    let version: (place: String, writer: String)
}

extension ProtectedTable {
    /// Reads every live row of a tenant in the open transaction.
    ///
    /// An ended session and a revoked API key are not live and have no MAC.
    ///
    /// - Parameters:
    ///   - tenant: The tenant.
    ///   - key: Excludes the rows whose MAC names this key; nil for all rows.
    ///   - connection: A connection in a transaction, which the body leaves open.
    ///   - body: Called for each row; with nil for an unreadable one.
    /// - Throws: `PostgresError`.
    func eachRow(
        of tenant: TenantID, lacking key: MACKey.ID? = nil, on connection: Connection,
        _ body: (ProtectedRow?) throws(PostgresError) -> Void
    ) throws(PostgresError) {
        let name = "\(rawValue)_codes"
        let others = key.map { "AND substring(t.mac FOR 4) IS DISTINCT FROM '\\x\($0)'" } ?? ""
        var cursor = try RowCursor(
            name,
            """
            SELECT t.ctid::text, t.xmin::text, t.mac, \(columns) FROM \(rawValue) t
            WHERE t.tenant_id = \(quoteLiteral(tenant.description)) AND \(live) \(others)
            """, on: connection)
        while let (result, row) = try cursor.next(on: connection) {
            var read: ProtectedRow?
            do {
                read = try self.read(result, row, of: tenant)
            } catch let error as PostgresError {
                guard case .unexpectedResult = error else { throw error }
            } catch {
                // A value that no version of this program has written.
            }
            try body(read)
        }
        try connection.execute("CLOSE \(name)")
    }

    /// The name of the table in findings.
    var check: VerificationCheck {
        switch self {
        case .identities: .identities
        case .sessions: .sessions
        case .merges: .merges
        case .apiKeys: .apiKeys
        }
    }

    private var columns: String {
        switch self {
        case .identities: IdentityLoad.columns("t")
        case .sessions: CallerLoad.columns("t")
        case .merges: MergeLoad.columns("t")
        case .apiKeys: AccessStatements.columns("t")
        }
    }

    private func read(
        _ result: QueryResult, _ row: Int, of tenant: TenantID
    ) throws -> ProtectedRow {
        let name: String
        let message: MACMessage
        switch self {
        case .identities:
            let (identity, subject) = try IdentityLoad.identity(result, row, from: 3)
            name = "identity \(identity.id)"
            message = .identity(identity, named: subject, of: tenant)
        case .sessions:
            let (session, token) = try CallerLoad.session(result, row, from: 3)
            name = "session \(session.id)"
            message = .session(session, token, of: tenant)
        case .merges:
            let merge = try MergeLoad.merge(result, row, from: 3)
            name = "merge \(merge.id)"
            message = .merge(merge, of: tenant)
        case .apiKeys:
            let key = try AccessStatements.key(result, row, from: 3)
            name = "API key \(key.id)"
            message = .apiKey(key, of: tenant)
        }
        return ProtectedRow(
            name: name, message: message, stored: try result.optionalBytes(row, 2),
            version: (place: try result.text(row, 0), writer: try result.text(row, 1)))
    }
}

/// The keys that check the MACs of a tenant's rows.
struct RowCodes: Sendable {
    let keys: MACKeys
    /// Whether every live row must have a MAC.
    let isProtected: Bool

    /// Checks whether a holder of the key has written a row, if that can be determined.
    func accept(_ row: ProtectedRow) -> Bool {
        guard let stored = row.stored else { return !isProtected }
        return keys.accept(stored, of: row.message)
    }

    /// Checks whether all live rows of a table have valid MACs.
    func hold(
        in table: ProtectedTable, of tenant: TenantID, on connection: Connection
    ) throws(PostgresError) -> Bool {
        var isSound = true
        try table.eachRow(of: tenant, on: connection) { row throws(PostgresError) in
            isSound = isSound && row.map(accept) ?? false
        }
        return isSound
    }
}
