import LedgerTestSupport
import Postgres

/// The rows of every table of a ledger, each as a line of JSON.
///
/// The lines name no columns that are null, so a table may gain columns with a default.
enum LedgerDump {
    /// Returns the rows of every table but that of the migrations, in a fixed order.
    static func lines(of database: ScratchDatabase) async throws -> [String] {
        let tables = try await database.asSuperuser.texts(
            """
            SELECT relname::text FROM pg_class
            WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
                AND relname <> 'ledger_migrations'
            ORDER BY 1
            """)
        var lines: [String] = []
        for table in tables { lines += try await Self.lines(of: table, in: database) }
        return lines
    }

    /// Returns the rows of one table.
    static func lines(of table: String, in database: ScratchDatabase) async throws -> [String] {
        try await database.asSuperuser.texts(
            """
            SELECT json_build_object('table', '\(table)', 'row', json_strip_nulls(row_to_json(t)))::text
            FROM \(table) t ORDER BY t::text COLLATE "C"
            """)
    }

    /// Inserts rows into the tables of a database without guards.
    static func restore(_ lines: [String], into database: ScratchDatabase) async throws {
        let inserts = lines.map { line in
            """
            SELECT pg_temp.restore(\(quoteLiteral(line))::json);
            """
        }
        try await database.asSuperuser.execute(
            """
            BEGIN;
            CREATE FUNCTION pg_temp.restore(line json) RETURNS void LANGUAGE plpgsql AS $restore$
            BEGIN
                EXECUTE format(
                    'INSERT INTO %1$I SELECT * FROM json_populate_record(NULL::%1$I, $1)',
                    line ->> 'table') USING line -> 'row';
            END
            $restore$;
            -- The migrations fill this one.
            DELETE FROM projection_tables;
            \(inserts.joined(separator: "\n"))
            COMMIT
            """)
    }

    /// Checks that a table has exactly some rows; columns that the lines do not name may have any value.
    static func differences(
        from lines: [String], in table: String, of database: ScratchDatabase
    ) async throws -> [String] {
        let list = lines.map(quoteLiteral).joined(separator: ", ")
        return try await database.asSuperuser.texts(
            """
            WITH former AS (
                SELECT line::jsonb -> 'row' AS row
                FROM unnest(ARRAY[\(list)]::text[]) AS line
            ), present AS (SELECT to_jsonb(t) AS row FROM \(table) t)
            SELECT 'missing ' || f.row::text FROM former f
            WHERE NOT EXISTS (SELECT FROM present p WHERE p.row @> f.row)
            UNION ALL
            SELECT 'surplus ' || p.row::text FROM present p
            WHERE NOT EXISTS (SELECT FROM former f WHERE p.row @> f.row)
            """)
    }
}
