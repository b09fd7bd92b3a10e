internal import Cryptography
internal import Encodings
internal import Foundation
internal import LedgerPostgres
internal import Postgres

/// The migrated database that scratch databases are copied from, since migrating each would take several
/// times as long.
///
/// Its copies have its guards, and its privileges under the names of their own roles. Each build of the tests has
/// one of its own, which stays in the cluster until another build replaces it.
actor ScratchTemplate {
    static let shared = ScratchTemplate()

    /// The key of the `pg_advisory_lock` of processes that make it: "scratch" and a number, in ASCII.
    private static let lockKey: Int64 = 0x7363_7261_7463_6801

    private var making: Task<String, any Error>?

    /// The database's name; the first request makes it, unless an earlier run of this build did.
    var name: String {
        get async throws {
            let task = making ?? Task { try await Self.make() }
            making = task
            return try await task.value
        }
    }

    private static func make() async throws -> String {
        let (prefix, name) = try names()
        let url = try TestCluster.url(replacing: ["dbname": name])
        let session = Session(
            url: try TestCluster.url, applicationName: "scratch template",
            statementDeadline: .seconds(60))
        try await session.run { connection in
            try connection.execute("SELECT pg_advisory_lock(\(lockKey))")
            let found = try connection.query(
                Statement(
                    "scratch_templates",
                    """
                    SELECT datname::text, datistemplate FROM pg_database
                    WHERE starts_with(datname, $1)
                    """), [.text(prefix)])
            var isMade = false
            for row in 0..<found.rowCount {
                let other = try found.text(row, 0)
                if try other == name && found.bool(row, 1) {
                    isMade = true
                } else {
                    try remove(other, connection)
                }
            }
            guard !isMade else { return }
            try connection.execute("CREATE DATABASE \(name) TEMPLATE template0")
            _ = try Migrator(ownerURL: url, runtimeURL: url).migrate()
            try connection.execute("ALTER DATABASE \(name) IS_TEMPLATE true")
        }
        await session.close()
        return name
    }

    /// Removes the template of a former build or of a killed run.
    private static func remove(_ name: String, _ connection: Connection) throws {
        try connection.execute("ALTER DATABASE \(name) IS_TEMPLATE false")
        try connection.execute("DROP DATABASE \(name) WITH (FORCE)")
        let roles = LedgerRoles(database: name).all.joined(separator: ", ")
        try connection.execute("DROP ROLE IF EXISTS \(roles)")
    }

    /// Returns the name for this build, and what it begins with for every build in this place.
    private static func names() throws -> (prefix: String, name: String) {
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let built = try FileManager.default.attributesOfItem(atPath: program)[.modificationDate]
        func digest(_ text: String) -> String {
            Hex.encode(Array(SHA256.hash(Array(text.utf8)).prefix(4)))
        }
        let prefix = "ledger_test_template_" + digest(program)
        let seconds = (built as? Date)?.timeIntervalSince1970 ?? 0
        return (prefix, "\(prefix)_\(digest("\(seconds)"))")
    }
}
