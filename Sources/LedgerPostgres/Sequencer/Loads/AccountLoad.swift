import Ledger
import Postgres

/// The accounts that a batch touches, each with all its links and its key: the callers', those of the
/// sessions, and the holders of the subjects that are claimed.
enum AccountLoad {
    private static let statement = Statement(
        "load_accounts",
        """
        WITH wanted AS (
            SELECT * FROM unnest($1::text[], $2::uuid[]) AS k (tenant_id, account_id)
            UNION
            SELECT k.tenant_id, s.account_id
            FROM unnest($3::text[], $4::uuid[]) AS k (tenant_id, session_id)
            CROSS JOIN LATERAL (
                SELECT account_id FROM sessions
                WHERE tenant_id = k.tenant_id AND session_id = k.session_id
                OFFSET 0) s
            UNION
            SELECT k.tenant_id, i.account_id
            FROM unnest($5::text[], $6::text[], $7::text[]) AS k (tenant_id, provider, provider_id)
            CROSS JOIN LATERAL (
                SELECT account_id FROM identities
                WHERE tenant_id = k.tenant_id AND provider = k.provider
                    AND provider_id = k.provider_id
                OFFSET 0) i
            WHERE i.account_id IS NOT NULL
        )
        SELECT a.tenant_id, a.account_id, a.opened_position, a.next_seq, a.last_leaf,
               a.last_position, k.wrapping_key, k.wrapped_key,
               i.identity_id, i.provider, i.provider_id, i.linked_at, i.linked_position
        FROM wanted w
        CROSS JOIN LATERAL (
            SELECT * FROM accounts
            WHERE tenant_id = w.tenant_id AND account_id = w.account_id
            OFFSET 0) a
        LEFT JOIN LATERAL (
            SELECT * FROM account_keys
            WHERE tenant_id = w.tenant_id AND account_id = w.account_id
            OFFSET 0) k ON true
        LEFT JOIN LATERAL (
            SELECT * FROM identities
            WHERE tenant_id IS NOT DISTINCT FROM w.tenant_id AND account_id = w.account_id
            OFFSET 0) i ON true
        """)

    static func call(_ keys: BatchKeys) -> Call {
        Call(
            statement,
            [
                .texts(keys.accounts.tenants), .uuids(keys.accounts.ids),
                .texts(keys.sessions.tenants), .uuids(keys.sessions.ids),
                .texts(keys.subjects.tenants), .texts(keys.subjects.providers),
                .texts(keys.subjects.providerIDs),
            ])
    }

    /// One row a link; an account without links has one row without.
    static func read(
        _ result: QueryResult, into tenants: [TenantID: TenantBatch], keyring: WrappingKeyring
    ) throws {
        var links: [TenantID: [AccountID: [Account.Link]]] = [:]
        var first: [TenantID: [AccountID: Int]] = [:]
        for row in 0..<result.rowCount {
            let batch = try tenants.batch(result, row)
            let account = AccountID(bits: try result.uuid(row, 1))
            if first[batch.tenant]?[account] == nil {
                first[batch.tenant, default: [:]][account] = row
            }
            guard let link = try link(result, row, of: account, into: batch) else { continue }
            links[batch.tenant, default: [:]][account, default: []].append(link)
        }
        for (tenant, rows) in first {
            guard let batch = tenants[tenant] else { continue }
            for (id, row) in rows {
                let own = (links[tenant]?[id] ?? []).sorted { $0.position < $1.position }
                try load(id, from: result, row, links: own, into: batch, keyring: keyring)
            }
        }
    }

    private static func load(
        _ id: AccountID, from result: QueryResult, _ row: Int, links: [Account.Link],
        into batch: TenantBatch, keyring: WrappingKeyring
    ) throws {
        let account = Account(
            id: id, openedPosition: LogPosition(try result.count(row, 2)),
            nextSequence: try result.count(row, 3), lastLeaf: try result.digest(row, 4),
            lastPosition: LogPosition(try result.count(row, 5)), links: links)
        batch.state.ledger.load(account)
        batch.loadedSequences[id] = account.nextSequence
        if let wrappingKey = try result.optionalText(row, 6),
            let wrapped = try result.optionalBytes(row, 7)
        {
            batch.accountKeys[id] = keyring.unwrap(
                wrapped, wrappingKey: wrappingKey, tenant: batch.tenant, account: id)
        }
    }

    private static func link(
        _ result: QueryResult, _ row: Int, of account: AccountID, into batch: TenantBatch
    ) throws -> Account.Link? {
        guard let bits = try result.optionalUUID(row, 8) else { return nil }
        let provider = try result.provider(row, 9)
        guard
            let subject = ProviderIdentity(provider: provider, providerID: try result.text(row, 10))
        else { throw BatchFault.damaged("identities.provider_id") }
        let link = Account.Link(
            identity: IdentityID(bits: bits), provider: provider,
            linkedAt: Timestamp(microseconds: try result.timestamp(row, 11)),
            position: LogPosition(try result.count(row, 12)))
        batch.subjects[link.identity] = subject
        batch.state.ledger.load(
            Identity(
                id: link.identity, provider: provider, account: account, lastAccount: account,
                linkedAt: link.linkedAt, linkedPosition: link.position))
        return link
    }
}
