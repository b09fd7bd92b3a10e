import Ledger
import LedgerEngine
import Postgres

/// The writes of addresses that accounts got or released in a batch.
enum AddressWrites {
    private static let insert = Statement(
        "insert_address",
        """
        INSERT INTO addresses (tenant_id, address_id, kind, digest, key_id, account_id, position,
            former_of, kept_until, mac)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
        """)

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
        var calls: [Call] = []
        for batch in batches {
            let names = Dictionary(
                batch.changes.addressesNamed.map { ($0.address, $0.name) },
                uniquingKeysWith: { _, last in last })
            for (id, name) in names {
                guard let address = batch.state.ledger.addresses[id] else { continue }
                let mac = try batch.macs.mac(
                    of: .address(address, named: name, of: batch.tenant))
                calls.append(
                    Call(
                        insert,
                        [
                            .text(batch.tenant.description), .uuid(id.bits),
                            .text(name.kind.rawValue), .bytes(name.digest.bytes), .text(name.key),
                            .uuid(address.account.bits), .int8(address.position.value),
                            address.formerOf.map { .uuid($0.bits) } ?? .null,
                            address.keptUntil.map { .timestamp($0.microseconds) } ?? .null,
                            .bytes(mac),
                        ]))
            }
        }
        return calls
    }
}
