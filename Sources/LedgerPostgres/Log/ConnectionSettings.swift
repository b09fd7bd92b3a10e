/// Statements that prepare a connection, to be concatenated.
package enum ConnectionSettings {
    /// Settings for statements that look up few keys or read a range in order.
    ///
    /// A plan made while a table is young is kept when the table has grown, so the planner is left
    /// no choice: no scans, no joins of whole tables.
    package static let lookups = """
        SELECT set_config('plan_cache_mode', CASE
            WHEN EXISTS (SELECT FROM pg_catalog.pg_extension WHERE extname = 'citus')
            THEN 'force_custom_plan' ELSE 'force_generic_plan' END, false);
        SET enable_seqscan = off;
        SET enable_bitmapscan = off;
        SET enable_hashjoin = off;
        SET enable_mergejoin = off;
        SET jit = off;

        """

    /// Refuses a standby, whose data may be stale; the next attempt may reach the primary.
    static let primary = """
        DO $$ BEGIN
            IF pg_is_in_recovery() THEN
                RAISE 'the server is a standby' USING ERRCODE = 'read_only_sql_transaction';
            END IF;
        END $$;

        """

    /// For commits that may be lost in a crash, because they are repeated.
    static let asynchronousCommit = "SET synchronous_commit = off;\n"

    /// On Citus a statement over all tenants uses one connection to each node, the one that is kept.
    ///
    /// Others would be opened for it and closed again, each a process of the node.
    static let oneConnectionPerNode = """
        SELECT set_config('citus.max_adaptive_executor_pool_size', '1', false)
        WHERE EXISTS (SELECT FROM pg_catalog.pg_extension WHERE extname = 'citus');

        """

    /// The limits, in seconds, of an idle transaction, a wait for a lock, and a statement.
    ///
    /// A process whose machine has vanished sends nothing that ends its connection; its transaction
    /// still ends after seconds instead of the two hours of TCP. On a socket of the same machine
    /// these settings have no effect.
    static func limits(idle: Int, lock: Int, statement: Int) -> String {
        """
        \(oneConnectionPerNode)SET idle_in_transaction_session_timeout = '\(idle)s';
        SET lock_timeout = '\(lock)s';
        SET statement_timeout = '\(statement)s';
        SET tcp_keepalives_idle = 2;
        SET tcp_keepalives_interval = 1;
        SET tcp_keepalives_count = 3;
        SET tcp_user_timeout = '5s';

        """
    }
}
