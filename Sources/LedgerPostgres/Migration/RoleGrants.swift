internal import Migrations
internal import Postgres

/// The privileges of a group of logins; all others are revoked.
struct RoleGrants {
    /// Privileges on one table, or on some of its columns.
    struct Grant {
        let rights: String
        let table: String
        var columns: [String] = []
    }

    let grants: [Grant]
    /// The ledger functions that it may execute.
    let functions: [String]
    /// Whether it writes the tables behind the read models.
    var mayFold = false
    /// Its read access to the tables behind the read models, by the names of their views.
    var foldReads: [Grant] = []

    /// Every table of the ledger; a migration that creates a table adds it here.
    static let tables = [
        "events", "ledger_head", "ledger_migrations", "disclosures", "account_keys", "accounts",
        "identities", "sessions", "idempotency_records", "projections", "projection_tables",
        "user_providers", "account_audit", "merkle_nodes", "checkpoints", "checkpoint_keys",
        "sealer_leases", "api_keys", "access_heads", "access_log", "erasures",
        "merges", "webhook_endpoints", "webhook_secrets", "webhook_cursors", "webhook_deliveries",
        "conflicts", "spent_id_tokens", "former_email_leases",
    ]
    private static let expectFunction = "ledger_expect(bigint, bigint, text)"
    private static let destroying = [
        "ledger_erase_accounts(text[], uuid[], bigint[])",
        "ledger_destroy_disclosures(text, uuid, bigint[])",
    ]
    /// The functions that those call with the owner's privileges, and no role may execute.
    private static let helperFunctions = [
        "ledger_erasing_entry(text, uuid, bigint)", "ledger_is_held(text, uuid, bigint)",
    ]

    /// For servers: the log only grows, the head only moves.
    static let runtime = RoleGrants(
        grants: tables.map { table in
            switch table {
            // Disclosures and keys are evidence too: only an erasure destroys them, through its
            // functions.
            case "events", "disclosures", "account_keys", "merkle_nodes", "checkpoints",
                "checkpoint_keys", "access_log":
                Grant(rights: "SELECT, INSERT", table: table)
            case "ledger_head", "access_heads":
                Grant(rights: "SELECT, INSERT, UPDATE", table: table)
            case "ledger_migrations", "projection_tables", "user_providers", "account_audit",
                "conflicts", "api_keys", "erasures", "webhook_endpoints", "webhook_secrets":
                Grant(rights: "SELECT", table: table)
            case "spent_id_tokens": Grant(rights: "SELECT, INSERT, DELETE", table: table)
            case "webhook_cursors": Grant(rights: "SELECT, UPDATE", table: table)
            case "accounts", "identities", "sessions":
                Grant(rights: "SELECT, INSERT, UPDATE", table: table)
            default: Grant(rights: "SELECT, INSERT, UPDATE, DELETE", table: table)
            }
        } + [
            // An erasure ends the lapsed lease of a rebuild.
            Grant(
                rights: "UPDATE", table: "projection_tables", columns: ["builder", "builder_until"]),
            // The progress of an erasure worker.
            Grant(
                rights: "UPDATE", table: "erasures",
                columns: ["destroyed_seq", "searched_position", "destroyed_at"]),
        ], functions: [expectFunction] + destroying, mayFold: true)

    /// For auditors: the data that `verify` and `history` read without keys.
    ///
    /// Columns with personal data or secrets are excluded by listing the others, so that a column
    /// added by a migration stays hidden until it is listed here.
    static let auditor = RoleGrants(
        grants: [
            "events", "ledger_head", "ledger_migrations", "projections", "projection_tables",
            "access_heads", "access_log", "erasures", "merges", "merkle_nodes", "checkpoints",
            "checkpoint_keys",
        ].map {
            Grant(rights: "SELECT", table: $0)
        } + [
            Grant(
                rights: "SELECT", table: "accounts",
                columns: [
                    "tenant_id", "account_id", "opened_position", "next_seq", "last_leaf",
                    "last_position", "legal_holds", "merged_into",
                ]),
            Grant(
                rights: "SELECT", table: "identities",
                columns: [
                    "tenant_id", "provider", "identity_id", "account_id", "last_account_id",
                    "linked_at", "linked_position",
                ]),
            Grant(
                rights: "SELECT", table: "sessions",
                columns: [
                    "tenant_id", "session_id", "account_id", "identity_id", "authenticated_at",
                    "opened_at", "opened_position", "ended_position", "methods",
                ]),
            Grant(
                rights: "SELECT", table: "disclosures",
                columns: ["tenant_id", "position", "account_id"]),
            Grant(
                rights: "SELECT", table: "account_keys", columns: ["tenant_id", "account_id"]),
        ] + readModels, functions: [], foldReads: readModels)

