import LedgerPostgres

/// `migrate`: brings the database to this binary's schema, and its guards to their strongest.
enum MigrateCommand {
    static let syntax = Syntax(
        words: ["migrate"],
        summary: "bring the database to the schema of this binary",
        settings: [.databaseURL, .migrateURL],
        details: """
            Forward only; running it again repairs roles, grants and guards, drops tables that a broken-off
            rebuild left, and changes nothing else. Of several at once, one works and the others wait. Refuses a database that is newer than the
            binary. Prints how strongly the database keeps the log append-only: the level depends on what
            the login of LEDGER_MIGRATE_URL may do.
            """)

    static func run(_: Arguments, _ environment: Environment) async throws -> ExitCode {
        let migrator = Migrator(
            ownerURL: try environment.migrateURL, runtimeURL: try environment.databaseURL)
        let report = try migrator.migrate()
        let applied = report.applied.map(String.init).joined(separator: ", ")
        var text = "schema version \(report.version)"
        text += applied.isEmpty ? ", nothing to apply\n" : ", applied \(applied)\n"
        text += report.repaired.map { "repaired: \($0)\n" }.joined()
        text += report.dropped.map { "dropped: \($0), which a rebuild had not finished\n" }.joined()
        text += "\(report.guards.sentence)\n"
        Terminal.print(text)
        return .success
    }
}
