import Ledger
import Postgres

/// A live row of decision state, with its code.
struct ProtectedRow {
    /// What it is, and its id; never personal data.
    let name: String
    /// What its code must be made of.
    let message: MACMessage
    /// The code that it has.
    let stored: [UInt8]?
    /// Where the row is and which transaction has written it: both together name one version of it.
    let version: (place: String, writer: String)
}

extension ProtectedTable {
    /// Reads every live row of a tenant, in the transaction that is open.
    ///
    /// A session that has ended and an API key that is revoked are none, and have no code.
    ///
    /// - Parameters:
    ///   - tenant: whose.
    ///   - key: leaves out the rows whose code names this key; nil for all rows.
    ///   - connection: in a transaction, which the body leaves open.
    ///   - body: called for each; with nil for a row that cannot be read.
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

    /// Which rows `t` are live.
    var live: String {
        switch self {
        case .identities, .merges: "true"
        case .sessions: "t.ended_position IS NULL"
        case .apiKeys: "t.revoked_at IS NULL"
        }
    }

    /// What the table is called in findings.
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

/// What the codes of a tenant's rows are checked with.
struct RowCodes: Sendable {
    let keys: MACKeys
    /// Whether every live row must have one.
    let isProtected: Bool

    /// Whether a row is one that a holder of the key has written, as far as it can be told.
    func accept(_ row: ProtectedRow) -> Bool {
        guard let stored = row.stored else { return !isProtected }
        return keys.accept(stored, of: row.message)
    }

    /// Whether all live rows of a table are.
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
