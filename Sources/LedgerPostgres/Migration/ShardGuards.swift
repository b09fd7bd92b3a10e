internal import Migrations
internal import Postgres

/// The guards on the shards of the log, which are tables of their own on other nodes.
///
/// Citus makes triggers and grants of a table on its shards, also on those that it moves. Each is inspected where
/// it is.
enum ShardGuards {
    private static let deviating = Statement(
        "shard_findings",
        """
        SELECT t.name, r.shardid, r.success, r.result
        FROM unnest($1::text[], $2::text[]) AS t (name, command)
        CROSS JOIN LATERAL run_command_on_shards(t.name::regclass, t.command) r
        WHERE NOT r.success OR r.result <> 'guarded'
        ORDER BY t.name, r.shardid
        """)
    private static let nodes = Statement(
        "node_findings",
        """
        SELECT nodename || ':' || nodeport AS node FROM pg_dist_node n
        JOIN run_command_on_all_nodes($1) r ON r.nodeid = n.nodeid
        WHERE NOT r.success OR r.result <> 'guarded' ORDER BY 1
        """)

    /// Returns the requirements that shards or nodes do not meet, the lowest level first.
    ///
    /// - Parameters:
    ///   - connection: Any connection to the coordinator.
    ///   - logins: The runtime logins.
    /// - Returns: The unmet requirements, and that there is no level 3.
    /// - Throws: `PostgresError` if a node cannot be asked.
    static func findings(
        on connection: Connection, logins: [String]
    ) throws(PostgresError) -> [AppendOnlyGuards.Finding] {
        var findings: [AppendOnlyGuards.Finding] = []
        let nodes = try connection.query(nodes, [.text(bodyCommand)])
        for row in 0..<nodes.rowCount {
            let node = try nodes.text(row, nodes.column("node"))
            findings.append(
                .init(level: .triggers, text: "ledger_refuse_change() of node \(node) was altered"))
        }
        let tables = GuardedTables.all
        findings += try ask(tables, tables.map(triggerCommand), on: connection) {
            .init(level: .triggers, text: "the shard \($0) lacks a trigger that is ENABLE ALWAYS")
        }
        let evidence = GuardedTables.appendOnly + GuardedTables.erasable
        findings += try ask(
            evidence, evidence.map { _ in privilegeCommand(logins) }, on: connection
        ) {
            .init(level: .separateRoles, text: "the serving login may change the shard \($0)")
        }
        findings.append(
            .init(
                level: .eventTriggers,
                text: "event triggers do not see shards: level 3 is not available on Citus"))
        return findings
    }

    private static func ask(
        _ tables: [String], _ commands: [String], on connection: Connection,
        _ finding: (_ shard: String) -> AppendOnlyGuards.Finding
    ) throws(PostgresError) -> [AppendOnlyGuards.Finding] {
        let rows = try connection.query(deviating, [.texts(tables), .texts(commands)])
        var findings: [AppendOnlyGuards.Finding] = []
        for row in 0..<rows.rowCount {
            let name = try rows.text(row, rows.column("name"))
            findings.append(finding("\(name)_\(try rows.int8(row, rows.column("shardid")))"))
        }
        return findings
    }

    /// A shard has the triggers of its table and no other: before TRUNCATE (34), and before UPDATE or DELETE (27).
    private static func triggerCommand(_ table: String) -> String {
        let types = GuardedTables.appendOnly.contains(table) ? "27,34" : "34"
        return """
            SELECT CASE WHEN string_agg(t.tgtype::text, ',' ORDER BY t.tgtype) = '\(types)'
                AND bool_and(t.tgenabled = 'A' AND t.tgqual IS NULL
                    AND t.tgfoid = 'public.ledger_refuse_change'::regproc)
                THEN 'guarded' ELSE 'open' END
            FROM pg_catalog.pg_trigger t
            WHERE t.tgrelid = '%1$s'::regclass AND NOT t.tgisinternal
            """
    }

    private static func privilegeCommand(_ logins: [String]) -> String {
        let list = logins.map(quoteLiteral).joined(separator: ", ")
        return """
            SELECT CASE WHEN bool_or(has_any_column_privilege(r.oid, '%1$s', 'UPDATE')
                OR has_table_privilege(r.oid, '%1$s', 'DELETE, TRUNCATE, TRIGGER'))
                THEN 'open' ELSE 'guarded' END
            FROM pg_catalog.pg_roles r WHERE r.rolname = ANY (ARRAY[\(list)]::name[])
            """
    }

    private static var bodyCommand: String {
        let body = AppendOnlyGuards.body(of: MigrationScripts.guardTriggers, tag: "$refuse$")
        return """
            SELECT CASE WHEN regexp_replace(p.prosrc, '\\s+', ' ', 'g')
                = regexp_replace(\(quoteLiteral(body)), '\\s+', ' ', 'g')
                THEN 'guarded' ELSE 'open' END
            FROM pg_catalog.pg_proc p WHERE p.oid = 'public.ledger_refuse_change'::regproc
            """
    }
}
