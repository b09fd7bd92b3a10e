import Ledger
import LedgerPostgres
import Postgres

/// How each tenant's log began, which says what mode and which keys the ledger wants.
struct OpenedTenants: Sendable {
    private static let statement = Statement(
        "opened_tenants",
        """
        SELECT h.tenant_id, e.entry FROM ledger_head h
        CROSS JOIN LATERAL (
            SELECT entry FROM events WHERE tenant_id = h.tenant_id AND position = 0 OFFSET 0) e
        ORDER BY h.tenant_id
        """)

    /// The first event of each tenant that has one.
    let facts: [TenantID: LedgerOpened]

    /// Reads a database, once it has shown that its schema is this binary's.
    ///
    /// - Throws: `Fault` with one line when the database is away or its schema does not fit.
    static func read(url: String) throws(Fault) -> OpenedTenants {
        try SchemaCheck.withConnection(to: url, read(from:))
    }

    private static func read(from connection: Connection) throws -> OpenedTenants {
        let result = try connection.query(statement)
        var facts: [TenantID: LedgerOpened] = [:]
        for row in 0..<result.rowCount {
            let name = try result.text(row, 0)
            guard let tenant = TenantID(name),
                let recorded = try? EntryEncoding.decode(try result.bytes(row, 1)),
                case .ledgerOpened(let fact) = recorded.event
            else { throw Fault("the log of tenant \(Arguments.quoted(name)) does not begin well") }
            facts[tenant] = fact
        }
        return OpenedTenants(facts: facts)
    }

    /// The keys of the directory, which are made for a ledger that has no events yet.
    ///
    /// - Throws: `Fault` when mode and keys are not the ledger's.
    func keys(
        from directory: KeyDirectory, mode: LedgerOpened.Mode
    ) throws(Fault) -> Keys {
        try checkMode(mode)
        guard let keys = facts.isEmpty ? try directory.loadOrMake() : try directory.load() else {
            throw directory.fault(
                "\(directory.path) holds no keys, but the ledger was begun with some: restore them")
        }
        try checkKeys(keys, from: directory)
        return keys
    }

    private func checkMode(_ mode: LedgerOpened.Mode) throws(Fault) {
        for (tenant, fact) in sorted where fact.mode != mode {
            throw Fault(
                "\(Setting.mode.name) is \(mode.rawValue), but the ledger of tenant \(tenant)"
                    + " was begun in \(fact.mode.rawValue)")
        }
    }

    private func checkKeys(_ keys: Keys, from directory: KeyDirectory) throws(Fault) {
        for (tenant, fact) in sorted {
            let missing =
                if !keys.wrapping.ids.contains(fact.encryptionKey) {
                    "encryption key \(fact.encryptionKey)"
                } else if !keys.tokenIDs.contains(fact.tokenKey) {
                    "token key \(fact.tokenKey)"
                } else {
                    String?.none
                }
            if let missing {
                throw directory.fault(
                    "\(directory.path) lacks the \(missing) that the ledger of tenant \(tenant)"
                        + " was begun with")
            }
        }
    }

    private var sorted: [(TenantID, LedgerOpened)] {
        facts.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}
