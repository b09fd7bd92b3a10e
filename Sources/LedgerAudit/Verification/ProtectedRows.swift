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
    let version: (address: String, writer: String)
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
        let columns = ProtectedColumns(of: self)
        let others = key.map { "AND substring(t.mac FOR 4) IS DISTINCT FROM '\\x\($0)'" } ?? ""
        var cursor = try RowCursor(
            name,
            """
            SELECT \(columns.list.sql) FROM \(rawValue) t
            WHERE t.tenant_id = \(quoteLiteral(tenant.description)) AND \(live) \(others)
            """, on: connection)
        while let (result, row) = try cursor.next(on: connection) {
            var read: ProtectedRow?
            do {
                read = try columns.read(result, row, of: tenant)
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
        case .rules: .rules
        case .addresses: .addresses
        case .names: .names
        case .credentials: .credentials
        case .factors: .factors
        case .erasureRequests: .erasureRequests
        }
    }
}

/// The columns of a protected table that its MAC authenticates, with the version of a row.
private struct ProtectedColumns {
    private enum Content {
        case identity(IdentityLoad.Columns)
        case session(SessionColumns)
        case merge(MergeLoad.Columns)
        case apiKey(AccessStatements.Columns)
        case rules
        case address(AddressLoad.Columns)
        case name(NameLoad.Columns)
        case password(PasswordLoad.Columns)
        case factor(FactorLoad.Columns)
        case erasureRequest(ErasureRequestRows.Columns)
    }

    /// The list of the statement, in which the table is `t`.
    let list: SelectList
    private let content: Content
    private let address, writer, mac: Int

    init(of table: ProtectedTable) {
        let version: SelectList = ["t.ctid::text AS address", "t.xmin::text AS writer", "t.mac"]
        switch table {
        case .identities:
            list = version + IdentityLoad.Columns.selected("t")
            content = .identity(IdentityLoad.Columns("t", in: list))
        case .sessions:
            list = version + SessionColumns.selected("t")
            content = .session(SessionColumns("t", in: list))
        case .merges:
            list = version + MergeLoad.Columns.selected("t")
            content = .merge(MergeLoad.Columns("t", in: list))
        case .apiKeys:
            list = version + AccessStatements.Columns.selected("t")
            content = .apiKey(AccessStatements.Columns("t", in: list))
        case .rules:
            list = version + ["t.body"]
            content = .rules
        case .addresses:
            list = version + AddressLoad.Columns.selected("t")
            content = .address(AddressLoad.Columns("t", in: list))
        case .names:
            list = version + NameLoad.Columns.selected("t")
            content = .name(NameLoad.Columns("t", in: list))
        case .credentials:
            list = version + PasswordLoad.Columns.selected("t")
            content = .password(PasswordLoad.Columns("t", in: list))
        case .factors:
            list = version + FactorLoad.Columns.selected("t")
            content = .factor(FactorLoad.Columns("t", in: list))
        case .erasureRequests:
            list = version + ErasureRequestRows.Columns.selected("t")
            content = .erasureRequest(ErasureRequestRows.Columns("t", in: list))
        }
        address = list["address"]
        writer = list["writer"]
        mac = list["t.mac"]
    }

    func read(_ result: QueryResult, _ row: Int, of tenant: TenantID) throws -> ProtectedRow {
        let name: String
        let message: MACMessage
        switch content {
        case .identity(let columns):
            let (identity, subject) = try columns.read(result, row)
            name = "identity \(identity.id)"
            message = .identity(identity, named: subject, of: tenant)
        case .session(let columns):
            let (session, token) = try columns.read(result, row)
            name = "session \(session.id)"
            message = .session(session, token, of: tenant)
        case .merge(let columns):
            let merge = try columns.read(result, row)
            name = "merge \(merge.id)"
            message = .merge(merge, of: tenant)
        case .apiKey(let columns):
            let key = try columns.read(result, row)
            name = "API key \(key.id)"
            message = .apiKey(key, of: tenant)
        case .rules:
            let rules = try RulesLoad.rules(result, row)
            name = "version \(rules.rulesVersion) of the rules"
            message = .rules(rules, of: tenant)
        case .address(let columns):
            let (address, addressName) = try columns.read(result, row)
            name = "address \(address.id)"
            message = .address(address, named: addressName, of: tenant)
        case .name(let columns):
            let (held, externalName) = try columns.read(result, row)
            name = "the external id of position \(held.position)"
            message = .name(held, externalName, of: tenant)
        case .password(let columns):
            let (version, sealed, wrappingKey) = try columns.read(result, row)
            name = "the password of identity \(version.identity)"
            message = .password(version, sealed, wrappingKey, of: tenant)
        case .factor(let columns):
            let row = try columns.read(result, row)
            name = "factor \(row.factor.id)"
            message = row.message(of: tenant)
        case .erasureRequest(let columns):
            let request = try columns.read(result, row)
            name = "request \(request.id) for an erasure"
            message = .erasureRequest(request, of: tenant)
        }
        return ProtectedRow(
            name: name, message: message, stored: try result.optionalBytes(row, mac),
            version: (address: try result.text(row, address), writer: try result.text(row, writer)))
    }
}

/// The keys that check the MACs of a tenant's rows.
struct RowMACs: Sendable {
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
