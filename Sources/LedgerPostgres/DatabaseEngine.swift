package import Postgres

/// The engine behind a connection: Postgres alone, or Citus, which spreads tenants over several nodes.
package enum DatabaseEngine: Sendable {
    case postgres
    /// The tables are distributed by tenant.
    case citus

    /// A condition for the written rows `t` of the tenant `$1`, which a statement finds by their places.
    ///
    /// Citus needs it; on Postgres alone it makes the plan of a young table read the whole tenant.
    var tenantOfPlaces: String { self == .citus ? " AND t.tenant_id = $1" : "" }

    /// Distributes a table by a column, beside another table.
    static let distributeTable = Statement(
        "shard_table",
        "SELECT create_distributed_table($1::text::regclass, $2, colocate_with => $3)")

    /// Makes every statement of the open transaction read one snapshot of each node.
    ///
    /// A snapshot belongs to a connection, and Citus opens several to a node for a statement over all tenants. With
    /// one to each node, a transaction that is REPEATABLE READ reads each tenant in one snapshot.
    func readEachNodeOnce(on connection: Connection) throws(PostgresError) {
        guard self == .citus else { return }
        try connection.execute("SET LOCAL citus.max_adaptive_executor_pool_size = 1")
    }

    /// Looks for the extension in the connected database, once for the connection; there is no setting.
    ///
    /// - Throws: `PostgresError` if the catalogue is unreadable.
    package init(of connection: Connection) throws(PostgresError) {
        self = try connection.hasExtension("citus") ? .citus : .postgres
    }
}
