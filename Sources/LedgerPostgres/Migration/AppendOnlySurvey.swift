package import Postgres

/// The guards of the log when the runtime login is not known.
///
/// The database does not record that login. The statement that a migration makes about one login is
/// therefore made about every login that is set up to serve: one that may append, but neither owns
/// the log, nor can write all tables, nor can become any role.
package struct AppendOnlySurvey: Sendable {
    private static let loginsShownMax = 3
    private static let privilegedText =
        "own the log, can write all tables or can become any role"

    /// The inspected logins: those set up to serve, and the current one if it may append.
    package let logins: [String]
    /// The other logins that may append; the result does not apply to a server that uses one of
    /// them.
    package let privilegedLogins: [String]
    /// The unmet requirements, for the weakest login.
    package let guards: AppendOnlyGuards

    private static let query = Statement(
        "append_only_logins",
        """
        SELECT r.rolname::text AS login, r.rolname = session_user AS is_current,
            has_any_column_privilege(r.oid, c.oid, 'INSERT') AS may_insert,
            r.rolsuper OR EXISTS (
                SELECT FROM pg_catalog.pg_roles o
                WHERE (o.oid = c.relowner OR o.rolsuper OR o.rolcreaterole
                    OR o.rolname IN ('pg_write_server_files', 'pg_execute_server_program',
                        'pg_write_all_data'))
                    AND pg_has_role(r.oid, o.oid, 'MEMBER')) AS is_privileged
        FROM pg_catalog.pg_roles r CROSS JOIN pg_catalog.pg_class c
        JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
        WHERE r.rolcanlogin AND n.nspname = 'public' AND c.relname = 'events'
        ORDER BY r.rolname
        """)

    /// Inspects the database; needs only the privilege to connect.
    ///
    /// - Throws: `PostgresError` if the catalogue is unreadable.
    package init(_ connection: Connection) throws(PostgresError) {
        let rows = try connection.query(Self.query)
        var logins: [String] = []
        var privilegedLogins: [String] = []
        for row in 0..<rows.rowCount {
            let name = try rows.text(row, rows.column("login"))
            let isCurrentLogin = try rows.bool(row, rows.column("is_current"))
            let isPrivileged = try rows.bool(row, rows.column("is_privileged"))
            if try rows.bool(row, rows.column("may_insert")), isCurrentLogin || !isPrivileged {
                logins.append(name)
            } else if isPrivileged {
                privilegedLogins.append(name)
            }
        }
        self.logins = logins
        self.privilegedLogins = privilegedLogins
        let guards = try AppendOnlyGuards.inspect(connection, logins: logins)
        guard logins.isEmpty else {
            self.guards = guards
            return
        }
        let noLogin = AppendOnlyGuards.Finding(
            level: .separateRoles,
            text: "no login may append except those that \(Self.privilegedText)")
        self.guards = AppendOnlyGuards(findings: guards.findings + [noLogin])
    }

    /// The level, with the logins that it applies to.
    package var text: String {
        let names = (logins.count == 1 ? "the login " : "the logins ") + Self.listed(logins)
        let sentence = guards.sentence(about: names) + "\n"
        if logins.isEmpty { return sentence + "  these are \(Self.listed(privilegedLogins))\n" }
        // A lower level applies to any login.
        guard guards.level >= .separateRoles else { return sentence }
        let exception =
            privilegedLogins.isEmpty
            ? ""
            : ", but not one of those that \(Self.privilegedText): \(Self.listed(privilegedLogins))"
        return sentence + "  this applies to a server that uses \(names)\(exception)\n"
    }

    private static func listed(_ names: [String]) -> String {
        let more = names.count - loginsShownMax
        return names.prefix(loginsShownMax).joined(separator: ", ")
            + (more > 0 ? " and \(more) more" : "")
    }
}
