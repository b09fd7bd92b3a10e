package import Ledger
import LedgerEngine
package import Postgres

/// The versions of the passwords that commands rely on.
package enum PasswordLoad {
    /// The columns of a password in a statement where it has an alias, by their names.
    package struct Columns: Sendable {
        private let identity, version, sealed, wrappingKey: Int

        /// Returns the columns for the list of the statement.
        package static func selected(_ c: String) -> SelectList {
            ["\(c).identity_id", "\(c).version", "\(c).sealed", "\(c).wrapping_key"]
        }

        /// Finds the columns of an alias in the list of a statement.
        package init(_ c: String, in list: SelectList) {
            identity = list["\(c).identity_id"]
            version = list["\(c).version"]
            sealed = list["\(c).sealed"]
            wrappingKey = list["\(c).wrapping_key"]
        }

        /// Reads the version, and the encrypted hash with the name of its key.
        package func read(
            _ result: QueryResult, _ row: Int
        ) throws -> (version: PasswordVersion, sealed: [UInt8], wrappingKey: String) {
            (
                PasswordVersion(
                    identity: IdentityID(bits: try result.uuid(row, identity)),
                    version: LogPosition(try result.count(row, version))),
                try result.bytes(row, sealed), try result.text(row, wrappingKey)
            )
        }
    }

    private static let list = Columns.selected("c") + ["c.mac"]
    private static let columns = Columns("c", in: list)
    private static let mac = list["c.mac"]

    private static let statement = Statement(
        "load_passwords",
        """
        SELECT \(list.sql)
        FROM unnest($2::uuid[]) AS k (identity_id)
        CROSS JOIN LATERAL (
            SELECT * FROM credentials WHERE tenant_id = $1 AND identity_id = k.identity_id
            OFFSET 0) c
        """)

    static func call(_ identities: [IdentityID], of tenant: TenantID) -> Call {
        Call(statement, [.text(tenant.description), .uuids(identities.map(\.bits))])
    }

    static func read(
        _ result: QueryResult, of passkeys: Set<IdentityID>, into batch: TenantBatch,
        keyring: WrappingKeyring
    ) throws {
        for row in 0..<result.rowCount {
            let (version, sealed, wrappingKey) = try columns.read(result, row)
            try batch.check(
                try result.optionalBytes(row, mac),
                of: .password(version, sealed, wrappingKey, of: batch.tenant), in: .credentials)
            batch.state.ledger.load(passwordOf: version.identity, version: version.version)
            guard passkeys.contains(version.identity) else { continue }
            batch.state.passkeyCounts[version.identity] = keyring.openPassword(
                sealed, wrappingKey: wrappingKey, of: version, in: batch.tenant
            ).flatMap { NewPassword(hash: $0).passkeyCount }
        }
    }
}
