import Ledger
import Postgres

/// The identities of the subjects that commands claim, those without an account included.
enum IdentityLoad {
    private static let statement = Statement(
        "load_identities",
        """
        SELECT i.tenant_id, i.provider, i.provider_id, i.identity_id, i.account_id,
               i.last_account_id, i.linked_at, i.linked_position
        FROM unnest($1::text[], $2::text[], $3::text[]) AS k (tenant_id, provider, provider_id)
        CROSS JOIN LATERAL (
            SELECT * FROM identities
            WHERE tenant_id = k.tenant_id AND provider = k.provider
                AND provider_id = k.provider_id
            OFFSET 0) i
        """)

    static func call(_ subjects: BatchKeys.Subjects) -> Call {
        Call(
            statement,
            [
                .texts(subjects.tenants), .texts(subjects.providers), .texts(subjects.providerIDs),
            ])
    }

    static func read(_ result: QueryResult, into tenants: [TenantID: TenantBatch]) throws {
        for row in 0..<result.rowCount {
            let batch = try tenants.batch(result, row)
            let provider = try result.provider(row, 1)
            let id = IdentityID(bits: try result.uuid(row, 3))
            guard
                let subject = ProviderIdentity(
                    provider: provider, providerID: try result.text(row, 2))
            else { throw BatchFault.damaged("identities.provider_id") }
            batch.state.directory[subject] = id
            batch.subjects[id] = subject
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
