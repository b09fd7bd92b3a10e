import CommandLine
import Ledger
import LedgerEngine
import LedgerPostgres
import Postgres

/// The first events and key rotations of all tenants, which determine the ledger's mode and keys.
struct TenantOpenings: Sendable {
    private static let statement = Statement(
        "opened_tenants",
        """
        SELECT h.tenant_id, e.entry FROM ledger_head h
        CROSS JOIN LATERAL (
            SELECT entry FROM events WHERE tenant_id = h.tenant_id AND position = 0 OFFSET 0) e
        ORDER BY h.tenant_id
        """)

    /// Rotations are few and have an index of their own.
    private static let rotations = Statement(
        "rotated_keys",
        """
        SELECT h.tenant_id, e.entry FROM ledger_head h
        CROSS JOIN LATERAL (
            SELECT position, entry FROM events
            WHERE tenant_id = h.tenant_id AND type = 'KeyRotated' OFFSET 0) e
        ORDER BY h.tenant_id, e.position
        """)

    /// The migration with which the digests of requests got keys, whatever its number.
    private static let keyedDigests = Statement(
        "keyed_digests_since",
        "SELECT applied_at FROM ledger_migrations WHERE name LIKE 'V%keyed\\_digests.sql'")

    /// Finds an account key or a webhook secret that is wrapped with one of some keys, or an answer that is
    /// still kept and found by one.
    private static let usesKeys = Statement(
        "uses_wrapping_keys",
        """
        SELECT wrapping_key FROM webhook_secrets
        WHERE tenant_id = $1::text AND wrapping_key = ANY ($2::text[])
        UNION ALL
        SELECT wrapping_key FROM account_keys
        WHERE tenant_id = $1::text AND wrapping_key = ANY ($2::text[])
        UNION ALL
        SELECT key_id FROM idempotency_records
        WHERE tenant_id = $1::text AND key_id = ANY ($2::text[])
            AND answered_at > statement_timestamp() - make_interval(hours => \(IdempotencyKey.hours))
        LIMIT 1
        """)

    private let url: String
    /// The first event of each tenant.
    let facts: [TenantID: LedgerOpened]
    /// The time of the upgrade from a release whose digests of requests had no keys.
    let digestsKeyedAt: Timestamp
    /// The key rotations of each tenant, in order.
    let rotations: [TenantID: [KeyRotated]]

    /// Reads a database after a check that its schema is this binary's.
    ///
    /// - Throws: `Fault` with one line when the database can't be reached or has another schema.
    static func read(url: String) throws(Fault) -> TenantOpenings {
        try SchemaCheck.withConnection(to: url) { try TenantOpenings(url: url, $0) }
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
            else {
                throw Fault(
                    "the log of tenant \(Arguments.quoted(name)) does not begin with a valid event")
            }
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
        digestsKeyedAt = Timestamp(
            microseconds: try connection.query(Self.keyedDigests).timestamp(0, 0))
        self.facts = facts
        self.rotations = rotations
    }

    /// Returns the keys of a kind that a tenant's log names, the current one last.
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

    /// Loads the keys of the directory, and creates them for a ledger without events.
    ///
    /// - Throws: `Fault` when the mode or the keys are not the ledger's.
    func keys(
        from directory: KeyDirectory, mode: LedgerOpened.Mode
    ) throws(Fault) -> Keys {
        try checkMode(mode)
        guard let keys = facts.isEmpty ? try directory.loadOrMake() : try load(directory) else {
            throw directory.fault(
                "\(directory.path) holds no keys, but the ledger exists and needs its keys: restore them"
            )
        }
        try checkKeys(keys, from: directory)
        return keys
    }

    /// Loads the keys, and creates the first MAC key for a ledger of a former release.
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

    /// Checks that the last key of each kind that a log names exists, and every key that still wraps the
    /// key of an account or a webhook's secret.
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
                        + " requires")
            }
        }
    }

    /// Returns one of these keys that the tenant still needs: it wraps an account key or a webhook secret, or
    /// its digests name answers or attempts of the last day.
    func usedKey(of tenant: TenantID, among ids: Set<String>) throws(Fault) -> String? {
        guard !ids.isEmpty else { return nil }
        return try SchemaCheck.withConnection(to: url) { connection in
            let rows = try connection.query(
                Self.usesKeys, [.text(tenant.description), .texts(ids.sorted())])
            if rows.rowCount > 0 { return try rows.text(0, 0) }
            return try AttemptKeyUse.first(of: ids, in: tenant, on: connection)
        }
    }

    private var sorted: [(TenantID, LedgerOpened)] {
        facts.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}
