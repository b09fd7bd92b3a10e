import Ledger
package import LedgerEngine
package import Postgres

/// The passwords of all tenants, those of moved ones included.
package enum StoredPasswords {
    private static let list: SelectList = ["t.tenant_id"] + PasswordLoad.Columns.selected("t")
    private static let columns = PasswordLoad.Columns("t", in: list)
    private static let tenant = list["t.tenant_id"]
    private static let statement = AllTenants.everyPage(
        of: "credentials", list, id: "identity_id")

    /// Decrypts every password and the key of every passkey, page by page.
    ///
    /// The body gets nil for one that can't be decrypted.
    package static func each(
        keyring: WrappingKeyring, on connection: Connection, _ body: (String?) throws -> Void
    ) throws {
        var last: (tenant: String, identity: UInt128) = ("", 0)
        while true {
            let page = try connection.query(
                statement, [.text(last.tenant), .uuid(last.identity)])
            guard page.rowCount > 0 else { return }
            for row in 0..<page.rowCount {
                let name = try page.text(row, tenant)
                let (version, sealed, wrappingKey) = try columns.read(page, row)
                last = (name, version.identity.bits)
                try body(
                    TenantID(name).flatMap {
                        keyring.openPassword(sealed, wrappingKey: wrappingKey, of: version, in: $0)
                    })
            }
        }
    }
}
