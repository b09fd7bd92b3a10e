import Ledger
import LedgerEngine
import Postgres

extension Rewrapping {
    private static let list: SelectList =
        ["t.tenant_id", "t.mac"] + AddressLoad.Columns.selected("t")
    private static let columns = AddressLoad.Columns("t", in: list)
    private static let mac = list["t.mac"]
    static let addresses = AllTenants.page(
        of: "addresses", list, id: "address_id", key: "key_id")

    private static let storeAddresses = Statement(
        "rewrap_store_addresses",
        """
        UPDATE addresses d SET digest = n.new, key_id = $2::text, mac = n.mac
        FROM unnest($3::uuid[], $4::bytea[], $5::bytea[], $6::bytea[]) n (address, old, new, mac)
        WHERE d.tenant_id = $1 AND d.address_id = n.address AND d.digest = n.old
            AND NOT EXISTS (SELECT FROM tenant_moves WHERE tenant_id = $1)
        """)

    /// Stores the digests of addresses by the current key.
    ///
    /// Only the event that confirmed an address has its text, and only a text with the stored digest by the
    /// former key is accepted.
    func renameAddresses(
        _ page: Page, of tenant: TenantID, on connection: Connection, report: inout RewrapReport
    ) throws {
        let current = keyring.currentID
        let found = try page.rows.map { row in
            (
                held: try Self.columns.read(page.result, row),
                mac: try page.result.optionalBytes(row, Self.mac)
            )
        }
        let texts = try DisclosureReader(keyring: keyring).texts(
            of: found.map(\.held.address), in: tenant, on: connection)
        var addresses: [UInt128] = []
        var old: [[UInt8]] = []
        var new: [[UInt8]] = []
        var macs: [[UInt8]?] = []
        for (held, stored) in found {
            let (address, name) = held
            let all = texts[address.id].map { names($0, address.kind, tenant) } ?? []
            guard all.contains(name), let next = all.first(where: { $0.key == current }),
                let renewed = keyring.macs.mac(
                    replacing: stored, of: .address(address, named: name, of: tenant),
                    by: .address(address, named: next, of: tenant))
            else {
                report.addUnreadable(.addresses, address.id.description)
                continue
            }
            addresses.append(address.id.bits)
            old.append(name.digest.bytes)
            new.append(next.digest.bytes)
            macs.append(renewed)
        }
        let renamed = try connection.query(
            Self.storeAddresses,
            [
                .text(tenant.description), .text(current), .uuids(addresses), .byteArrays(old),
                .byteArrays(new), .optionalByteArrays(macs),
            ])
        report.add(Int64(renamed.rowsAffected), .addresses)
    }
}
