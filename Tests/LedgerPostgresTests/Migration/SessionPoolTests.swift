import LedgerTestSupport
import Testing

/// The sessions of ``SQLConsole`` are used again, each as a new one would be.
@Suite struct SessionPoolTests {
    private static let state = """
        SELECT name || ' ' || setting FROM pg_settings WHERE name NOT LIKE 'plpgsql.%'
        UNION ALL SELECT 'pid ' || pg_backend_pid()
        UNION ALL SELECT 'user ' || current_user || ' ' || session_user
        UNION ALL SELECT 'lock ' || objid FROM pg_locks
        WHERE locktype = 'advisory' AND pid = pg_backend_pid()
        UNION ALL SELECT 'table ' || relname FROM pg_class WHERE relname = 'left_behind'
        """

    @Test func `a session has the settings, the role and the locks of a new one`() async throws {
        try await ScratchDatabase.with { database in
            let console = database.asSuperuser
            let fresh = Set(try await console.texts(Self.state))
            #expect(fresh.contains("search_path public, pg_temp"))
            try await console.execute(
                """
                SELECT pg_advisory_lock(7);
                CREATE TEMP TABLE left_behind (n int);
                SET search_path = pg_catalog;
                SET statement_timeout = 77777;
                SET SESSION AUTHORIZATION \(database.runtimeLogin)
                """)
            let again = Set(try await console.texts(Self.state))
            #expect(again.symmetricDifference(fresh) == [])
        }
    }
}
