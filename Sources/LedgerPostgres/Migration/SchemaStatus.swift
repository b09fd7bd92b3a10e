internal import Postgres

/// The comparison of a database's schema with this binary's.
package enum SchemaStatus: Sendable, Hashable {
    /// The versions are equal.
    case current
    /// Migrations are pending; `from` may be 0.
    case behind(from: Int, to: Int)
    /// The database has been migrated by a later binary.
    case newer(Int)
    /// This migration was applied with another text, or skipped.
    case differs(version: Int)
    /// The ledger was never migrated into this database.
    case missing

    /// Compares the applied migrations, ordered by version, with the known ones.
    init(applied: [AppliedMigration], known: [Migration]) {
        guard let last = applied.last else {
            self = .missing
            return
        }
        guard last.version <= known.count else {
            self = .newer(last.version)
            return
        }
        for migration in known.prefix(last.version) {
            let match = applied.first { $0.version == migration.version }
            guard match?.digest == migration.digest else {
                self = .differs(version: migration.version)
                return
            }
        }
        self = last.version == known.count ? .current : .behind(from: last.version, to: known.count)
    }
}

/// A row of `ledger_migrations`.
struct AppliedMigration {
    let version: Int
    let digest: [UInt8]

    private static let tableExists = Statement(
        "migrations_table", "SELECT to_regclass('public.ledger_migrations') IS NOT NULL")
    private static let all = Statement(
        "migrations_applied",
        "SELECT version, sha256 FROM public.ledger_migrations ORDER BY version")

    /// Reads the table; a missing table counts as empty.
    static func load(_ connection: Connection) throws(PostgresError) -> [AppliedMigration] {
        guard try connection.query(tableExists).bool(0, 0) else { return [] }
        let rows = try connection.query(all)
        var applied: [AppliedMigration] = []
        for row in 0..<rows.rowCount {
            applied.append(
                AppliedMigration(
                    version: Int(try rows.int4(row, rows.column("version"))),
                    digest: try rows.bytes(row, rows.column("sha256"))))
        }
        return applied
    }
}
