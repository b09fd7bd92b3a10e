internal import Postgres

/// The ledger's tables on Citus: each tenant's rows in shards of one node.
///
/// A table of tenants is distributed by `tenant_id` beside `ledger_head`. What all nodes read is a reference table.
/// A database whose tables have rows is refused, because distributing leaves the former rows on the coordinator's
/// disk, where no erasure reaches them.
struct ShardedSchema {
    /// A table to distribute, with its column; nil for a reference table.
    private struct Placement {
        let table: String
        let column: String?
    }

    private static let reference: Set<String> = [
        "ledger_migrations", "projection_tables", "tenant_moves",
    ]
    /// Tables without a tenant, with their distribution column.
    private static let own = ["console_sessions": "token_digest"]
    private static let first = "ledger_head"
    /// The functions of one tenant, which run where its shards are, and the parameter that names it.
    private static let functions = [
        "ledger_erase_accounts(text, uuid[], bigint[])",
        "ledger_destroy_disclosures(text, uuid, bigint[])",
    ]
    /// The functions that statements call on every node.
    private static let helpers = [
        "ledger_expect(bigint, bigint, text)", "ledger_refuse_change()",
        "ledger_erasing_entry(text, uuid, bigint)", "ledger_is_held(text, uuid, bigint)",
    ]

    private static let isDistributed = Statement(
        "sharded_table",
        "SELECT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = to_regclass($1::text))")
    private static let readModels = Statement(
        "sharded_read_models",
        "SELECT name || '_' || generation AS place FROM projection_tables ORDER BY 1")
    private static let tableExists = Statement(
        "sharded_table_exists", "SELECT to_regclass($1::text) IS NOT NULL")
    private static let replicate = Statement(
        "replicate_table", "SELECT create_reference_table($1::text::regclass)")
    private static let distributeFunction = Statement(
        "shard_function",
        """
        SELECT create_distributed_function($1::text::regprocedure, 'tenant',
            colocate_with => 'ledger_head', force_delegation => true)
        """)
    private static let copyFunction = Statement(
        "copy_function", "SELECT create_distributed_function($1::text::regprocedure)")

    /// The columns with a target of statistics, as the changes that give it to a shard.
    private static let statistics = Statement(
        "shard_statistics",
        """
        SELECT string_agg(format('ALTER %I SET STATISTICS %s', a.attname, a.attstattarget), ', ') AS changes
        FROM pg_dist_partition p JOIN pg_catalog.pg_attribute a ON a.attrelid = p.logicalrelid
        WHERE p.logicalrelid = to_regclass($1::text) AND a.attnum > 0 AND NOT a.attisdropped AND a.attstattarget >= 0
        GROUP BY p.logicalrelid
        """)
    private static let runOnShards = Statement(
        "run_on_shards",
        """
        SELECT shardid, result FROM run_command_on_shards($1::text::regclass, $2)
        WHERE NOT success ORDER BY shardid LIMIT 1
        """)
    private static let runOnWorkers = Statement(
        "run_on_workers",
        """
        SELECT nodename || ':' || nodeport AS node FROM run_command_on_workers($1)
        WHERE NOT success ORDER BY 1
        """)

    let connection: Connection
    let database: String

    /// Prepares pending migrations: the first ones make plain tables, which are distributed at the end.
    ///
    /// - Throws: `MigrationError.tablesHaveRows`, or `PostgresError`.
    func prepare() throws {
        let isDistributed = try isDistributed(Self.first)
        if !isDistributed { try refuseRows() }
        try connection.execute(
            """
            SET citus.enable_unsafe_triggers = on;
            SET citus.multi_shard_modify_mode = 'sequential';
            SET citus.enable_ddl_propagation = \(isDistributed ? "on" : "off")
            """)
    }

    /// Executes a statement of a migration.
    ///
    /// Citus refuses targets of statistics for a distributed table: the coordinator's table gets them alone, which new
    /// shards are made from; ``followStatistics()`` gives them to the others.
    ///
    /// - Throws: `PostgresError`.
    func execute(_ statement: String) throws {
        guard Self.setsStatistics(statement), try isDistributed(Self.first) else {
            return try connection.execute(statement)
        }
        try connection.execute("SET LOCAL citus.enable_ddl_propagation = off")
        try connection.execute(statement)
        try connection.execute("SET LOCAL citus.enable_ddl_propagation = on")
    }

