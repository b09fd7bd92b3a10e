import Ledger
import LedgerEngine
import Postgres

/// The writes of external ids that accounts got in a batch.
enum NameWrites {
    private static let insert = RowsStatement(
        "insert_names",
        [
            "tenant_id": "text", "source": "text", "external_id": "text", "account_id": "uuid",
            "position": "bigint", "mac": "bytea",
        ]
    ) { rows in
        """
        INSERT INTO names (tenant_id, source, external_id, account_id, position, mac)
        SELECT * FROM \(rows)
        """
    }

    /// Inserts the names that accounts got and still have.
    ///
    /// - Throws: `BatchFault.damaged` if no key authenticates a row.
    static func calls(for batches: [TenantBatch]) throws(BatchFault) -> [Call] {
        var tenants: [String] = []
        var names: [ExternalName] = []
        var held: [HeldName] = []
        var macs: [[UInt8]] = []
        for batch in batches {
            for (name, position) in batch.changes.accountsNamed {
                guard let given = batch.state.ledger.names[position] else { continue }
                tenants.append(batch.tenant.description)
                names.append(name)
                held.append(given)
                macs.append(try batch.macs.mac(of: .name(given, name, of: batch.tenant)))
            }
        }
        guard !names.isEmpty else { return [] }
        return [
            insert.call(
                rows: names.count,
                [
                    .texts(tenants), .texts(names.map(\.source.description)),
                    .texts(names.map(\.id)), .uuids(held.map(\.account.bits)),
                    .int8s(held.map(\.position.value)), .byteArrays(macs),
                ])
        ]
    }
}
