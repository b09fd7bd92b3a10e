/// Why a database was not migrated; each description is one line that an operator can act on.
package enum MigrationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The database has migrations that this binary does not know; nothing was changed.
    case databaseIsNewer(database: Int, binary: Int)
    /// An applied migration is missing or has another digest than the embedded one; nothing was changed.
    case migrationDiffers(version: Int)
    /// Another migration of the same database did not end within the limit.
    case anotherIsRunning
    /// Appends, or a transaction that was left open, held the heads of the log until the limit.
    case appendsGoOn
    /// The tables belong to a role that the migrating login cannot act as.
    case notTheOwner(login: String, owner: String)
    /// `DATABASE_URL` cannot be used to log in; its login has to exist before migrating.
    case runtimeLoginUnusable(String)
    /// `DATABASE_URL` and `LEDGER_MIGRATE_URL` lead to different databases.
    case differentDatabases
    /// A role with the name of one of ours can do more than a group of ours may.
    case unfitRole(String)
    /// The runtime login still lacks rights after all grants, as when it does not inherit.
    case runtimeLoginLacksRights(String)
    /// The triggers of the log could not be put right.
    case unguarded([String])

    /// One line for the operator.
    package var description: String {
        switch self {
        case .databaseIsNewer(let database, let binary):
            "the database is at version \(database), newer than this binary, which knows \(binary)"
        case .migrationDiffers(let version):
            "migration \(version) of the database is not the one this binary carries"
        case .anotherIsRunning:
            "another migration of this database is running and did not end in time"
        case .appendsGoOn:
            "the log could not be locked in time: a server, or a transaction that was left open, holds"
                + " ledger_head; stop every server and migrate again"
        case .notTheOwner(let login, let owner):
            "the tables belong to \(owner), which \(login) cannot act as; migrate as \(owner)"
        case .runtimeLoginUnusable(let reason):
            "the login of DATABASE_URL cannot be used (create it first): \(reason)"
        case .differentDatabases:
            "DATABASE_URL and LEDGER_MIGRATE_URL lead to different databases"
        case .unfitRole(let role):
            "the role \(role) exists with LOGIN or other attributes that our groups must not have"
        case .runtimeLoginLacksRights(let login):
            "the login \(login) lacks rights on the ledger's tables; it must INHERIT its groups"
                + " and have USAGE on the schema public"
        case .unguarded(let findings):
            "the log cannot be made append-only: \(findings.joined(separator: "; "))"
        }
    }
}
