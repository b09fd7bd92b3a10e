import Ledger
import Postgres

/// The identities that commands name beside their last accounts, with their subjects.
enum IdentityLoad {
    private static let statement = Statement(
        "load_identities",
        """
        SELECT k.tenant_id, i.identity_id, i.provider, i.provider_id, i.account_id,
               i.last_account_id, i.linked_at, i.linked_position
        FROM unnest($1::text[], $2::uuid[], $3::uuid[]) AS k (tenant_id, account_id, identity_id)
        CROSS JOIN LATERAL (
            SELECT * FROM identities
            WHERE last_account_id = k.account_id AND tenant_id IS NOT DISTINCT FROM k.tenant_id
                AND identity_id = k.identity_id
            OFFSET 0) i
        """)

    static func call(_ identities: BatchKeys.Identities) -> Call {
        Call(
            statement,
            [
                .texts(identities.tenants.map { $0.description }), .uuids(identities.accounts),
                .uuids(identities.ids),
            ])
    }

    static func read(
        _ result: QueryResult, into tenants: [TenantID: TenantBatch]
    ) throws {
        for row in 0..<result.rowCount {
            guard let batch = try tenants[result.tenant(row, 0)] else { continue }
            let id = IdentityID(bits: try result.uuid(row, 1))
            let provider = try result.provider(row, 2)
            let subject = try result.subject(row, 3, at: provider)
            batch.subjects[id] = subject
            batch.state.directory[subject] = id
            guard batch.state.ledger.identities[id] == nil else { continue }
            batch.state.ledger.load(
                Identity(
                    id: id, provider: provider,
                    account: try result.optionalUUID(row, 4).map(AccountID.init(bits:)),
                    lastAccount: AccountID(bits: try result.uuid(row, 5)),
                    linkedAt: Timestamp(microseconds: try result.timestamp(row, 6)),
                    linkedPosition: LogPosition(try result.count(row, 7))))
        }
    }
}
