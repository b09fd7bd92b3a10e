internal import Encodings
internal import LedgerPostgres
internal import Postgres

/// The migrated database that scratch databases are copied from, since migrating each would take several
/// times as long.
///
/// Its copies have its guards, and its privileges under the names of their own roles. Its name has the digest of
/// what `migrate` does, and it stays in the cluster for the next run.
actor ScratchTemplate {
    static let shared = ScratchTemplate()

    /// The key of the `pg_advisory_lock` of processes that make it: "scratch" and a number, in ASCII.
    private static let lockKey: Int64 = 0x7363_7261_7463_6801

    private var making: Task<String, any Error>?

    /// The database's name; the first request makes it, unless an earlier run did.
    var name: String {
        get async throws {
            let task = making ?? Task { try await Self.make() }
            making = task
            return try await task.value
        }
    }

    private static func make() async throws -> String {
        let name = "ledger_test_template_" + Hex.encode(Array(Migrator.digest.prefix(8)))
        let url = try TestCluster.url(replacing: ["dbname": name])
        let session = Session(
            url: try TestCluster.url, applicationName: "scratch template",
            statementDeadline: .seconds(60))
        try await session.run { connection in
            try connection.execute("SELECT pg_advisory_lock(\(lockKey))")
            let complete = try connection.query(
                Statement(
                    "scratch_template",
                    "SELECT FROM pg_database WHERE datname = $1 AND datistemplate"),
                [.text(name)])
            guard complete.rowCount == 0 else { return }
            // The leftovers of a killed run.
            try connection.execute("DROP DATABASE IF EXISTS \(name) WITH (FORCE)")
            try connection.execute("CREATE DATABASE \(name) TEMPLATE template0")
            _ = try Migrator(ownerURL: url, runtimeURL: url).migrate()
            try connection.execute("ALTER DATABASE \(name) IS_TEMPLATE true")
        }
        await session.close()
        return name
    }
}
