import Ledger
import LedgerEngine
import Postgres

/// The phone numbers of accounts' identities: which of them their accounts have lost, and when the others were used last.
enum NumberLoad {
    /// The id of a number by the subject of its identity; null for a subject that is no id.
    ///
    /// The address has no row once it is lost. Some subjects of other providers look the same, and decisions read neither
    /// of these.
    private static let subject = """
        CASE WHEN provider_id ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
            THEN provider_id::uuid END
        """

    /// The condition that an identity `o` of the tenant `$1` is no number that its account has lost; `$4` has the
    /// providers of numbers.
    static let isNotLost = """
        (o.provider <> ALL ($4::text[]) OR EXISTS (
            SELECT FROM addresses d
            WHERE d.tenant_id = $1::text AND d.address_id = \(subject)
            OFFSET 0))
        """

    private static let statement = Statement(
        "load_numbers",
        """
        SELECT i.identity_id, d.address_id IS NULL AS is_lost,
            greatest(i.linked_at, e.recorded_at, u.used_at) AS used_at
        FROM unnest($2::uuid[]) AS k (account_id)
        CROSS JOIN LATERAL (
            SELECT identity_id, linked_at, \(subject) AS address_id FROM identities
            WHERE tenant_id = $1 AND last_account_id = k.account_id
            OFFSET 0) i
        LEFT JOIN LATERAL (
            SELECT address_id, kind, position FROM addresses
            WHERE tenant_id = $1 AND address_id = i.address_id
            OFFSET 0) d ON true
        LEFT JOIN LATERAL (
            SELECT recorded_at FROM events
            WHERE tenant_id = $1 AND position = d.position AND d.kind = 'phone'
            OFFSET 0) e ON true
        LEFT JOIN LATERAL (
            SELECT max(greatest(opened_at, refresh_exchanged_at)) AS used_at FROM sessions
            WHERE tenant_id = $1 AND identity_id = i.identity_id AND d.kind = 'phone') u ON true
        WHERE i.address_id IS NOT NULL AND d.kind IS DISTINCT FROM 'email'
        """)

    /// The lost numbers of the accounts that have claimed addresses: an account that has nothing else is handed over
    /// with the claim.
    private static let lost = Statement(
        "load_lost_numbers_of_claims",
        """
        WITH RECURSIVE \(AddressLoad.claimHolders)
        SELECT i.identity_id
        FROM holder k
        CROSS JOIN LATERAL (
            SELECT identity_id, \(subject) AS address_id FROM identities
            WHERE tenant_id = $1 AND last_account_id = k.account_id
            OFFSET 0) i
        WHERE i.address_id IS NOT NULL AND NOT EXISTS (
            SELECT FROM addresses WHERE tenant_id = $1 AND address_id = i.address_id
            OFFSET 0)
        """)

    static func call(_ accounts: Set<AccountID>, of tenant: TenantID) -> Call {
        Call(statement, [.text(tenant.description), .uuids(accounts.map(\.bits))])
    }

    static func call(claimsOf names: [BatchKeys.ProvedName], of tenant: TenantID) -> Call {
        Call(lost, [.text(tenant.description), .byteArrays(names.map(\.name.digest.bytes))])
    }

    /// Returns the parameter of ``isNotLost``.
    static func providers(of policy: TenantPolicy) -> Parameter {
        .names(policy.providers.filter { $0.value.type == .phone }.keys)
    }

    static func read(lost result: QueryResult, into batch: TenantBatch) throws {
        let identity = try result.column("identity_id")
        for row in 0..<result.rowCount {
            batch.state.lostNumbers.insert(IdentityID(bits: try result.uuid(row, identity)))
        }
    }

    static func read(_ result: QueryResult, into batch: TenantBatch) throws {
        let (identity, isLost) = (
            try result.column("identity_id"), try result.column("is_lost")
        )
        let usedAt = try result.column("used_at")
        for row in 0..<result.rowCount {
            let id = IdentityID(bits: try result.uuid(row, identity))
            if try result.bool(row, isLost) { batch.state.lostNumbers.insert(id) }
            batch.state.noteUse(
                of: id, at: Timestamp(microseconds: try result.timestamp(row, usedAt)))
        }
    }
}