    private static let readModels = [
        Grant(
            rights: "SELECT", table: "user_providers",
            columns: [
                "tenant_id", "user_id", "provider", "identity_id", "linked_at", "linked_position",
            ]),
        Grant(
            rights: "SELECT", table: "account_audit",
            columns: [
                "tenant_id", "account_id", "account_seq", "position", "event_id", "recorded_at",
                "type", "outcome", "reason", "actor", "provider", "identity_id", "session_id",
                "request_id", "providers_before", "providers_after",
            ]),
        Grant(
            rights: "SELECT", table: "conflicts",
            columns: [
                "tenant_id", "first_position", "first_event", "first_at", "last_position",
                "last_event", "last_at", "attempts", "reason", "provider", "identity_id",
                "caller_id", "caller_now", "callers", "holder_id", "holder_now",
                "resolved_position", "resolved_event", "resolved_at", "resolved_type",
                "resolved_actor",
            ]),
    ]

    /// For support: the data of inquiries, including e-mail and IP address.
    static let support = RoleGrants(
        grants: [
            "account_audit", "user_providers", "conflicts", "projections", "ledger_migrations",
        ].map {
            Grant(rights: "SELECT", table: $0)
        }, functions: [])

    /// For sealers: the data that a separate sealer process needs, without personal data.
    static let sealer = RoleGrants(
        grants: ["events", "ledger_head", "ledger_migrations"].map {
            Grant(rights: "SELECT", table: $0)
        }
            + ["merkle_nodes", "checkpoints", "checkpoint_keys"].map {
                Grant(rights: "SELECT, INSERT", table: $0)
            } + [Grant(rights: "SELECT, INSERT, UPDATE, DELETE", table: "sealer_leases")],
        functions: [expectFunction])

    /// Sets the privileges of a role to exactly these, as the owner of the tables.
    func script(for name: String, database: String) -> String {
        let role = quoteIdentifier(name)
        var script = """
            \(Self.revocation(from: name))
            GRANT CONNECT ON DATABASE \(quoteIdentifier(database)) TO \(role);
            GRANT USAGE ON SCHEMA public TO \(role);

            """
        for grant in grants {
            let columns = grant.columns.map(quoteIdentifier).joined(separator: ", ")
            let scope = columns.isEmpty ? "" : " (\(columns))"
            script += "GRANT \(grant.rights)\(scope) ON public.\(grant.table) TO \(role);\n"
        }
        if !functions.isEmpty {
            script += "GRANT EXECUTE ON FUNCTION \(Self.list(functions)) TO \(role);\n"
        }
        return script + foldingScript(name)
    }

    /// Sets the privileges on the tables behind the read models, which rebuilds create and drop.
    private func foldingScript(_ name: String) -> String {
        let role = quoteLiteral(name)
        let allRights = "SELECT, INSERT, UPDATE, DELETE"
        var rights =
            mayFold
            ? ["EXECUTE format('GRANT \(allRights) ON public.%I TO %I', place, \(role));"] : []
        for grant in foldReads {
            let columns = grant.columns.map(quoteIdentifier).joined(separator: ", ")
            rights.append(
                """
                IF model = \(quoteLiteral(grant.table)) THEN
                    EXECUTE format('GRANT \(grant.rights) (\(columns)) ON public.%I TO %I', place, \(role));
                END IF;
                """)
        }
        return """
            DO $folding$
            DECLARE
                model text;
                place text;
            BEGIN
                FOR model, place IN
                    SELECT name, name || '_' || generation FROM public.projection_tables
                LOOP
                    EXECUTE format('REVOKE ALL ON public.%I FROM %I CASCADE', place, \(role));
                    \(rights.joined(separator: "\n"))
                END LOOP;
            END
            $folding$;

            """
    }

    /// Revokes all privileges granted to one role directly; those of its groups remain.
    static func revocation(from name: String) -> String {
        revocation(fromQuoted: quoteIdentifier(name)) + "\n"
            + RoleGrants(grants: [], functions: []).foldingScript(name)
    }

    private static func revocation(fromQuoted role: String) -> String {
        """
        REVOKE CREATE ON SCHEMA public FROM \(role);
        REVOKE ALL ON \(list(tables)) FROM \(role) CASCADE;
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
