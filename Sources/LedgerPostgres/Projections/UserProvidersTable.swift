import Ledger
import LedgerEngine
import Postgres

/// Writes the net effect of a page into a table of `user_providers`.
///
/// A link inserts a row and an unlink deletes it; a sign-in that discloses an e-mail updates it.
struct UserProvidersTable {
    private let name: String

    init(_ name: String) {
        self.name = name
    }

    // Each key is an index look-up: a join is planned while the table is young, as a scan of all rows of the
    // tenant, and the plan remains when they have become many.
    private var found: String {
        """
        CROSS JOIN LATERAL (
            SELECT ctid, email, email_verified FROM \(name)
            WHERE tenant_id = $1 AND user_id = k.user_id AND identity_id = k.identity_id
            OFFSET 0) u
        """
    }

    private var delete: Statement {
        let keys = ArrayRows.sql(["user_id": "uuid", "identity_id": "uuid"], from: 2)
        return Statement(
            "\(name)_delete",
            """
            WITH written AS (
                DELETE FROM \(name) t
                USING \(keys) AS k \(found)
                WHERE t.tenant_id = $1 AND t.ctid = u.ctid
                RETURNING 1)
            SELECT ledger_expect(count(*), $4::bigint, 'user_providers') FROM written
            """)
    }

    // An account without rows is not an error: a repair may already have deleted them.
    private var erase: Statement {
        Statement(
            "\(name)_erase",
            "DELETE FROM \(name) WHERE tenant_id = $1 AND user_id = ANY ($2::uuid[])")
    }

    // Most sign-ins disclose the e-mail that is already stored: such a row is not written.
    private func updateEmails(on engine: DatabaseEngine) -> Statement {
        let keys = ArrayRows.sql(
            [
                "user_id": "uuid", "identity_id": "uuid", "email": "text",
                "email_verified": "boolean",
            ], from: 2)
        return Statement(
            "\(name)_update_emails",
            """
            WITH found AS MATERIALIZED (
                SELECT u.ctid AS place, k.email, k.email_verified,
                    (u.email, u.email_verified) IS DISTINCT FROM (k.email, k.email_verified)
                        AS differs
                FROM \(keys) AS k \(found)
            ), written AS (
                UPDATE \(name) t SET email = f.email, email_verified = f.email_verified FROM found f
                WHERE f.differs AND t.ctid = f.place\(engine.tenantOfPlaces))
            SELECT ledger_expect(count(*), $6::bigint, 'user_providers') FROM found
            """)
    }

    /// The COPY statement, with its columns in the order of ``add(_:_:of:to:)``.
    var copy: String {
        """
        COPY \(name) (tenant_id, user_id, identity_id, provider, provider_id, email,
            email_verified, linked_at, linked_position) FROM STDIN (FORMAT binary)
        """
    }

    /// Adds a row for ``copy``.
    static func add(
        _ key: UserProvidersFold.Key, _ row: UserProvidersFold.Row, of tenant: String,
        to rows: inout CopyRows
    ) {
        rows.row(columns: 9)
        rows.text(tenant)
        rows.uuid(key.account.bits)
        rows.uuid(key.identity.bits)
        rows.text(row.provider.description)
        rows.text(row.providerID)
        rows.text(row.email?.address)
        rows.bool(row.email?.isVerified)
        rows.timestamp(row.linkedAt.microseconds)
        rows.int8(row.linkedPosition.value)
    }

    /// Applies the steps of a page inside the open transaction; raises when a row is missing.
    func write(
        _ steps: [UserProvidersFold.Step], of tenant: TenantID, through rows: inout CopyRows,
        on connection: Connection
    ) throws(PostgresError) {
        for step in steps {
            switch step {
            case .changes(let net): try write(net, of: tenant, through: &rows, on: connection)
            case .merge(let fact): try merge(fact, of: tenant, on: connection)
            case .unmerge(let fact, let given):
                try unmerge(fact, giving: given, of: tenant, through: &rows, on: connection)
            case .address(let fact, let email):
                try change(fact, to: email, of: tenant, on: connection)
            }
        }
    }

