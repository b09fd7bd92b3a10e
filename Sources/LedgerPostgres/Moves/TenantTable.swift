import Ledger
import LedgerEngine
import Postgres

/// A table of a tenant on both sides of a copy, with the statements that read and compare its rows.
struct TenantTable {
    /// Two sums over all columns of some rows, and their number.
    struct Sums: Hashable {
        let count: Int64
        let first: String
        let second: String
    }

    /// The name in the catalogue.
    let name: String
    let rule: TenantCopyRule
    /// The name in the database that is copied from, and in the other one: of a read model, that of the served table.
    let source: String
    let target: String
    /// The generation of the read models' served tables there, by the generation and name here.
    private let generations: [ServedGeneration]
    private let columns: [String]

    /// The served table of a read model on both sides.
    struct ServedGeneration: Hashable {
        let name: String
        let source: Int32
        let target: Int32
    }

    /// Returns the tables to copy, the head last.
    ///
    /// - Throws: `TenantCopyFault.readModelsDiffer`, or `PostgresError`.
    static func all(from source: Connection, to target: Connection) throws -> [TenantTable] {
        let (here, there) = (try served(on: source), try served(on: target))
        let generations = try here.map { name, table in
            guard let other = there[name], other.version == table.version else {
                throw TenantCopyFault.readModelsDiffer(name)
            }
            return ServedGeneration(
                name: name, source: table.generation, target: other.generation)
        }
        return Catalogue.tables.compactMap {
            TenantTable($0, (here, there), generations.sorted { $0.name < $1.name })
        }.sorted { $0.name != "ledger_head" && $1.name == "ledger_head" }
    }

    /// The log, which is found without the read models; nil only without its entry in the catalogue.
    static var events: TenantTable? {
        Catalogue.tables.first { $0.name == "events" }.flatMap { TenantTable($0, ([:], [:]), []) }
    }

    /// Returns the served table of each read model by its name.
    ///
    /// - Throws: `TenantCopyFault.isRebuilding` while another one is filled, whose rows would lack the tenant.
    private static func served(on connection: Connection) throws -> [String: ProjectionTable] {
        var found: [String: ProjectionTable] = [:]
        for (table, state) in try ProjectionTables.all(on: connection) {
            switch state {
            case .served: found[table.projection.rawValue] = table
            case .building, .ready: throw TenantCopyFault.isRebuilding(table.description)
            case .previous: break
            }
        }
        return found
    }

    /// Finds a table on both sides; nil for one that is not copied.
    private init?(
        _ table: CatalogueTable,
        _ served: (here: [String: ProjectionTable], there: [String: ProjectionTable]),
        _ generations: [ServedGeneration]
    ) {
        guard let rule = TenantCopyRule.all[table.name] else { return nil }
        if case .left = rule { return nil }
        let model = table.isReadModel ? table.name : nil
        (name, self.rule) = (table.name, rule)
        source = model.flatMap { served.here[$0]?.description } ?? table.name
        target = model.flatMap { served.there[$0]?.description } ?? table.name
        self.generations = generations
        columns = table.columns.map(\.name)
    }

    private var list: String { columns.joined(separator: ", ") }

    /// Returns the statement that streams the rows of the source, in the columns of the target.
    ///
    /// - Parameters:
    ///   - tenant: The tenant.
    ///   - condition: What else the rows fulfil, such as `AND position > 7 ORDER BY position`.
    /// - Returns: The statement.
    func copyOut(_ tenant: TenantID, _ condition: String = "") -> String {
        """
        COPY (
            SELECT \(columns.map(expression).joined(separator: ", ")) FROM \(source) t
            WHERE tenant_id = \(quoteLiteral(tenant.description)) \(condition))
        TO STDOUT (FORMAT binary)
        """
    }

    /// The statement that takes those rows.
    var copyIn: String { "COPY \(target) (\(list)) FROM STDIN (FORMAT binary)" }

    /// The value of a column there.
    private func expression(_ column: String) -> String {
        guard rule == .progress, column == "generation" else { return column }
        let cases = generations.map {
            "WHEN name = \(quoteLiteral($0.name)) AND generation = \($0.source)"
                + " THEN \($0.target)"
        }
        return "(CASE \(cases.joined(separator: " ")) END)::integer AS generation"
    }

    /// The rows of the source that are copied: progress only of served tables.
    private func copied(inTarget isTarget: Bool) -> String {
        guard rule == .progress else { return "" }
        let served = generations.map {
            "(name = \(quoteLiteral($0.name)) AND generation = \(isTarget ? $0.target : $0.source))"
        }
        return "AND (\(served.joined(separator: " OR ")))"
    }

    /// The condition of ``copyOut(_:_:)`` for all rows.
    var wholeCondition: String { copied(inTarget: false) }

    /// Returns the sums over the rows of one side.
    ///
    /// - Parameters:
    ///   - tenant: The tenant.
    ///   - isTarget: The side.
    ///   - condition: What else the rows fulfil.
    ///   - connection: A connection to that side.
    /// - Returns: The sums.
    /// - Throws: `PostgresError`.
    func sums(
        of tenant: TenantID, inTarget isTarget: Bool, where condition: String = "",
        on connection: Connection
    ) throws(PostgresError) -> Sums {
        let row =
            isTarget
            ? list
            : columns.map { expression($0).replacing(" AS generation", with: "") }
                .joined(separator: ", ")
        let result = try connection.query(
            Statement(
                "move_sums_\(name)_\(isTarget)_\(condition)",
                """
                SELECT count(*) AS count,
                    coalesce(sum(hashtextextended(ROW(\(row))::text, 1)), 0)::text AS first,
                    coalesce(sum(hashtextextended(ROW(\(row))::text, 2)), 0)::text AS second
                FROM \(isTarget ? target : source)
                WHERE tenant_id = $1::text \(copied(inTarget: isTarget)) \(condition)
                """), [.text(tenant.description)])
        return Sums(
            count: try result.int8(0, result.column("count")),
            first: try result.text(0, result.column("first")),
            second: try result.text(0, result.column("second")))
    }

    /// Returns the largest value of the column by which rows are added; nil without rows.
    func last(
        of tenant: TenantID, by column: String, _ condition: String = "", on target: Connection
    )
        throws(PostgresError) -> String?
    {
        let result = try target.query(
            Statement(
                "move_last_\(name)_\(column)_\(condition)",
                """
                SELECT max(\(column))::text AS last FROM \(self.target)
                WHERE tenant_id = $1::text \(condition)
                """), [.text(tenant.description)])
        return try result.optionalText(0, result.column("last"))
    }

    /// Returns the values within which rows are ordered.
    func parts(of tenant: TenantID, by column: String, on source: Connection)
        throws(PostgresError) -> [String]
    {
        let result = try source.query(
            Statement(
                "move_parts_\(name)",
                """
                SELECT DISTINCT \(column) AS part FROM \(self.source)
                WHERE tenant_id = $1::text ORDER BY 1
                """), [.text(tenant.description)])
        var parts: [String] = []
        for row in 0..<result.rowCount {
            parts.append(try result.text(row, result.column("part")))
        }
        return parts
    }

    /// Deletes rows of the target.
    func delete(_ tenant: TenantID, _ condition: String = "", on target: Connection)
        throws(PostgresError)
    {
        _ = try target.query(
            Statement(
                "move_delete_\(name)_\(condition)",
                "DELETE FROM \(self.target) WHERE tenant_id = $1::text \(condition)"),
            [.text(tenant.description)])
    }
}
