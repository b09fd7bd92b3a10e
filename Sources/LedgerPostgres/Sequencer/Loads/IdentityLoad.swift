package import Ledger
import LedgerEngine
package import Postgres

/// The identities that commands name with their last accounts; loaded with their subjects.
package enum IdentityLoad {
    /// Returns the columns of an identity with this alias, for ``identity(_:_:from:)``.
    package static func columns(_ i: String) -> String {
        """
        \(i).identity_id, \(i).provider, \(i).provider_id, \(i).account_id, \(i).last_account_id,
        \(i).linked_at, \(i).linked_position
        """
    }

    private static let statement = Statement(
        "load_identities",
        """
        SELECT k.tenant_id, \(columns("i")), i.mac
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
            let (identity, subject) = try Self.identity(result, row, from: 1)
            try batch.check(
                try result.optionalBytes(row, 8),
                of: .identity(identity, named: subject, of: batch.tenant), in: .identities)
            batch.subjects[identity.id] = subject
            batch.state.directory[subject] = identity.id
            guard batch.state.ledger.identities[identity.id] == nil else { continue }
            batch.state.ledger.load(identity)
        }
    }

    /// Reads ``columns(_:)``.
    package static func identity(
        _ result: QueryResult, _ row: Int, from first: Int
    ) throws -> (Identity, Subject) {
        let provider = try result.provider(row, first + 1)
        let identity = Identity(
            id: IdentityID(bits: try result.uuid(row, first)), provider: provider,
            account: try result.optionalUUID(row, first + 3).map(AccountID.init(bits:)),
            lastAccount: AccountID(bits: try result.uuid(row, first + 4)),
            linkedAt: Timestamp(microseconds: try result.timestamp(row, first + 5)),
            linkedPosition: LogPosition(try result.count(row, first + 6)))
        return (identity, try result.subject(row, first + 2, at: provider))
    }
}
