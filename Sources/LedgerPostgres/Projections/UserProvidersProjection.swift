import Ledger
import Postgres

/// The `user_providers` read model: which identities each account can be signed in with.
///
/// A row comes with the link and goes with the unlink; a sign-in that discloses an e-mail updates
/// it.
struct UserProvidersProjection: Projection {
    let name = ProjectionName.userProviders
    let version: Int32 = 1

    private let delete: Statement
    private let insert: Statement
    private let updateEmails: Statement

    /// Folds into a table of the read model's shape.
    init(table: String) {
        // Each key is looked up by itself: a join is planned while the table is young, as a scan of
        // all rows of the tenant, and the plan stays when they have become many.
        let found = """
            CROSS JOIN LATERAL (
                SELECT ctid, email FROM \(table)
                WHERE tenant_id = $1 AND user_id = k.user_id AND identity_id = k.identity_id
                OFFSET 0) u
            """
        delete = Statement(
            "\(table)_delete",
            """
            WITH written AS (
                DELETE FROM \(table) t
                USING unnest($2::uuid[], $3::uuid[]) AS k (user_id, identity_id) \(found)
                WHERE t.ctid = u.ctid
                RETURNING 1)
            SELECT ledger_expect(count(*), $4::bigint, 'user_providers') FROM written
            """)
        insert = Statement(
            "\(table)_insert",
            """
            INSERT INTO \(table) (tenant_id, user_id, identity_id, provider, provider_id, email,
                linked_at, linked_position)
            SELECT $1, * FROM unnest($2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[],
                $7::timestamptz[], $8::bigint[])
            """)
        // Most sign-ins disclose the e-mail that is there already: such a row is not written.
        updateEmails = Statement(
            "\(table)_update_emails",
            """
            WITH found AS MATERIALIZED (
                SELECT u.ctid AS place, k.email, u.email IS DISTINCT FROM k.email AS differs
                FROM unnest($2::uuid[], $3::uuid[], $4::text[]) AS k (user_id, identity_id, email)
                \(found)
            ), written AS (
                UPDATE \(table) t SET email = f.email FROM found f
                WHERE f.differs AND t.ctid = f.place)
            SELECT ledger_expect(count(*), $5::bigint, 'user_providers') FROM found
            """)
    }

    /// The net effect of a page needs nothing that is in the table.
    func loads(for events: ArraySlice<DisclosedEvent>, in tenant: TenantID) -> [Call] { [] }

    func fold(
        _ events: ArraySlice<DisclosedEvent>, onto loaded: [QueryResult], in tenant: TenantID
    ) throws(PostgresError) -> FoldedPage {
        var fold = UserProvidersFold()
        var fault: LogDamage?
        for event in events {
            do throws(LogDamage) {
                try fold.apply(event)
            } catch {
                fault = error
                break
            }
        }
        return FoldedPage(calls: calls(for: fold.changes, in: tenant), fault: fault)
    }

    private func calls(
        for changes: [UserProvidersFold.Key: UserProvidersFold.Change], in tenant: TenantID
    ) -> [Call] {
        let tenant = Parameter.text(tenant.description)
        let deleted = changes.filter(\.value.deletes).map(\.key)
        let inserted = changes.compactMap { key, change in
            change.insert.map { (key: key, row: $0) }
        }
        let disclosed = changes.compactMap { key, change in
            change.email.map { (key: key, email: $0) }
        }
        var calls: [Call] = []
        if !deleted.isEmpty {
            calls.append(
                Call(delete, [tenant] + Self.keys(deleted) + [.int8(Int64(deleted.count))]))
        }
        if !inserted.isEmpty {
            let rows = inserted.map(\.row)
            calls.append(
                Call(
                    insert,
                    [tenant] + Self.keys(inserted.map(\.key)) + [
                        .texts(rows.map(\.provider.description)),
                        .optionalTexts(rows.map(\.providerID)), .optionalTexts(rows.map(\.email)),
                        .timestamps(rows.map(\.linkedAt.microseconds)),
                        .int8s(rows.map(\.linkedPosition.value)),
                    ]))
        }
        if !disclosed.isEmpty {
            calls.append(
                Call(
                    updateEmails,
                    [tenant] + Self.keys(disclosed.map(\.key)) + [
                        .texts(disclosed.map(\.email)), .int8(Int64(disclosed.count)),
                    ]))
        }
        return calls
    }

    private static func keys(_ keys: [UserProvidersFold.Key]) -> [Parameter] {
        [.uuids(keys.map(\.account.bits)), .uuids(keys.map(\.identity.bits))]
    }
}
