import Testing

@testable import LedgerPostgres

/// The statements of a script, which Citus executes one by one.
@Suite struct SQLScriptTests {
    @Test func `semicolons in quotes and comments end no statement`() {
        let script = SQLScript(
            """
            -- A comment; with a semicolon.
            SELECT 'it''s; one', E'a\\'; b', ";", $1;
            DO $do$ BEGIN PERFORM 1; PERFORM $x$;$x$; END $do$;
            ;
            -- The end;
            """)
        #expect(
            script.statements.map { $0.split(separator: "\n").last.map(String.init) } == [
                "SELECT 'it''s; one', E'a\\'; b', \";\", $1",
                "DO $do$ BEGIN PERFORM 1; PERFORM $x$;$x$; END $do$",
            ])
    }

    @Test func `no statement of a migration is cut`() {
        let verbs: Set = [
            "ALTER", "COMMENT", "CREATE", "DELETE", "DO", "DROP", "GRANT", "INSERT", "REVOKE",
            "SELECT", "SET", "UPDATE", "WITH",
        ]
        for migration in Migration.embedded {
            let statements = SQLScript(migration.sql).statements
            #expect(!statements.isEmpty, "\(migration.name)")
            for statement in statements {
                let lines = statement.split(separator: "\n").filter { !$0.hasPrefix("--") }
                let verb = lines.first?.split(separator: " ").first.map(String.init) ?? ""
                #expect(verbs.contains(verb), "\(migration.name): \(statement.prefix(60))")
            }
        }
    }
}