    /// Whether a statement changes targets of statistics, and nothing else.
    private static func setsStatistics(_ statement: String) -> Bool {
        let text = statement.drop(while: \.isWhitespace)
        return text.hasPrefix("ALTER TABLE ")
            && text.split(separator: ",").allSatisfy { $0.contains(" SET STATISTICS ") }
    }

    /// Makes every shard collect the statistics that the coordinator's table says.
    ///
    /// - Throws: `MigrationError.shardRefused`, or `PostgresError`.
    func followStatistics() throws {
        for table in try placements().filter({ $0.column != nil }).map(\.table) {
            let found = try connection.query(Self.statistics, [.text(table)])
            guard found.rowCount > 0 else { continue }
            let changes = try found.text(0, found.column("changes"))
            let refused = try connection.query(
                Self.runOnShards, [.text(table), .text("ALTER TABLE %s \(changes)")])
            guard refused.rowCount == 0 else {
                throw MigrationError.shardRefused(
                    "\(table)_\(try refused.int8(0, refused.column("shardid")))",
                    reason: try refused.text(0, refused.column("result")))
            }
        }
    }

    /// Distributes the tables that are not yet.
    ///
    /// - Throws: `MigrationError.tablesHaveRows`, or `PostgresError`.
    func distribute() throws {
        try connection.execute("SET citus.enable_ddl_propagation = on")
        try turnOffCompilation()
        var missing: [Placement] = []
        for placement in try placements() where try !isDistributed(placement.table) {
            // A later migration makes the table.
            if try exists(placement.table) { missing.append(placement) }
        }
        guard !missing.isEmpty else { return }
        try refuseRows(in: missing.filter { $0.column != nil }.map(\.table))
        try connection.transaction {
            for placement in missing {
                try distribute(placement)
            }
            for function in Self.helpers {
                _ = try connection.query(Self.copyFunction, [.text(function)])
            }
            for function in Self.functions {
                _ = try connection.query(Self.distributeFunction, [.text(function)])
            }
        }
    }

    /// Makes every node run statements without compiling them first: settings of a session do not reach workers,
    /// and compiling takes longer than looking up some keys.
    private func turnOffCompilation() throws {
        try connection.execute("ALTER DATABASE \(quoteIdentifier(database)) SET jit = off")
    }

    /// Adds the serving login to its group on every worker: Citus does so only for logins that it made.
    ///
    /// - Throws: `MigrationError.loginIsNotOnEveryNode`, or `PostgresError`.
    func grant(_ group: String, to login: String) throws {
        let grant = "GRANT \(quoteIdentifier(group)) TO \(quoteIdentifier(login))"
        let refused = try connection.query(Self.runOnWorkers, [.text(grant)])
        guard refused.rowCount == 0 else {
            throw MigrationError.loginIsNotOnEveryNode(
                login: login, node: try refused.text(0, refused.column("node")))
        }
    }

    private func distribute(_ placement: Placement) throws {
        guard let column = placement.column else {
            _ = try connection.query(Self.replicate, [.text(placement.table)])
            return
        }
        let isAlone = placement.table == Self.first || Self.own[placement.table] != nil
        _ = try connection.query(
            DatabaseEngine.distributeTable,
            [.text(placement.table), .text(column), .text(isAlone ? "none" : Self.first)])
    }

    /// The placement of each table, `ledger_head` before those beside it.
    private func placements() throws -> [Placement] {
        let names = Catalogue.tables.filter { !$0.isReadModel }.map(\.name)
        let rows = try connection.query(Self.readModels)
        let models = try (0..<rows.rowCount).map { try rows.text($0, rows.column("place")) }
        let others = names.filter { $0 != Self.first } + models
        return ([Self.first] + others).map { table in
            let column = Self.reference.contains(table) ? nil : Self.own[table] ?? "tenant_id"
            return Placement(table: table, column: column)
        }
    }

    private func refuseRows() throws {
        guard try exists("projection_tables") else { return }
        try refuseRows(in: try placements().filter { $0.column != nil }.map(\.table))
    }

    private func refuseRows(in tables: [String]) throws {
        for table in tables where try exists(table) {
            let found = try connection.query(
                Statement("sharded_rows_\(table)", "SELECT EXISTS (SELECT FROM \(table))"))
            if try found.bool(0, 0) { throw MigrationError.tablesHaveRows(table) }
        }
    }

    private func exists(_ table: String) throws -> Bool {
        try connection.query(Self.tableExists, [.text(table)]).bool(0, 0)
    }

    private func isDistributed(_ table: String) throws -> Bool {
        try connection.query(Self.isDistributed, [.text(table)]).bool(0, 0)
    }
}
