package import Ledger
import LedgerEngine
import Postgres

/// The accounts named by commands of operators and administrators.
///
/// They are loaded with data that other commands do not need: legal holds, erasures, and all
/// accounts merged with them.
enum AccountLoad {
    /// The accounts merged with the named ones, as a common table expression `family`.
    ///
    /// From each named account, and each that has a named subject or address, up to its survivor, and from
    /// there down to all accounts that the survivor absorbed. There are no cycles: an absorbed
    /// account absorbs no other.
    static let family = """
        WITH RECURSIVE named AS (
            SELECT tenant_id, account_id FROM unnest($1::text[], $2::uuid[])
                AS k (tenant_id, account_id)
            UNION
            SELECT k.tenant_id, i.account_id
            FROM unnest($3::text[], $4::text[], $5::text[])
                AS k (tenant_id, provider, provider_id)
            CROSS JOIN LATERAL (
                SELECT account_id FROM identities
                WHERE tenant_id = k.tenant_id AND provider = k.provider
                    AND provider_id = k.provider_id AND account_id IS NOT NULL
                OFFSET 0) i
            UNION
            SELECT k.tenant_id, d.account_id
            FROM unnest($6::text[], $7::bytea[]) AS k (tenant_id, digest)
            CROSS JOIN LATERAL (
                SELECT account_id FROM addresses
                WHERE tenant_id = k.tenant_id AND digest = k.digest
                OFFSET 0) d
        ), up AS (
            SELECT tenant_id, account_id FROM named
            UNION
            SELECT u.tenant_id, a.merged_into
            FROM up u
            CROSS JOIN LATERAL (
                SELECT merged_into FROM accounts
                WHERE tenant_id = u.tenant_id AND account_id = u.account_id
                    AND merged_into IS NOT NULL
                OFFSET 0) a
        ), family AS (
            SELECT tenant_id, account_id FROM up
            UNION
            SELECT f.tenant_id, a.account_id
            FROM family f
            CROSS JOIN LATERAL (
                SELECT account_id FROM accounts
                WHERE merged_into = f.account_id AND tenant_id IS NOT DISTINCT FROM f.tenant_id
                OFFSET 0) a
        )
        """

    private static let list: SelectList =
        [
            "k.tenant_id", "k.account_id", "x.position", "a.merged_into",
            "coalesce(a.legal_holds, '{}') AS legal_holds",
        ] + AccountColumns.selected
    private static let tenant = list["k.tenant_id"]
    private static let account = list["k.account_id"]
    private static let erasedPosition = list["x.position"]
    private static let legalHolds = list["legal_holds"]
    private static let mergedInto = list["a.merged_into"]
    private static let columns = AccountColumns(in: list)

    private static let statement = Statement(
        "load_accounts",
        """
        \(family)
        SELECT \(list.sql)
        FROM family k
        LEFT JOIN LATERAL (
            SELECT position FROM erasures
            WHERE tenant_id = k.tenant_id AND account_id = k.account_id
            OFFSET 0) x ON true
        LEFT JOIN LATERAL (
            SELECT * FROM accounts
            WHERE tenant_id = k.tenant_id AND account_id = k.account_id
            OFFSET 0) a ON true
        \(AccountColumns.joined)
        """)

    static func call(_ keys: BatchKeys) -> Call {
        Call(statement, parameters(keys))
    }

    /// Returns the parameters of ``family``.
    static func parameters(_ keys: BatchKeys) -> [Parameter] {
        let addresses = keys.addresses.flatMap { tenant, names in
            names.map { (tenant: tenant, name: $0.name) }
        }
        return [
            .texts(keys.accounts.tenants.map { $0.description }), .uuids(keys.accounts.ids),
            .texts(keys.holderSubjects.tenants.map { $0.description }),
            .texts(keys.holderSubjects.subjects.map { $0.provider.description }),
            .texts(keys.holderSubjects.subjects.map { $0.providerID }),
            .texts(addresses.map { $0.tenant.description }),
            .byteArrays(addresses.map { $0.name.digest.bytes }),
        ]
    }

    static func read(
        _ result: QueryResult, into tenants: [TenantID: TenantBatch]
    ) throws {
        for row in 0..<result.rowCount {
            guard let batch = try tenants[result.tenant(row, tenant)] else { continue }
            let id = AccountID(bits: try result.uuid(row, account))
            if let position = try result.optionalInt8(row, erasedPosition) {
                batch.state.ledger.load(.erased(id, at: LogPosition(position)))
                continue
            }
            try columns.read(result, row, into: batch)
            let holds = try result.uuidArray(row, legalHolds).map { HoldID(bits: $0) }
            batch.state.ledger.load(holds, on: id)
            if let survivor = try result.optionalUUID(row, mergedInto) {
                batch.state.ledger.load(mergedInto: AccountID(bits: survivor), of: id)
            }
        }
    }
}

extension QueryResult {
    /// A tenant's name; damage when it breaks the grammar.
    package func tenant(_ row: Int, _ column: Int) throws -> TenantID {
        guard let tenant = TenantID(try text(row, column)) else {
            throw BatchFault.damaged("a tenant's name")
        }
        return tenant
    }
}

extension Account {
    /// Returns the state that a command needs of an erased account, which no event will touch
    /// again.
    fileprivate static func erased(_ id: AccountID, at position: LogPosition) -> Account {
        Account(
            id: id, openedPosition: LogPosition(0), nextSequence: 0, lastLeaf: .zero,
            lastPosition: position, links: [], erasedPosition: position)
    }
}
