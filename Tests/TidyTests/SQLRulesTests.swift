import Testing

/// The rules for SQL, see `SQLRule`, for every statement's text.
@Suite struct SQLRulesTests {
    /// Programs that only prepare or load test databases.
    private static let unchecked: Set<String> = [
        "LedgerTestSupport", "ledger-bench-load", "ledger-fuzz", "ledger-load",
    ]

    private struct Break: Hashable, CustomStringConvertible {
        let name: String
        let rule: SQLRule

        var description: String { "\(name) breaks rule \(rule.rawValue)" }
    }

    @Test func `statements keep the rules for SQL, but for listed exceptions`() throws {
        let files = try SourceTree(["Sources"]).files
            .filter { !Self.unchecked.contains($0.module) }
        let tables = try Self.tables()
        #expect(tables.isSuperset(of: ["events", "sessions", "webhook_cursors", "conflicts"]))
        let texts = SQLTexts(files).all
        #expect(texts.count > 250)
        let found = texts.flatMap { text in
            SQLRule.broken(by: text.sql, tables: tables, in: text.file)
                .map { Break(name: text.name, rule: $0) }
        }
        let listed = SQLException.all.flatMap { exception in
            exception.names.map { Break(name: $0, rule: exception.rule) }
        }
        #expect(Set(listed).count == listed.count)
        let unlisted = Set(found).subtracting(listed).map(\.description).sorted()
        #expect(unlisted.isEmpty, "not listed: \(unlisted)")
        let obsolete = Set(listed).subtracting(found).map(\.description).sorted()
        #expect(obsolete.isEmpty, "listed, but no longer true: \(obsolete)")
    }

