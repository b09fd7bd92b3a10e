import Ledger
import LedgerEngine
import Postgres

/// The writes of identities that a batch named or moved.
enum IdentityWrites {
    private static let insertIdentities = RowsStatement(
        "insert_identities",
        [
            "tenant_id": "text", "provider": "text", "provider_id": "text", "identity_id": "uuid",
            "account_id": "uuid", "last_account_id": "uuid", "linked_at": "timestamptz",
            "linked_position": "bigint", "mac": "bytea", "unlink_due": "timestamptz",
        ]
    ) { rows in
        """
        INSERT INTO identities (tenant_id, provider, provider_id, identity_id, account_id,
            last_account_id, linked_at, linked_position, mac, unlink_due)
        SELECT * FROM \(rows)
        """
    }

    private static let updateIdentities = RowsStatement(
        "update_identities",
        [
            "tenant_id": "text", "provider": "text", "provider_id": "text", "identity_id": "uuid",
            "account_id": "uuid", "last_account_id": "uuid", "linked_at": "timestamptz",
            "linked_position": "bigint", "mac": "bytea", "unlink_due": "timestamptz",
            "former_email": "bytea",
        ]
    ) { rows in
        """
        WITH written AS (
            UPDATE identities i
            SET account_id = k.account_id, last_account_id = k.last_account_id,
                linked_at = k.linked_at, linked_position = k.linked_position,
                mac = k.mac, unlink_due = k.unlink_due, former_email = k.former_email
            FROM \(rows)
            CROSS JOIN LATERAL (
                SELECT ctid FROM identities
                WHERE tenant_id = k.tenant_id AND provider = k.provider
                    AND provider_id = k.provider_id AND identity_id = k.identity_id
                OFFSET 0) place
            WHERE i.ctid = place.ctid
            RETURNING 1)
        SELECT ledger_expect(count(*), $12::bigint, 'identities') FROM written
        """
    }

    private struct Columns {
        var tenants: [String] = []
        var subjects: [Subject] = []
        var identities: [Identity] = []
        var macs: [[UInt8]] = []
        /// The digests of the e-mails that unlinked identities had, empty for none; nil to be computed later.
        var formerEmails: [[UInt8]?] = []

        mutating func add(
            _ batch: TenantBatch, _ subject: Subject, _ identity: Identity
        ) throws(BatchFault) {
            tenants.append(batch.tenant.description)
            subjects.append(subject)
            identities.append(identity)
            macs.append(
                try batch.macs.mac(of: .identity(identity, named: subject, of: batch.tenant)))
            // An anonymous identity never discloses one.
            let isUpgraded = batch.changes.identitiesUpgraded.contains(identity.id)
            formerEmails.append(isUpgraded && identity.account == nil ? [] : nil)
        }

        var columns: [Parameter] {
            [
                .texts(tenants), .texts(subjects.map { $0.provider.description }),
                .texts(subjects.map { $0.providerID }), .uuids(identities.map { $0.id.bits }),
                .optionalUUIDs(identities.map { $0.account?.bits }),
                .uuids(identities.map { $0.lastAccount.bits }),
                .timestamps(identities.map { $0.linkedAt.microseconds }),
                .int8s(identities.map { $0.linkedPosition.value }), .byteArrays(macs),
                .optionalTimestamps(identities.map { $0.unlinkDue?.microseconds }),
            ]
        }
    }

    /// Moves identities that had a row, including those erased with an account in the same batch.
    static func moves(in batches: [TenantBatch]) throws(BatchFault) -> [Call] {
        let moved = try columns(of: batches, areNamed: false)
        guard !moved.identities.isEmpty else { return [] }
        let count = moved.identities.count
        let columns = moved.columns + [.optionalByteArrays(moved.formerEmails)]
        return [updateIdentities.call(rows: count, columns, [.int8(Int64(count))])]
    }

    /// Inserts identities that the batch named.
    static func names(in batches: [TenantBatch]) throws(BatchFault) -> [Call] {
        let named = try columns(of: batches, areNamed: true)
        guard !named.identities.isEmpty else { return [] }
        return [insertIdentities.call(rows: named.identities.count, named.columns)]
    }

    private static func columns(
        of batches: [TenantBatch], areNamed: Bool
    ) throws(BatchFault) -> Columns {
        var columns = Columns()
        for batch in batches {
            for id in batch.changes.identitiesTouched
            where batch.changes.identitiesNamed.contains(id) == areNamed {
                guard let identity = batch.state.ledger.identities[id],
                    let subject = batch.subjects[id],
                    !areNamed || !batch.state.ledger.isForgotten(identity)
                else { continue }
                try columns.add(batch, subject, identity)
            }
        }
        return columns
    }
}
