package import Postgres

/// What keeps the log append-only, as far as it can be told without knowing which login serves.
///
/// Nothing in the database says so. What a migration states about one login is stated here about every
/// login that is set up to serve: that may append, and neither owns the log, nor may write all tables, nor can make itself anybody.
package struct AppendOnlySurvey: Sendable {
    private static let loginsShownMax = 3
    private static let masterful =
        "own the log, may write all tables or can make themselves anybody"

    /// The logins that it is about: those, and the one that asks, if it may append.
    package let logins: [String]
    /// The others that own the log, may write all tables or can make themselves anybody: what holds for the
    /// logins does not hold for a server that runs as one of these.
    package let masters: [String]
    /// What is missing, for the weakest of the logins.
    package let guards: AppendOnlyGuards

    private static let query = Statement(
        "append_only_logins",
        """
        SELECT r.rolname::text, r.rolname = session_user,
            has_any_column_privilege(r.oid, c.oid, 'INSERT'),
            r.rolsuper OR EXISTS (
                SELECT FROM pg_catalog.pg_roles o
                WHERE (o.oid = c.relowner OR o.rolsuper OR o.rolcreaterole
                    OR o.rolname IN ('pg_write_server_files', 'pg_execute_server_program',
                        'pg_write_all_data'))
                    AND pg_has_role(r.oid, o.oid, 'MEMBER'))
        FROM pg_catalog.pg_roles r CROSS JOIN pg_catalog.pg_class c
        JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
        WHERE r.rolcanlogin AND n.nspname = 'public' AND c.relname = 'events'
        ORDER BY r.rolname
        """)

    /// Looks around; needs no right but to connect.
    ///
    /// - Throws: `PostgresError` when the catalogue cannot be read.
    package init(_ connection: Connection) throws(PostgresError) {
        let rows = try connection.query(Self.query)
        var logins: [String] = []
        var masters: [String] = []
        for row in 0..<rows.rowCount {
            let name = try rows.text(row, 0)
            let isAsking = try rows.bool(row, 1)
            let isMaster = try rows.bool(row, 3)
            if try rows.bool(row, 2), isAsking || !isMaster {
                logins.append(name)
            } else if isMaster {
                masters.append(name)
            }
        }
        self.logins = logins
        self.masters = masters
        let guards = try AppendOnlyGuards.inspect(connection, logins: logins)
        guard logins.isEmpty else {
            self.guards = guards
            return
        }
        let nobody = AppendOnlyGuards.Finding(
            level: .separateRoles, text: "no login may append but those that \(Self.masterful)")
        self.guards = AppendOnlyGuards(findings: guards.findings + [nobody])
    }

    /// The level, and which logins it is about.
    package var text: String {
        let names = (logins.count == 1 ? "the login " : "the logins ") + Self.listed(logins)
        let sentence = guards.sentence(about: names) + "\n"
        if logins.isEmpty { return sentence + "  they are \(Self.listed(masters))\n" }
        // What is below holds whoever serves.
        guard guards.level >= .separateRoles else { return sentence }
        let exception =
            masters.isEmpty
            ? "" : ", and not with one of those that \(Self.masterful): \(Self.listed(masters))"
        return sentence + "  it holds for a server with \(names)\(exception)\n"
    }

    private static func listed(_ names: [String]) -> String {
        let more = names.count - loginsShownMax
        return names.prefix(loginsShownMax).joined(separator: ", ")
            + (more > 0 ? " and \(more) more" : "")
    }
}
