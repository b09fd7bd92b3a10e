import Ledger
import LedgerEngine
import Postgres

/// Compares two tables tenant by tenant, in snapshots in which both are at the same position.
///
/// A row is represented by two hashes of all its columns, a table by the sums of those: the order of rows is
/// irrelevant, and one pass over each table is enough. Nothing is locked.
struct TableComparison: Sendable {
    private static let begin = Statement(
        "compare_begin", "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")

    let old: ProjectionTable
    let new: ProjectionTable
    /// The number of rows of the new table that were compared.
    private(set) var rows: Int64 = 0
    private(set) var differences: [TableDifference] = []
    /// Tenants whose old table has stopped before the new one, so that there is nothing to compare.
    private(set) var uncompared: [TenantID] = []
    private var settled: Set<TenantID> = []
    /// Tenants whose tables were at different positions in the last snapshot.
    private(set) var apart: Set<TenantID> = []

    init(old: ProjectionTable, new: ProjectionTable) {
        self.old = old
        self.new = new
    }

    /// The number and the hash sums of one tenant's rows in one table.
    private struct Sum: Equatable {
        var count: Int64 = 0
        var first = "0"
        var second = "0"
    }

    /// The contents of one snapshot.
    private struct Found {
        var apart: [TenantID] = []
        var past: [TenantID] = []
        var rows: Int64 = 0
        var equal: [TenantID] = []
        var different: [TableDifference] = []
    }

    /// Compares, in one snapshot, the tenants that were not compared before.
    mutating func take(on connection: Connection) throws {
        let old = old
        let new = new
        let settled = settled
        let found = try connection.transaction(Self.begin) {
            try DatabaseEngine(of: connection).readEachNodeOnce(on: connection)
            let positions = try TableExchange.positions(old, new, on: connection)
                .filter { !settled.contains($0.tenant) }
            let comparable = positions.filter { $0.isComparable }
            var found = Found()
            for pair in positions where !pair.isComparable {
                if pair.skipsComparison {
                    found.past.append(pair.tenant)
                } else {
                    found.apart.append(pair.tenant)
                }
            }
            guard !comparable.isEmpty else { return found }
            let olds = try Self.sums(of: old, on: connection)
            let news = try Self.sums(of: new, on: connection)
            for pair in comparable {
                let name = pair.tenant.description
                let sum = news[name] ?? Sum()
                found.rows += sum.count
                found.equal.append(pair.tenant)
                if olds[name] ?? Sum() != sum {
                    found.different.append(
                        try Self.difference(
                            old, new, of: pair.tenant, at: pair.new, on: connection))
                }
            }
            return found
        }
        apart = Set(found.apart)
        rows += found.rows
        uncompared += found.past
        self.settled.formUnion(found.equal + found.past)
        differences += found.different
    }

    private static func sums(
        of table: ProjectionTable, on connection: Connection
    ) throws(PostgresError) -> [String: Sum] {
        let result = try connection.query(AllTenants.sums(of: table.description))
        var sums: [String: Sum] = [:]
        for row in 0..<result.rowCount {
            sums[try result.text(row, result.column("tenant_id"))] = Sum(
                count: try result.int8(row, result.column("count")),
                first: try result.text(row, result.column("first")),
                second: try result.text(row, result.column("second")))
        }
        return sums
    }

    private static func difference(
        _ old: ProjectionTable, _ new: ProjectionTable, of tenant: TenantID,
        at position: LogPosition, on connection: Connection
    ) throws(PostgresError) -> TableDifference {
        func count(in one: ProjectionTable, without other: ProjectionTable) throws(PostgresError)
            -> Int64
        {
            try connection.query(
                Statement(
                    "compare_\(one)_without_\(other)",
                    """
                    SELECT count(*) FROM (
                        SELECT * FROM \(one) WHERE tenant_id = $1
                        EXCEPT ALL SELECT * FROM \(other) WHERE tenant_id = $1) d
                    """), [.text(tenant.description)]
            ).int8(0, 0)
        }
        return TableDifference(
            tenant: tenant, position: position, old: old, new: new,
            onlyOld: try count(in: old, without: new), onlyNew: try count(in: new, without: old))
    }
}
