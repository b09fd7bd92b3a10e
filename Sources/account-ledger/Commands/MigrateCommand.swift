import CommandLine
import LedgerPostgres

/// `migrate`: migrates the database to this binary's schema and strengthens its guards.
enum MigrateCommand {
    static let syntax = Syntax(
        words: ["migrate"],
        summary: "migrate the database to the schema of this binary",
        settings: [.databaseURL, .migrateURL],
        details: """
            Forward only. Running it again repairs roles, grants and guards, drops the tables of an
            interrupted rebuild, and changes nothing else. Of several concurrent runs, one works and the
            others wait. Refuses a database that is newer than the binary. Prints the append-only level of the
            database, which depends on the rights of the login of LEDGER_MIGRATE_URL.
            """)

    static func run(_: Arguments, _ environment: Environment) async throws -> ExitCode {
        let migrator = Migrator(
            ownerURL: try environment.migrateURL, runtimeURL: try environment.databaseURL)
        let report = try migrator.migrate()
        let applied = report.applied.map(String.init).joined(separator: ", ")
        var text = "schema version \(report.version)"
        text += applied.isEmpty ? ", nothing to apply\n" : ", applied \(applied)\n"
        text += report.repaired.map { "repaired: \($0)\n" }.joined()
        text += report.dropped.map { "dropped: \($0), left by an interrupted rebuild\n" }.joined()
        text += "\(report.guards.sentence)\n"
        Terminal.print(text)
        return .success
    }
}