    private func write(
        _ net: UserProvidersFold.Net, of tenant: TenantID, through rows: inout CopyRows,
        on connection: Connection
    ) throws(PostgresError) {
        let tenant = tenant.description
        var deleted: [UserProvidersFold.Key] = []
        var disclosed: [UserProvidersFold.Key] = []
        var emails: [Email] = []
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
                    updateEmails(on: try DatabaseEngine(of: connection)),
                    [.text(tenant)] + Self.keys(disclosed)
                        + [
                            .texts(emails.map(\.address)), .optionalBools(emails.map(\.isVerified)),
                            .int8(Int64(disclosed.count)),
                        ]))
        }
        _ = try connection.pipeline(calls)
        if rows.count > 0 { try connection.write(&rows, by: copy) }
    }

    private var move: Statement {
        Statement(
            "\(name)_move",
            """
            WITH written AS (
                UPDATE \(name) SET user_id = $3
                WHERE tenant_id = $1 AND user_id = $2 AND identity_id = ANY ($4::uuid[])
                RETURNING 1)
            SELECT ledger_expect(count(*), cardinality($4::uuid[]), 'user_providers') FROM written
            """)
    }

    private var free: Statement {
        Statement(
            "\(name)_free",
            """
            WITH written AS (
                DELETE FROM \(name)
                WHERE tenant_id = $1 AND user_id = $2 AND identity_id = ANY ($3::uuid[])
                RETURNING 1)
            SELECT ledger_expect(count(*), cardinality($3::uuid[]), 'user_providers') FROM written
            """)
    }

    /// Moves the rows of an absorbed account to the survivor, as a merge says; raises when one is missing.
    func merge(
        _ fact: AccountsMerged, of tenant: TenantID, on connection: Connection
    ) throws(PostgresError) {
        let tenant = Parameter.text(tenant.description)
        _ = try connection.pipeline([
            Call(free, [tenant, .uuid(fact.absorbed.bits), Self.identities(fact.dropped)]),
            Call(free, [tenant, .uuid(fact.survivor.bits), Self.identities(fact.replaced)]),
            Call(
                move,
                [
                    tenant, .uuid(fact.absorbed.bits), .uuid(fact.survivor.bits),
                    Self.identities(fact.moved),
                ]),
        ])
    }

    /// Writes the new text of an address into the rows of the identities whose subject it is.
    ///
    /// They may be none: an address stays with its account when its identities are unlinked.
    private func change(
        _ fact: AddressChanged, to email: Email, of tenant: TenantID, on connection: Connection
    ) throws(PostgresError) {
        _ = try connection.query(
            Statement(
                "\(name)_address",
                """
                UPDATE \(name) SET email = $4, email_verified = true
                WHERE tenant_id = $1 AND user_id = ANY ($2::uuid[]) AND provider_id = $3
                """),
            [
                .text(tenant.description), .uuids(fact.accounts.map(\.bits)),
                .text(fact.address.description), .text(email.address),
            ])
    }

    /// Deletes the returned rows of the survivor, and writes those that both accounts have again.
    func unmerge(
        _ fact: AccountsUnmerged, giving given: [UserProvidersFold.Key: UserProvidersFold.Row],
        of tenant: TenantID, through rows: inout CopyRows, on connection: Connection
    ) throws(PostgresError) {
        // Rows that the merge dropped are not the survivor's, so the number of deleted rows is unknown here.
        _ = try connection.query(
            Statement(
                "\(name)_unmerge",
                """
                DELETE FROM \(name)
                WHERE tenant_id = $1 AND user_id = $2 AND identity_id = ANY ($3::uuid[])
                """),
            [
                .text(tenant.description), .uuid(fact.survivor.bits),
                Self.identities(fact.returned),
            ])
        rows.removeAll()
        for (key, row) in given { Self.add(key, row, of: tenant.description, to: &rows) }
        if rows.count > 0 { try connection.write(&rows, by: copy) }
    }

    private static func identities(_ links: [Account.Link]) -> Parameter {
        .uuids(links.map(\.identity.bits))
    }

    private static func keys(_ keys: [UserProvidersFold.Key]) -> [Parameter] {
        [.uuids(keys.map(\.account.bits)), .uuids(keys.map(\.identity.bits))]
    }
}
