import Ledger
import LedgerEngine
import Postgres

extension Rewrapping {
    private static let list: SelectList =
        ["t.tenant_id", "t.mac"] + PasswordLoad.Columns.selected("t")
    private static let columns = PasswordLoad.Columns("t", in: list)
    private static let mac = list["t.mac"]
    static let passwords = AllTenants.page(of: "credentials", list, id: "identity_id")

    private static let storePasswords = Statement(
        "rewrap_store_passwords",
        """
        UPDATE credentials c SET wrapping_key = $2::text, sealed = n.new, mac = n.mac
        FROM unnest($3::uuid[], $4::bytea[], $5::bytea[], $6::bytea[]) n (identity, old, new, mac)
        WHERE c.tenant_id = $1 AND c.identity_id = n.identity AND c.sealed = n.old
            AND NOT EXISTS (SELECT FROM tenant_moves WHERE tenant_id = $1)
        """)

    /// Encrypts passwords again, each with a new MAC.
    func rewrapPasswords(
        _ page: Page, of tenant: TenantID, on connection: Connection, report: inout RewrapReport
    ) throws {
        let current = keyring.currentID
        var identities: [UInt128] = []
        var old: [[UInt8]] = []
        var new: [[UInt8]] = []
        var macs: [[UInt8]?] = []
        for row in page.rows {
            let (version, sealed, wrappingKey) = try Self.columns.read(page.result, row)
            guard
                let hash = keyring.openPassword(
                    sealed, wrappingKey: wrappingKey, of: version, in: tenant),
                let again = keyring.seal(NewPassword(hash: hash), of: version, in: tenant),
                again.wrappingKey == current,
                let renewed = keyring.macs.mac(
                    replacing: try page.result.optionalBytes(row, Self.mac),
                    of: .password(version, sealed, wrappingKey, of: tenant),
                    by: .password(version, again.wrapped, current, of: tenant))
            else {
                report.addUnreadable(.passwords, version.identity.description)
                continue
            }
            identities.append(version.identity.bits)
            old.append(sealed)
            new.append(again.wrapped)
            macs.append(renewed)
        }
        let stored = try connection.query(
            Self.storePasswords,
            [
                .text(tenant.description), .text(current), .uuids(identities), .byteArrays(old),
                .byteArrays(new), .optionalByteArrays(macs),
            ])
        report.add(Int64(stored.rowsAffected), .passwords)
    }
}
