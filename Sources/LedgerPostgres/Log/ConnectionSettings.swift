/// Statements with which a connection begins, to be joined.
enum ConnectionSettings {
    /// Every statement looks few keys up or reads a stretch in order.
    ///
    /// A plan made while a table is young stays when it has grown, so the planner is left no choice: no
    /// scans, no joins of whole tables.
    static let lookups = """
        SET plan_cache_mode = force_generic_plan;
        SET enable_seqscan = off;
        SET enable_bitmapscan = off;
        SET enable_hashjoin = off;
        SET enable_mergejoin = off;
        SET jit = off;

        """

    /// Refuses a standby, whose answers are of some time ago; so the next attempt may find the primary.
    static let primary = """
        DO $$ BEGIN
            IF pg_is_in_recovery() THEN
                RAISE 'the server is a standby' USING ERRCODE = 'read_only_sql_transaction';
            END IF;
        END $$;

        """

    /// Losing the last commits in a crash is harmless: they are made again.
    static let repeatable = "SET synchronous_commit = off;\n"

    /// How many seconds a transaction may stand still, wait for a lock, and work on one statement.
    ///
    /// A process whose machine has vanished sends nothing that ends its connection; its transaction goes
    /// after some seconds all the same, and not after the two hours of TCP. Over a socket of the same
    /// machine these settings say nothing.
    static func limits(idle: Int, lock: Int, statement: Int) -> String {
        """
        SET idle_in_transaction_session_timeout = '\(idle)s';
        SET lock_timeout = '\(lock)s';
        SET statement_timeout = '\(statement)s';
        SET tcp_keepalives_idle = 2;
        SET tcp_keepalives_interval = 1;
        SET tcp_keepalives_count = 3;
        SET tcp_user_timeout = '5s';

        """
    }
}
