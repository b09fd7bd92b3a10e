extension Connection {
    /// What every connection begins with, whatever the server's configuration or the login's settings are.
    ///
    /// A commit that was answered survives a crash, and goes on doing so when the configuration is changed
    /// under a connection: stronger levels stay as they are. Transactions see what was committed before each
    /// statement. Statements have the limits that a session sets, and the names in them are those of `public`:
    /// a schema of the login's name and temporary tables would come before it. The server looks every two
    /// seconds whether somebody still waits for a statement: one that waits for a lock would keep its
    /// connection for as long, and every attempt after it would take another.
    static let firstSettings = """
        SELECT set_config('synchronous_commit', CASE current_setting('synchronous_commit')
            WHEN 'off' THEN 'on' WHEN 'local' THEN 'on' ELSE current_setting('synchronous_commit') END, false);
        SET default_transaction_isolation = 'read committed';
        SET standard_conforming_strings = on;
        SET search_path = public, pg_temp;
        SET statement_timeout = 0;
        SET client_connection_check_interval = '2s'
        """
}
