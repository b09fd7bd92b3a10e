extension Connection {
    /// The initial settings of every connection, independent of the server's configuration and the
    /// login's settings.
    ///
    /// A commit that was confirmed survives a crash, even when the configuration changes during a
    /// connection; stronger levels are kept. Transactions see what was committed before each
    /// statement. Statements have the limits that a session sets, and unqualified names are those
    /// of `public`: a schema named after the login and temporary tables would precede it. The
    /// server checks every two seconds that the client is still connected: otherwise a statement
    /// waiting for a lock would occupy its connection for as long, and each retry another one.
    package static let initialSettings = """
        SELECT set_config('synchronous_commit', CASE current_setting('synchronous_commit')
            WHEN 'off' THEN 'on' WHEN 'local' THEN 'on' ELSE current_setting('synchronous_commit') END, false);
        SET default_transaction_isolation = 'read committed';
        SET standard_conforming_strings = on;
        SET search_path = public, pg_temp;
        SET statement_timeout = 0;
        SET client_connection_check_interval = '2s'
        """
}
