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

    /// Few, and found by an index of their own.
    private static let rotations = Statement(
        "rotated_keys",
        """
        SELECT h.tenant_id, e.entry FROM ledger_head h
        CROSS JOIN LATERAL (
            SELECT position, entry FROM events
            WHERE tenant_id = h.tenant_id AND type = 'KeyRotated' OFFSET 0) e
        ORDER BY h.tenant_id, e.position
        """)

    /// Whether an account's key or a webhook's secret is wrapped with one of some keys.
    private static let usesKeys = Statement(
        "uses_wrapping_keys",
        """
        SELECT wrapping_key FROM webhook_secrets
        WHERE tenant_id = $1::text AND wrapping_key = ANY ($2::text[])
        UNION ALL
        SELECT wrapping_key FROM account_keys
        WHERE tenant_id = $1::text AND wrapping_key = ANY ($2::text[]) LIMIT 1
        """)

    private let url: String
    /// The first event of each tenant that has one.
    let facts: [TenantID: LedgerOpened]
    /// The keys that took others' places since, in order.
    let rotations: [TenantID: [KeyRotated]]

    /// Reads a database, once it has shown that its schema is this binary's.
    ///
    /// - Throws: `Fault` with one line when the database is away or its schema does not fit.
    static func read(url: String) throws(Fault) -> OpenedTenants {
        try SchemaCheck.withConnection(to: url) { try OpenedTenants(url: url, $0) }
    }

    private init(url: String, _ connection: Connection) throws {
        self.url = url
        var facts: [TenantID: LedgerOpened] = [:]
        var rotations: [TenantID: [KeyRotated]] = [:]
        let first = try connection.query(Self.statement)
        for row in 0..<first.rowCount {
            let name = try first.text(row, 0)
            guard let tenant = TenantID(name),
                let recorded = try? EntryEncoding.decode(try first.bytes(row, 1)),
                case .ledgerOpened(let fact) = recorded.event
            else { throw Fault("the log of tenant \(Arguments.quoted(name)) does not begin well") }
            facts[tenant] = fact
        }
        let changes = try connection.query(Self.rotations)
        for row in 0..<changes.rowCount {
            let name = try changes.text(row, 0)
            guard let tenant = TenantID(name),
                let recorded = try? EntryEncoding.decode(try changes.bytes(row, 1)),
                case .keyRotated(let fact) = recorded.event
            else { throw Fault("the log of tenant \(Arguments.quoted(name)) has a damaged event") }
            rotations[tenant, default: []].append(fact)
        }
        self.facts = facts
        self.rotations = rotations
    }

    /// The keys of a kind that a tenant's log names, the last one last.
    func keys(of kind: KeyChoice.Kind, in tenant: TenantID) -> [String] {
        guard let fact = facts[tenant] else { return [] }
        let first: String? =
            switch kind {
            case .token: fact.tokenKey
            case .encryption: fact.encryptionKey
            case .mac: fact.macKey
            }
        return [first].compactMap(\.self)
            + (rotations[tenant] ?? []).filter { $0.kind.rawValue == kind.rawValue }.map(\.key)
    }

    /// The keys of the directory, which are made for a ledger that has no events yet.
    ///
    /// - Throws: `Fault` when mode and keys are not the ledger's.
    func keys(
        from directory: KeyDirectory, mode: LedgerOpened.Mode
    ) throws(Fault) -> Keys {
        try checkMode(mode)
        guard let keys = facts.isEmpty ? try directory.loadOrMake() : try load(directory) else {
            throw directory.fault(
                "\(directory.path) holds no keys, but the ledger was begun with some: restore them")
        }
        try checkKeys(keys, from: directory)
        return keys
    }

    /// The first MAC key is made for a ledger of a former release, of which no log names one.
    private func load(_ directory: KeyDirectory) throws(Fault) -> Keys? {
        let isNamed = facts.keys.contains { !keys(of: .mac, in: $0).isEmpty }
        return isNamed ? try directory.load() : try directory.loadWithMACKey()
    }

    private func checkMode(_ mode: LedgerOpened.Mode) throws(Fault) {
        for (tenant, fact) in sorted where fact.mode != mode {
            throw Fault(
                "\(Setting.mode.name) is \(mode.rawValue), but the ledger of tenant \(tenant)"
                    + " was begun in \(fact.mode.rawValue)")
        }
    }

    /// The last key of each kind that a log names has to be there, and every one that has wrapped the
    /// key of an account, or a webhook's secret, which is not wrapped anew.
    private func checkKeys(_ keys: Keys, from directory: KeyDirectory) throws(Fault) {
        for (tenant, _) in sorted {
            let token = self.keys(of: .token, in: tenant).last
            let wrapping = self.keys(of: .encryption, in: tenant)
            let mac = self.keys(of: .mac, in: tenant).last
            let missing =
                if let mac, !keys.wrapping.macs.ids.map(\.description).contains(mac) {
                    "MAC key \(mac)"
                } else if let last = wrapping.last, !keys.wrapping.ids.contains(last) {
                    "encryption key \(last)"
                } else if let token, !keys.tokenIDs.contains(token) {
                    "token key \(token)"
                } else if let used = try usedKey(
                    of: tenant, among: Set(wrapping).subtracting(keys.wrapping.ids))
                {
                    "encryption key \(used)"
                } else {
                    String?.none
                }
            if let missing {
                throw directory.fault(
                    "\(directory.path) lacks the \(missing) that the ledger of tenant \(tenant)"
                        + " works with")
            }
        }
    }

    /// One of these keys that still wraps the key of an account, or the secret of a webhook, of the tenant.
    func usedKey(of tenant: TenantID, among ids: Set<String>) throws(Fault) -> String? {
        guard !ids.isEmpty else { return nil }
        return try SchemaCheck.withConnection(to: url) { connection in
            let rows = try connection.query(
                Self.usesKeys, [.text(tenant.description), .texts(ids.sorted())])
            return rows.rowCount == 0 ? nil : try rows.text(0, 0)
        }
    }

    private var sorted: [(TenantID, LedgerOpened)] {
        facts.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}
