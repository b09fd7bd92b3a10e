internal import Postgres

extension MigrationSite {
    private static let isSuitable = Statement(
        "migrate_role",
        """
        SELECT NOT (rolsuper OR rolcanlogin OR rolcreaterole OR rolcreatedb OR rolreplication
            OR rolbypassrls)
        FROM pg_catalog.pg_roles WHERE rolname = $1
        """)
    /// Whether the runtime login may already act as the owner, and whether it is in the group.
    private static let memberships = Statement(
        "migrate_standing",
        """
        SELECT pg_has_role($1, (SELECT relowner FROM pg_catalog.pg_class
                WHERE oid = 'public.events'::regclass), 'MEMBER') AS may_act_as_owner,
            EXISTS (SELECT FROM pg_catalog.pg_roles r
                WHERE r.rolname = $2 AND pg_has_role($1, r.oid, 'MEMBER')) AS is_member
        """)
    private static let canServe = Statement(
        "migrate_can_serve",
        """
        SELECT has_schema_privilege($1, 'public', 'USAGE')
            AND has_table_privilege($1, 'public.events', 'SELECT')
            AND has_table_privilege($1, 'public.events', 'INSERT')
            AND has_table_privilege($1, 'public.ledger_head', 'UPDATE')
        """)

    /// Creates the groups if permitted, grants their privileges, and adds the login to its group.
    ///
    /// Where groups can neither be created nor found, a runtime login that is not the owner is
    /// granted the privileges of the runtime group directly.
    ///
    /// - Returns: The group that the login gets its privileges by; nil for none.
    func assertRoles() throws -> String? {
        let roles = LedgerRoles(database: database)
        let groups = [
            (roles.runtime, RoleGrants.runtime), (roles.auditor, .auditor),
            (roles.support, .support), (roles.sealer, .sealer),
        ]
        var hasRuntimeGroup = false
        for (name, grants) in groups where try assertGroup(name) {
            try connection.execute(grants.script(for: name, database: database))
            if name == roles.runtime { hasRuntimeGroup = true }
        }
        return try assertServingLogin(runtimeGroup: hasRuntimeGroup ? roles.runtime : nil)
    }

    /// Grants the runtime login its privileges through the group only, if possible.
    private func assertServingLogin(runtimeGroup: String?) throws -> String? {
        let memberships = try connection.query(
            Self.memberships, [.text(servingLogin), .text(runtimeGroup ?? "")])
        let mayActAsOwner = try memberships.bool(0, memberships.column("may_act_as_owner"))
        let isMember = try memberships.bool(0, memberships.column("is_member"))
        // A superuser may act as any role, too, and is granted nothing.
        if !mayActAsOwner {
            if isMember {
                try connection.execute(RoleGrants.revocation(from: servingLogin))
            } else if let runtimeGroup, mayCreateRoles {
                let login = quoteIdentifier(servingLogin)
                try connection.execute(
                    "\(RoleGrants.revocation(from: servingLogin))"
                        + "GRANT \(quoteIdentifier(runtimeGroup)) TO \(login)")
            } else {
                try connection.execute(
                    RoleGrants.runtime.script(for: servingLogin, database: database))
            }
        }
        guard try connection.query(Self.canServe, [.text(servingLogin)]).bool(0, 0) else {
            throw MigrationError.runtimeLoginLacksRights(servingLogin)
        }
        return mayActAsOwner ? nil : runtimeGroup
    }

    /// Returns whether the group exists, after creating it if needed and permitted.
    private func assertGroup(_ name: String) throws -> Bool {
        let found = try connection.query(Self.isSuitable, [.text(name)])
        if found.rowCount == 1 {
            guard try found.bool(0, 0) else { throw MigrationError.unsuitableRole(name) }
            return true
        }
        guard mayCreateRoles else { return false }
        try connection.execute("CREATE ROLE \(quoteIdentifier(name)) NOLOGIN")
        return true
    }
}
