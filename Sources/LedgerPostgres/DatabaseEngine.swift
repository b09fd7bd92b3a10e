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

    /// Looks for the extension in the connected database, once for the connection; there is no setting.
    ///
    /// - Throws: `PostgresError` if the catalogue is unreadable.
    package init(of connection: Connection) throws(PostgresError) {
        self = try connection.hasExtension("citus") ? .citus : .postgres
    }
}