    /// The tables of all migrations that have a `tenant_id`.
    private static func tables() throws -> Set<String> {
        var tables: Set<String> = []
        for file in try SourceTree(["migrations"], suffix: ".sql").files {
            let text = file.lines.joined(separator: "\n")
            for match in text.matches(of: /CREATE TABLE (\w+?)(?:_1)? \(\s*tenant_id/) {
                tables.insert(String(match.output.1))
            }
        }
        return tables
    }

    @Test(arguments: [
        "SELECT 1 FROM events WHERE tenant_id = $1",
        "SELECT 1 FROM events e JOIN sessions s ON s.tenant_id = $1 WHERE e.tenant_id = $1::text",
        "SELECT (SELECT max(n) FROM events WHERE tenant_id = $1), x FROM unnest($2) AS k (x)",
        "COPY (SELECT entry FROM events WHERE tenant_id = 'a') TO STDOUT",
        "INSERT INTO events (n, tenant_id) SELECT k.n, $1 FROM unnest($2) AS k (n)",
        "INSERT INTO events AS e (tenant_id) VALUES ($1) ON CONFLICT DO NOTHING",
        "UPDATE sessions SET x = 1 WHERE tenant_id = $1 AND (y OR extract(epoch FROM z) > 1)",
        "DELETE FROM sessions s USING unnest($2) AS k (id) WHERE s.tenant_id = $1 AND s.id = k.id",
        """
        UPDATE sessions s SET x = 1 FROM unnest($2) AS k (id)
        CROSS JOIN LATERAL (SELECT ctid FROM sessions WHERE tenant_id = $1 AND id = k.id OFFSET 0) p
        WHERE s.tenant_id = $1 AND s.ctid = p.ctid
        """,
        "SELECT 1 FROM events WHERE tenant_id = $1 UNION SELECT 2 FROM x WHERE tenant_id = $1",
        "SELECT version FROM migrations FOR UPDATE",
        "SELECT x IS NOT DISTINCT FROM y FROM events WHERE tenant_id = $1",
        "SELECT clock_timestamp() FROM events WHERE tenant_id = $1 FOR NO KEY UPDATE",
        "UPDATE sessions SET x = statement_timestamp() WHERE tenant_id = $1",
        "INSERT INTO sessions (tenant_id, x) VALUES ($1, clock_timestamp()) ON CONFLICT DO NOTHING",
        "UPDATE sessions SET x = '; random()' WHERE tenant_id = $1 -- random()",
    ]) func `a statement that keeps the rules is not reported`(_ sql: String) {
        #expect(broken(sql).isEmpty)
    }

    @Test(arguments: [
        "SELECT 1 FROM events",
        "SELECT 1 FROM public.events WHERE position = $1",
        "SELECT 1 FROM events WHERE tenant_id = ANY ($1)",
        "SELECT 1 FROM events WHERE tenant_id IN ($1, $2)",
        "SELECT 1 FROM events WHERE (tenant_id, position) > ($1, $2)",
        "SELECT 1 FROM events e, sessions s WHERE e.tenant_id = $1",
        "SELECT 1 FROM events e JOIN sessions s ON s.tenant_id = e.tenant_id WHERE e.tenant_id = $2",
        "SELECT 1 FROM events JOIN sessions USING (tenant_id) WHERE tenant_id = $1",
        "SELECT 1 FROM unnest($1) AS k (t), LATERAL (SELECT 1 FROM events WHERE tenant_id = k.t) e",
        "SELECT 1 FROM events WHERE tenant_id = $1 UNION SELECT 2 FROM sessions",
        "SELECT 1 FROM x WHERE EXISTS (SELECT FROM events)",
        "WITH a AS (DELETE FROM sessions WHERE holder = $1 RETURNING 1) SELECT count(*) FROM a",
        "UPDATE sessions s SET x = 1 FROM events e WHERE e.tenant_id = $1 AND s.ctid = e.place",
        "INSERT INTO events (tenant_id, position) SELECT * FROM unnest($1, $2)",
        "INSERT INTO events (tenant_id) SELECT k.t FROM unnest($1) AS k (t)",
        "INSERT INTO events VALUES ($1)",
        "SELECT 1 FROM events WHERE tenant_id = $1; DELETE FROM sessions",
        "CROSS JOIN LATERAL (SELECT 1 FROM x WHERE tenant_id = k.tenant_id) y",
    ]) func `a table without a scalar tenant is reported`(_ sql: String) {
        #expect(broken(sql) == [.scalarTenant])
    }

    @Test(arguments: [
        "SELECT 1 FROM events e WHERE e.tenant_id IS NOT DISTINCT FROM $1",
        "SELECT 1 FROM events e WHERE tenant_id = $1 AND $1 IS NOT DISTINCT FROM e.tenant_id",
    ]) func `another comparison of tenants is reported`(_ sql: String) {
        #expect(broken(sql) == [.plainEquals])
    }

    @Test(arguments: [
        "UPDATE sessions SET x = clock_timestamp() WHERE tenant_id = $1",
        "DELETE FROM sessions WHERE tenant_id = $1 AND x < clock_timestamp()",
        "WITH a AS (UPDATE sessions SET x = random() WHERE tenant_id = $1) SELECT 1",
        "INSERT INTO events (tenant_id) VALUES ($1) ON CONFLICT (a) DO UPDATE SET x = now()",
        """
        WITH a AS (
            INSERT INTO events (tenant_id) VALUES ($1)
            ON CONFLICT (a) DO UPDATE SET x = timeofday())
        SELECT 1
        """,
    ]) func `a changing function in a write is reported`(_ sql: String) {
        #expect(broken(sql) == [.fixedClock])
    }

    @Test(arguments: [
        "SELECT pg_try_advisory_xact_lock(1)", "SELECT 1 FROM pg_catalog.pg_locks",
        "SELECT pg_total_relation_size('events')", "SELECT pg_table_size('events')",
        "ctid >= '(0,0)' AND ctid < '(1,0)'",
        "SELECT 1 FROM events WHERE tenant_id = $1 AND ctid = $2::tid",
    ]) func `a lock, size or address that one node knows is reported`(_ sql: String) {
        #expect(broken(sql) == [.everyNode])
    }

    @Test func `the file of all tenants may read all of them, and neither write nor lock`() {
        func broken(_ sql: String) -> Set<SQLRule> {
            SQLRule.broken(by: sql, tables: ["events"], in: SQLRule.fileOfAllTenants)
        }
        #expect(broken("SELECT substring(tenant_id FOR 4) FROM events").isEmpty)
        #expect(broken("SELECT pg_table_size('events')") == [.everyNode])
        for sql in [
            "SELECT tenant_id FROM events FOR UPDATE", "SELECT 1 FROM events FOR KEY SHARE",
            "WITH a AS (DELETE FROM events RETURNING 1) SELECT 1 FROM a", "LOCK TABLE events",
        ] {
            #expect(broken(sql) == [.readsAllTenants], "\(sql)")
        }
    }

    @Test func `texts are named, and read with their fragments`() {
        let source = #"""
            // A comment with "SELECT 1 FROM a".
            enum Rows {
                private static let one = Statement("one", "SELECT \(of("a")) FROM a \(Self.tail)")
                private static let columns = "SELECT 0 "
                private static let two = Statement("two", columns + "FROM b")
                static func of(_ a: String) -> String { "\(a).x" }
                static let tail = """
                    WHERE x = '\\x' AND \(any) = 1
                    """
                static let many = RowsStatement("many", ["n": "int"]) { rows in
                    let keys = ArrayRows.sql(["a": "text"])
                    return "SELECT 1 FROM \(rows), \(keys)"
                }
                func run() { execute(Statement("\(name)_x", "SELECT 3 FROM c")) }
                func fill() { execute("SELECT 4 FROM \(quoteLiteral(name))") }
                let message = "no SQL"
            }
            """#
        let texts = SQLTexts(file: "Rows", source: source).all
        #expect(
            texts.map { "\($0.name): \($0.sql.split { $0.isWhitespace }.joined(separator: " "))" }
                == [
                    "one: SELECT a.x FROM a WHERE x = '\\x' AND interpolated_any = 1",
                    "two: SELECT 0 FROM b", "many: SELECT 1 FROM unnest(), unnest()",
                    "Rows.*_x: SELECT 3 FROM c",
                    "Rows.fill: SELECT 4 FROM interpolated_quoteLiteral",
                ])
    }

    private func broken(_ sql: String) -> Set<SQLRule> {
        SQLRule.broken(by: sql, tables: ["events", "sessions"])
    }
}
