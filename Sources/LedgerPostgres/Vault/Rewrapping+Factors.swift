import Ledger
import LedgerEngine
import Postgres

extension Rewrapping {
    private static let list: SelectList =
        ["t.tenant_id", "t.mac"] + FactorLoad.Columns.selected("t")
    private static let columns = FactorLoad.Columns("t", in: list)
    private static let mac = list["t.mac"]
    static let factors = AllTenants.page(of: "factors", list, id: "factor_id")

    private static let storeFactors = Statement(
        "rewrap_store_factors",
        """
        UPDATE factors f SET wrapping_key = $2::text, sealed = n.new, mac = n.mac
        FROM unnest($3::uuid[], $4::bytea[], $5::int8[], $6::bytea[], $7::bytea[])
            n (factor, old, counter, new, mac)
        WHERE f.tenant_id = $1 AND f.factor_id = n.factor AND f.sealed = n.old
            AND f.counter = n.counter
            AND NOT EXISTS (SELECT FROM tenant_moves WHERE tenant_id = $1)
        """)

    /// Encrypts the secrets of second factors again, each row with a new MAC.
    func rewrapFactors(
        _ page: Page, of tenant: TenantID, on connection: Connection, report: inout RewrapReport
    ) throws {
        var rows: [(old: FactorLoad.Row, sealed: [UInt8], mac: [UInt8]?)] = []
        for row in page.rows {
            let old = try Self.columns.read(page.result, row)
            guard
                let secret = keyring.openSecret(
                    old.sealed, wrappingKey: old.wrappingKey, of: old.factor, in: tenant),
                let again = keyring.seal(secret: secret, of: old.factor, in: tenant),
                again.wrappingKey == keyring.currentID,
                let mac = keyring.macs.mac(
                    replacing: try page.result.optionalBytes(row, Self.mac),
                    of: old.message(of: tenant),
                    by: .factor(
                        old.factor, again.wrapped, again.wrappingKey, counter: old.counter,
                        key: old.key, of: tenant))
            else {
                report.addUnreadable(.factors, old.factor.id.description)
                continue
            }
            rows.append((old: old, sealed: again.wrapped, mac: mac))
        }
        let stored = try connection.query(
            Self.storeFactors,
            [
                .text(tenant.description), .text(keyring.currentID),
                .uuids(rows.map(\.old.factor.id.bits)), .byteArrays(rows.map(\.old.sealed)),
                .int8s(rows.map(\.old.counter)), .byteArrays(rows.map(\.sealed)),
                .optionalByteArrays(rows.map(\.mac)),
            ])
        report.add(Int64(stored.rowsAffected), .factors)
    }
}
