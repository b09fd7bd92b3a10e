import Ledger
import Postgres

/// Writes the net effect of a page into a table of `user_providers`.
///
/// A row comes with the link and goes with the unlink; a sign-in that discloses an e-mail updates
/// it.
struct UserProvidersTable {
    private let name: String

    init(_ name: String) {
        self.name = name
    }

    // Each key is looked up by itself: a join is planned while the table is young, as a scan of
    // all rows of the tenant, and the plan stays when they have become many.
    private var found: String {
        """
        CROSS JOIN LATERAL (
            SELECT ctid, email FROM \(name)
            WHERE tenant_id = $1 AND user_id = k.user_id AND identity_id = k.identity_id
            OFFSET 0) u
        """
    }

    private var delete: Statement {
        Statement(
            "\(name)_delete",
            """
            WITH written AS (
                DELETE FROM \(name) t
                USING unnest($2::uuid[], $3::uuid[]) AS k (user_id, identity_id) \(found)
                WHERE t.ctid = u.ctid
                RETURNING 1)
            SELECT ledger_expect(count(*), $4::bigint, 'user_providers') FROM written
            """)
    }

    // An account without rows is none to worry about: what it had may have gone in a repair.
    private var erase: Statement {
        Statement(
            "\(name)_erase",
            "DELETE FROM \(name) WHERE tenant_id = $1 AND user_id = ANY ($2::uuid[])")
    }

    // Most sign-ins disclose the e-mail that is there already: such a row is not written.
    private var updateEmails: Statement {
        Statement(
            "\(name)_update_emails",
            """
            WITH found AS MATERIALIZED (
                SELECT u.ctid AS place, k.email, u.email IS DISTINCT FROM k.email AS differs
                FROM unnest($2::uuid[], $3::uuid[], $4::text[]) AS k (user_id, identity_id, email)
                \(found)
            ), written AS (
                UPDATE \(name) t SET email = f.email FROM found f
                WHERE f.differs AND t.ctid = f.place)
            SELECT ledger_expect(count(*), $5::bigint, 'user_providers') FROM found
            """)
    }

    /// The statement that rows go through, in the order of ``add(_:_:of:to:)``.
    var copy: String {
        """
        COPY \(name) (tenant_id, user_id, identity_id, provider, provider_id, email, linked_at,
            linked_position) FROM STDIN (FORMAT binary)
        """
    }

    /// Adds a row for ``copy``.
    static func add(
        _ key: UserProvidersFold.Key, _ row: UserProvidersFold.Row, of tenant: String,
        to rows: inout CopyRows
    ) {
        rows.row(columns: 8)
        rows.text(tenant)
        rows.uuid(key.account.bits)
        rows.uuid(key.identity.bits)
        rows.text(row.provider.description)
        rows.text(row.providerID)
        rows.text(row.email)
        rows.timestamp(row.linkedAt.microseconds)
        rows.int8(row.linkedPosition.value)
    }

    /// Writes changes inside the transaction that is open; raises when a row is not there.
    func write(
        _ net: UserProvidersFold.Net, of tenant: TenantID, through rows: inout CopyRows,
        on connection: Connection
    ) throws(PostgresError) {
        let tenant = tenant.description
        var deleted: [UserProvidersFold.Key] = []
        var disclosed: [UserProvidersFold.Key] = []
        var emails: [String] = []
        rows.removeAll()
        for (key, change) in net.changes {
            if change.deletes { deleted.append(key) }
            if let row = change.insert { Self.add(key, row, of: tenant, to: &rows) }
            if let email = change.email {
                disclosed.append(key)
                emails.append(email)
            }
        }
        var calls: [Call] = []
        if !net.erased.isEmpty {
            calls.append(Call(erase, [.text(tenant), .uuids(net.erased.map(\.bits))]))
        }
        if !deleted.isEmpty {
            calls.append(
                Call(
                    delete,
                    [.text(tenant)] + Self.keys(deleted) + [.int8(Int64(deleted.count))]))
        }
        if !disclosed.isEmpty {
            calls.append(
                Call(
                    updateEmails,
                    [.text(tenant)] + Self.keys(disclosed)
                        + [.texts(emails), .int8(Int64(disclosed.count))]))
        }
        _ = try connection.pipeline(calls)
        if rows.count > 0 { try connection.copyIn(copy, &rows) }
    }

    private static func keys(_ keys: [UserProvidersFold.Key]) -> [Parameter] {
        [.uuids(keys.map(\.account.bits)), .uuids(keys.map(\.identity.bits))]
    }
}
