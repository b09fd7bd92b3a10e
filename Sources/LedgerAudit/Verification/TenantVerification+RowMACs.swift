import Ledger
import LedgerEngine
import LedgerPostgres
import Postgres

extension TenantVerification {
    private static let headMACs = Statement(
        "verify_head_codes",
        "SELECT \(HeadLoad.list.sql) FROM ledger_head h WHERE h.tenant_id = $1")

    private static let keyCount = Statement(
        "verify_api_keys",
        "SELECT count(*) FROM api_keys WHERE tenant_id = $1 AND revoked_at IS NULL")

    /// Checks the MAC of the head.
    ///
    /// - Returns: the MACs to check rows with; nil without MAC keys.
    mutating func checkHeadMAC(
        on connection: Connection
    ) throws(PostgresError) -> RowMACs? {
        guard let keys = disclosures?.macs, !keys.isEmpty else { return nil }
        let name = Parameter.text(tenant.description)
        report.count(.apiKeys, try connection.query(Self.keyCount, [name]).int8(0, 0))
        let marked = try LogProtection.read(of: tenant, keys: keys, on: connection).protectedFrom
        let mustHaveMACs = marked != nil || !keys.allowsUnprotected
        let head = try connection.query(Self.headMACs, [name])
        guard head.rowCount == 1 else { return RowMACs(keys: keys, isProtected: mustHaveMACs) }
        do {
            let said = try HeadLoad.readMACs(head, 0, of: tenant, keys: keys)
                .protectedFrom
            if said != marked { add(.head, marked, "protected_from is not what the log says") }
            return RowMACs(keys: keys, isProtected: said != nil || mustHaveMACs)
        } catch let error as PostgresError {
            guard case .unexpectedResult = error else { throw error }
            add(.head, nil, "the head cannot be read")
        } catch {
            add(.head, nil, "no server has written the head: its MAC is wrong")
        }
        return RowMACs(keys: keys, isProtected: true)
    }

    /// Reports every live row that no holder of a MAC key has written.
    mutating func checkMACs(on connection: Connection) throws(PostgresError) {
        guard let macs = try checkHeadMAC(on: connection) else { return }
        for table in ProtectedTable.allCases {
            try table.eachRow(of: tenant, on: connection) { row throws(PostgresError) in
                guard let row else { return add(table.check, nil, "a row cannot be read") }
                guard !macs.accept(row) else { return }
                add(
                    table.check, nil,
                    row.stored == nil
                        ? "\(row.name) has no MAC, which every row of a protected log has"
                        : "the MAC of the row of \(row.name) is wrong")
            }
        }
    }
}
