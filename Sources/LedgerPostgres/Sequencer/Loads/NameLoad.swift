package import Ledger
import LedgerEngine
package import Postgres

/// The external ids that commands bring, if an account has them.
package enum NameLoad {
    /// The columns of a name in a statement where it has an alias, by their names.
    package struct Columns: Sendable {
        private let source, id, account, position: Int

        /// Returns the columns for the list of the statement.
        package static func selected(_ n: String) -> SelectList {
            ["\(n).source", "\(n).external_id", "\(n).account_id", "\(n).position"]
        }

        /// Finds the columns of an alias in the list of a statement.
        package init(_ n: String, in list: SelectList) {
            source = list["\(n).source"]
            id = list["\(n).external_id"]
            account = list["\(n).account_id"]
            position = list["\(n).position"]
        }

        /// Reads the name and the external id.
        package func read(
            _ result: QueryResult, _ row: Int
        ) throws -> (held: HeldName, name: ExternalName) {
            guard let source = NameSource(try result.text(row, source)),
                let name = ExternalName(source: source, id: try result.text(row, id))
            else { throw BatchFault.damaged("an external id") }
            let held = HeldName(
                position: LogPosition(try result.count(row, position)), source: source,
                account: AccountID(bits: try result.uuid(row, account)))
            return (held, name)
        }
    }

    private static let list = Columns.selected("n") + ["n.mac"]
    private static let columns = Columns("n", in: list)
    private static let mac = list["n.mac"]

    private static let statement = Statement(
        "load_names",
        """
        SELECT \(list.sql) FROM unnest($2::text[], $3::text[]) AS k (source, external_id)
        CROSS JOIN LATERAL (
            SELECT * FROM names
            WHERE tenant_id = $1 AND source = k.source AND external_id = k.external_id
            OFFSET 0) n
        """)

    static func call(_ names: [ExternalName], of tenant: TenantID) -> Call {
        Call(
            statement,
            [
                .text(tenant.description), .texts(names.map(\.source.description)),
                .texts(names.map(\.id)),
            ])
    }

    static func read(_ result: QueryResult, into batch: TenantBatch) throws {
        for row in 0..<result.rowCount {
            let (held, name) = try columns.read(result, row)
            guard batch.state.names.updateValue(held.position, forKey: name) == nil else {
                continue
            }
            try batch.check(
                try result.optionalBytes(row, mac), of: .name(held, name, of: batch.tenant),
                in: .names)
            batch.state.ledger.load(held)
        }
    }
}
