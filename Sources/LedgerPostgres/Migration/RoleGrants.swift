internal import Migrations
internal import Postgres

/// The privileges of a group of logins, as the catalogue has them; all others are revoked.
struct RoleGrants: Sendable {
    /// Privileges on a whole table, or on some of its columns.
    private struct Grant: Sendable {
        let privileges: [CatalogueTable.Privilege]
        /// The columns; nil for the whole table.
        var columns: [String]?

        /// The clause between GRANT and the table; nil for no privilege.
        var clause: String? {
            guard !privileges.isEmpty, columns?.isEmpty != true else { return nil }
            let columns = columns.map { " (\($0.map(quoteIdentifier).joined(separator: ", ")))" }
            return privileges.map { $0.rawValue + (columns ?? "") }.joined(separator: ", ")
        }
    }

    /// The privileges on a table.
    private let onTable: @Sendable (CatalogueTable) -> [Grant]
    /// The privileges on the tables behind a read model.
    private let onModel: @Sendable (CatalogueTable) -> [Grant]
    /// The ledger functions that it may execute.
    private let functions: [String]

    private static let expectFunction = "ledger_expect(bigint, bigint, text)"
    private static let destroying = [
        "ledger_erase_accounts(text, uuid[], bigint[])",
        "ledger_destroy_disclosures(text, uuid, bigint[])",
    ]
    /// The functions that those call with the owner's privileges, and no role may execute.
    private static let helperFunctions = [
        "ledger_erasing_entry(text, uuid, bigint)", "ledger_is_held(text, uuid, bigint)",
    ]

    /// For servers: the log only grows, the head only moves.
    static let runtime = RoleGrants(
        onTable: {
            [
                Grant(privileges: $0.isReadModel ? [.select] : $0.server),
                Grant(privileges: [.update], columns: $0.columns(.serverUpdates)),
            ]
        }, onModel: { [Grant(privileges: $0.server)] }, functions: [expectFunction] + destroying)

    /// For auditors: the data that `verify` and `history` read without keys.
    static let auditor = RoleGrants(
        onTable: { [reading(.auditor, of: $0)] }, onModel: { [reading(.auditor, of: $0)] },
        functions: [])

    /// For support: the data of inquiries, including e-mail and IP address, through the views only.
    static let support = RoleGrants(
        onTable: { [reading(.support, of: $0)] }, onModel: { _ in [] }, functions: [])

    /// For sealers: the data that a separate sealer process needs, without personal data.
    static let sealer = RoleGrants(
        onTable: { [reading(.sealer, of: $0), Grant(privileges: $0.sealer)] },
        onModel: { _ in [] }, functions: [expectFunction])

    private static let none = RoleGrants(
        onTable: { _ in [] }, onModel: { _ in [] }, functions: [])

    private static func reading(
        _ attribute: CatalogueColumn.Attributes, of table: CatalogueTable
    ) -> Grant {
        Grant(privileges: [.select], columns: table.columns(attribute))
    }

    /// Sets the privileges of a role to exactly these, as the owner of the tables.
    func script(for name: String, database: String) -> String {
        let role = quoteIdentifier(name)
        var script = """
            \(Self.revocation(from: name))
            GRANT CONNECT ON DATABASE \(quoteIdentifier(database)) TO \(role);
            GRANT USAGE ON SCHEMA public TO \(role);

            """
        for table in Catalogue.tables {
            for clause in onTable(table).compactMap(\.clause) {
                script += "GRANT \(clause) ON public.\(table.name) TO \(role);\n"
            }
        }
        if !functions.isEmpty {
            script += "GRANT EXECUTE ON FUNCTION \(Self.list(functions)) TO \(role);\n"
        }
        return script + modelScript(name)
    }

    /// Sets the privileges on the tables behind the read models, which rebuilds create and drop.
    private func modelScript(_ name: String) -> String {
        let role = quoteLiteral(name)
        let grants = Catalogue.readModels.flatMap { table in
            onModel(table).compactMap(\.clause).map { clause in
                """
                IF model = \(quoteLiteral(table.name)) THEN
                    EXECUTE format('GRANT \(clause) ON public.%I TO %I', place, \(role));
                END IF;
                """
            }
        }
        return """
            DO $models$
            DECLARE
                model text;
                place text;
            BEGIN
                FOR model, place IN
                    SELECT name, name || '_' || generation FROM public.projection_tables
                LOOP
                    EXECUTE format('REVOKE ALL ON public.%I FROM %I CASCADE', place, \(role));
                    \(grants.joined(separator: "\n"))
                END LOOP;
            END
            $models$;

            """
    }

    /// Revokes all privileges granted to one role directly; those of its groups remain.
    static func revocation(from name: String) -> String {
        revocation(fromQuoted: quoteIdentifier(name)) + "\n"
            + none.modelScript(name)
    }

    private static func revocation(fromQuoted role: String) -> String {
        """
        REVOKE CREATE ON SCHEMA public FROM \(role);
        REVOKE ALL ON \(list(Catalogue.tables.map(\.name))) FROM \(role) CASCADE;
        REVOKE ALL ON FUNCTION \(list([expectFunction] + destroying + helperFunctions)) FROM \(role) CASCADE;
        """
    }

    /// Revokes from PUBLIC and foreign roles the privileges that only ledger roles may have.
    static var publicScript: String {
        """
        \(revocation(fromQuoted: "PUBLIC"))
        \(revocation(of: "UPDATE, DELETE", on: GuardedTables.appendOnly + GuardedTables.erasable))
        \(revocation(of: "TRUNCATE, TRIGGER", on: GuardedTables.all))
        """
    }

    /// Revokes privileges on tables from every role but the tables' owner.
    private static func revocation(of rights: String, on tables: [String]) -> String {
        """
        DO $revoke$
        DECLARE
            given record;
        BEGIN
            FOR given IN
                SELECT c.oid::regclass AS place, a.grantee::regrole AS grantee
                FROM pg_catalog.pg_class c, aclexplode(c.relacl) a
                WHERE c.oid IN (\(oids(tables))) AND a.grantee NOT IN (0, c.relowner)
                UNION
                SELECT t.attrelid::regclass, a.grantee::regrole
                FROM pg_catalog.pg_attribute t, aclexplode(t.attacl) a
                WHERE t.attrelid IN (\(oids(tables))) AND a.grantee <> 0
            LOOP
                EXECUTE format('REVOKE \(rights) ON %s FROM %s CASCADE', given.place, given.grantee);
            END LOOP;
        END
        $revoke$;
        """
    }

    private static func oids(_ tables: [String]) -> String {
        tables.map { "'public.\($0)'::regclass" }.joined(separator: ", ")
    }

    private static func list(_ names: [String]) -> String {
        names.map { "public." + $0 }.joined(separator: ", ")
    }
}
