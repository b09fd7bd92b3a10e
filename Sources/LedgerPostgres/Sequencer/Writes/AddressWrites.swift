import Ledger
import LedgerEngine
import Postgres

/// The writes of addresses that accounts got or released in a batch.
enum AddressWrites {
    private static let insert = RowsStatement(
        "insert_addresses",
        [
            "tenant_id": "text", "address_id": "uuid", "kind": "text", "digest": "bytea",
            "key_id": "text", "account_id": "uuid", "position": "bigint", "former_of": "uuid",
            "kept_until": "timestamptz", "claimed": "boolean", "mac": "bytea",
        ]
    ) { rows in
        """
        INSERT INTO addresses (tenant_id, address_id, kind, digest, key_id, account_id, position,
            former_of, kept_until, claimed, mac)
        SELECT * FROM \(rows)
        """
    }

    private static let delete = Statement(
        "delete_addresses",
        """
        WITH gone AS (
            DELETE FROM addresses WHERE tenant_id = $1 AND address_id = ANY ($2::uuid[])
            RETURNING 1)
        SELECT ledger_expect(count(*), $3::bigint, 'addresses') FROM gone
        """)

    /// Deletes the rows of addresses that were released or replaced.
    static func releases(in batches: [TenantBatch]) -> [Call] {
        batches.compactMap { batch in
            let gone = batch.loadedAddresses.intersection(batch.changes.addressesReleased)
            guard !gone.isEmpty else { return nil }
            return Call(
                delete,
                [
                    .text(batch.tenant.description), .uuids(gone.map(\.bits)),
                    .int8(Int64(gone.count)),
                ])
        }
    }

    /// Inserts the addresses that accounts got and still have.
    ///
    /// - Throws: `BatchFault.damaged` if no key authenticates a row.
    static func names(in batches: [TenantBatch]) throws(BatchFault) -> [Call] {
        var tenants: [String] = []
        var held: [HeldAddress] = []
        var given: [AddressName] = []
        var macs: [[UInt8]] = []
        for batch in batches {
            var names = Dictionary(
                batch.changes.addressesNamed.map { ($0.address, $0.name) },
                uniquingKeysWith: { _, last in last })
            // Each once, in the order of the log.
            for (_, id) in batch.changes.addressesNamed {
                guard let name = names.removeValue(forKey: id),
                    let address = batch.state.ledger.addresses[id]
                else { continue }
                macs.append(
                    try batch.macs.mac(of: .address(address, named: name, of: batch.tenant)))
                tenants.append(batch.tenant.description)
                held.append(address)
                given.append(name)
            }
        }
        guard !held.isEmpty else { return [] }
        return [
            insert.call(
                rows: held.count,
                [
                    .texts(tenants), .uuids(held.map(\.id.bits)),
                    .texts(given.map(\.kind.rawValue)), .byteArrays(given.map(\.digest.bytes)),
                    .texts(given.map(\.key)), .uuids(held.map(\.account.bits)),
                    .int8s(held.map(\.position.value)),
                    .optionalUUIDs(held.map { $0.formerOf?.bits }),
                    .optionalTimestamps(held.map { $0.keptUntil?.microseconds }),
                    .bools(held.map(\.isClaimed)),
                    .byteArrays(macs),
                ])
        ]
    }
}
