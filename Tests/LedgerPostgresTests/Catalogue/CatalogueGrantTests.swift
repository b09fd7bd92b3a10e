import LedgerTestSupport
import Postgres
import Testing

@testable import LedgerPostgres

/// The privileges of each role are those of the catalogue.
@Suite struct CatalogueGrantTests {
    @Test func `every role has the privileges of the catalogue and no others`() async throws {
        try await ScratchDatabase.with(owner: .roleCreator) { database in
            let roles = LedgerRoles(database: database.name)
            for role in roles.all + [database.runtimeLogin] {
                let held = try await database.asSuperuser.texts(Self.privileges(of: role))
                let expected = Self.expected(of: role, roles)
                #expect(Set(held).subtracting(expected) == [], "surplus privileges of \(role)")
                #expect(Set(expected).subtracting(held) == [], "missing privileges of \(role)")
            }
            let calls = try await database.asRuntime.texts("SELECT ledger_expect(1, 1, 'x')::text")
            #expect(calls == ["1"])
        }
    }

    private static func privileges(of role: String) -> String {
        """
        SELECT format('%s.%s %s', c.relname, a.attname, p.name)
        FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
        CROSS JOIN unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'REFERENCES']) p (name)
        WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'v')
            AND a.attnum > 0 AND NOT a.attisdropped
            AND has_column_privilege('\(role)', c.oid, a.attnum, p.name)
        UNION ALL
        SELECT format('%s %s', c.relname, p.name) FROM pg_class c
        CROSS JOIN unnest(ARRAY['DELETE', 'TRUNCATE', 'TRIGGER']) p (name)
        WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'v')
            AND has_table_privilege('\(role)', c.oid, p.name)
        """
    }

    private static func expected(of role: String, _ roles: LedgerRoles) -> [String] {
        Catalogue.tables.flatMap { table in
            var lines: [String] = []
            func add(
                _ privileges: [CatalogueTable.Privilege], _ columns: [String], at relation: String
            ) {
                for privilege in privileges where privilege != .delete {
                    lines += columns.map { "\(relation).\($0) \(privilege.rawValue)" }
                }
            }
            let columns = table.columns.map(\.name)
            let relations = table.isReadModel ? [table.name, table.name + "_1"] : [table.name]
            switch role {
            case roles.auditor:
                for relation in relations { add([.select], table.columns(.auditor), at: relation) }
            case roles.support: add([.select], table.columns(.support), at: table.name)
            case roles.sealer:
                add([.select], table.columns(.sealer), at: table.name)
                add(table.sealer, columns, at: table.name)
                if table.sealer.contains(.delete) { lines.append("\(table.name) DELETE") }
            default:
                if table.isReadModel { add([.select], columns, at: table.name) }
                add(table.server, columns, at: relations[relations.count - 1])
                add([.update], table.columns(.serverUpdates), at: table.name)
                if table.server.contains(.delete) {
                    lines.append("\(relations[relations.count - 1]) DELETE")
                }
            }
            return lines
        }
    }

    @Test func `a table and a column that the catalogue does not have are granted to no group`()
        async throws
    {
        try await ScratchDatabase.with(owner: .roleCreator) { database in
            try await database.asOwner.execute(
                """
                CREATE TABLE public.surplus (n int);
                INSERT INTO projection_tables VALUES ('surplus', 1, 1, 'served');
                CREATE TABLE public.surplus_1 (n int);
                ALTER TABLE events ADD surplus int; ALTER TABLE ledger_head ADD surplus int;
                ALTER TABLE conflicts_1 ADD surplus int
                """)
            _ = try await database.migrate()
            let roles = LedgerRoles(database: database.name)
            for role in roles.all {
                let held = try await database.asSuperuser.texts(Self.privileges(of: role))
                    .filter { $0.contains("surplus") }
                // Servers have privileges on whole tables.
                let own = role == roles.runtime ? ["events", "ledger_head", "conflicts_1"] : []
                let surplus = held.filter { line in !own.contains { line.hasPrefix("\($0).") } }
                #expect(surplus == [])
            }
        }
    }

    @Test func `an upgraded database has the grants and functions of a new one`() async throws {
        let fresh = try await ScratchDatabase.with(owner: .roleCreator) { database in
            try await Self.acls(of: database)
        }
        #expect(fresh.count > 100)
        let upgraded = try await ScratchDatabase.with(owner: .roleCreator, isMigrated: false) {
            database in
            // The last release without a catalogue, and more privileges than any release granted.
            let former = Migrator(
                ownerURL: database.ownerURL, runtimeURL: database.runtimeURL,
                migrations: Array(Migration.embedded.prefix(19)))
            try await database.asSuperuser.with { _ in try former.applySchema() }
            let roles = LedgerRoles(database: database.name)
            for role in roles.all {
                try await database.asOwner.execute("CREATE ROLE \(role) NOLOGIN")
            }
            let groups = roles.all.joined(separator: ", ")
            try await database.asOwner.execute(
                """
                GRANT ALL ON ALL TABLES IN SCHEMA public TO \(groups);
                GRANT ALL ON ALL FUNCTIONS IN SCHEMA public TO \(groups);
                GRANT SELECT (email), UPDATE (email) ON user_providers TO \(roles.auditor), PUBLIC;
                GRANT SELECT (client_ip) ON account_audit_1 TO \(roles.auditor)
                """)
            let report = try await database.migrate()
            #expect(report.guards.level == .separateRoles)
            return try await Self.acls(of: database)
        }
        #expect(upgraded.subtracting(fresh) == [] && fresh.subtracting(upgraded) == [])
    }

    @Test func `the tests' copies have the grants and functions of a migrated database`()
        async throws
    {
        let copied = try await ScratchDatabase.with { database in
            try await Self.acls(of: database)
        }
        let migrated = try await ScratchDatabase.with(isMigrated: false) { database in
            _ = try await database.migrate()
            return try await Self.acls(of: database)
        }
        #expect(copied.subtracting(migrated) == [] && migrated.subtracting(copied) == [])
        #expect(copied.contains { $0.hasPrefix("db. CONNECT db_ledger_auditor") })
    }

    /// Returns every privilege of every role but the owner, and the functions' bodies, without the names of
    /// one database.
    private static func acls(of database: ScratchDatabase) async throws -> Set<String> {
        Set(
            try await database.asSuperuser.texts(
                """
                SELECT replace(format('%s.%s %s %s', s.place, s.part, a.privilege_type,
                    CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END),
                    current_database(), 'db')
                FROM (
                    SELECT relname::text AS place, '' AS part, relacl AS acl, relowner AS owner
                    FROM pg_class WHERE relnamespace = 'public'::regnamespace
                    UNION ALL
                    SELECT c.relname, t.attname, t.attacl, c.relowner
                    FROM pg_class c JOIN pg_attribute t ON t.attrelid = c.oid
                    WHERE c.relnamespace = 'public'::regnamespace
                    UNION ALL
                    SELECT proname, '', coalesce(proacl, acldefault('f', proowner)), proowner
                    FROM pg_proc WHERE pronamespace = 'public'::regnamespace
                        AND proname <> 'ledger_refuse_change'
                    UNION ALL
                    SELECT nspname, '', nspacl, nspowner FROM pg_namespace WHERE nspname = 'public'
                    UNION ALL
                    SELECT datname, '', datacl, datdba FROM pg_database
                    WHERE datname = current_database()
                ) s, aclexplode(s.acl) a WHERE a.grantee <> s.owner
                UNION ALL
                SELECT format('%s %s', proname, md5(prosrc)) FROM pg_proc
                WHERE pronamespace = 'public'::regnamespace
                """))
    }
}
