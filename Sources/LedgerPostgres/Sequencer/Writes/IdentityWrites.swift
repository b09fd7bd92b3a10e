import Ledger
import Postgres

/// The identities that a batch named or moved.
enum IdentityWrites {
    private static let insertIdentities = Statement(
        "insert_identities",
        """
        INSERT INTO identities (tenant_id, provider, provider_id, identity_id, account_id,
            last_account_id, linked_at, linked_position)
        SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::uuid[], $5::uuid[],
            $6::uuid[], $7::timestamptz[], $8::bigint[])
        """)

    private static let updateIdentities = Statement(
        "update_identities",
        """
        WITH written AS (
            UPDATE identities i
            SET account_id = k.account_id, last_account_id = k.last_account_id,
                linked_at = k.linked_at, linked_position = k.linked_position
            FROM unnest($1::text[], $2::text[], $3::text[], $4::uuid[], $5::uuid[], $6::uuid[],
                $7::timestamptz[], $8::bigint[])
                AS k (tenant_id, provider, provider_id, identity_id, account_id, last_account_id,
                    linked_at, linked_position)
            CROSS JOIN LATERAL (
                SELECT ctid FROM identities
                WHERE tenant_id = k.tenant_id AND provider = k.provider
                    AND provider_id = k.provider_id AND identity_id = k.identity_id
                OFFSET 0) place
            WHERE i.ctid = place.ctid
            RETURNING 1)
        SELECT ledger_expect(count(*), $9::bigint, 'identities') FROM written
        """)

    private struct Columns {
        var tenants: [String] = []
        var subjects: [ProviderIdentity] = []
        var identities: [Identity] = []

        mutating func add(_ tenant: TenantID, _ subject: ProviderIdentity, _ identity: Identity) {
            tenants.append(tenant.description)
            subjects.append(subject)
            identities.append(identity)
        }

        var parameters: [Parameter] {
            [
                .texts(tenants), .texts(subjects.map { $0.provider.description }),
                .texts(subjects.map { $0.providerID }), .uuids(identities.map { $0.id.bits }),
                .optionalUUIDs(identities.map { $0.account?.bits }),
                .uuids(identities.map { $0.lastAccount.bits }),
                .timestamps(identities.map { $0.linkedAt.microseconds }),
                .int8s(identities.map { $0.linkedPosition.value }),
            ]
        }
    }

    /// Moves identities that had a row, those that go with an account in the same batch included.
    static func moves(in batches: [TenantBatch]) -> [Call] {
        let moved = columns(of: batches) { batch, identity in
            !batch.changes.identitiesNamed.contains(identity.id)
        }
        guard !moved.identities.isEmpty else { return [] }
        return [Call(updateIdentities, moved.parameters + [.int8(Int64(moved.identities.count))])]
    }

    /// Adds identities that the batch named.
    static func names(in batches: [TenantBatch]) -> [Call] {
        let named = columns(of: batches) { batch, identity in
            batch.changes.identitiesNamed.contains(identity.id)
                && !batch.state.ledger.isForgotten(identity)
        }
        return named.identities.isEmpty ? [] : [Call(insertIdentities, named.parameters)]
    }

    private static func columns(
        of batches: [TenantBatch], where isWanted: (TenantBatch, Identity) -> Bool
    ) -> Columns {
        var columns = Columns()
        for batch in batches {
            for id in batch.changes.identitiesTouched {
                guard let identity = batch.state.ledger.identities[id],
                    let subject = batch.subjects[id], isWanted(batch, identity)
                else { continue }
                columns.add(batch.tenant, subject, identity)
            }
        }
        return columns
    }
}
