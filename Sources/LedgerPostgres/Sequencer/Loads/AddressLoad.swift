package import Ledger
import LedgerEngine
package import Postgres

/// The addresses that commands prove, if an account has them.
package enum AddressLoad {
    /// The columns of an address in a statement where it has an alias, by their names.
    package struct Columns: Sendable {
        private let id, kind, digest, key, account, position: Int

        /// Returns the columns for the list of the statement.
        package static func selected(_ d: String) -> SelectList {
            [
                "\(d).address_id", "\(d).kind", "\(d).digest", "\(d).key_id", "\(d).account_id",
                "\(d).position",
            ]
        }

        /// Finds the columns of an alias in the list of a statement.
        package init(_ d: String, in list: SelectList) {
            id = list["\(d).address_id"]
            kind = list["\(d).kind"]
            digest = list["\(d).digest"]
            key = list["\(d).key_id"]
            account = list["\(d).account_id"]
            position = list["\(d).position"]
        }

        /// Reads the address and its name.
        package func read(
            _ result: QueryResult, _ row: Int
        ) throws -> (address: HeldAddress, name: AddressName) {
            guard let kind = AddressKind(rawValue: try result.text(row, kind)) else {
                throw BatchFault.damaged("addresses.kind")
            }
            let address = HeldAddress(
                id: AddressID(bits: try result.uuid(row, id)), kind: kind,
                account: AccountID(bits: try result.uuid(row, account)),
                position: LogPosition(try result.count(row, position)))
            let name = AddressName(
                kind: kind, digest: try result.digest(row, digest),
                key: try result.text(row, key))
            return (address, name)
        }
    }

    private static let list = Columns.selected("d") + ["d.mac"]
    private static let columns = Columns("d", in: list)
    private static let mac = list["d.mac"]

    private static let statement = Statement(
        "load_addresses",
        """
        SELECT \(list.sql)
        FROM unnest($2::bytea[]) AS k (digest)
        CROSS JOIN LATERAL (
            SELECT * FROM addresses WHERE tenant_id = $1 AND digest = k.digest
            OFFSET 0) d
        """)

    static func call(_ names: [AddressName], of tenant: TenantID) -> Call {
        Call(statement, [.text(tenant.description), .byteArrays(names.map(\.digest.bytes))])
    }

    static func read(_ result: QueryResult, into batch: TenantBatch) throws {
        for row in 0..<result.rowCount {
            let (address, name) = try columns.read(result, row)
            guard batch.state.addressNames.updateValue(address.id, forKey: name) == nil else {
                continue
            }
            try batch.check(
                try result.optionalBytes(row, mac),
                of: .address(address, named: name, of: batch.tenant), in: .addresses)
            batch.state.ledger.load(address)
        }
    }
}
