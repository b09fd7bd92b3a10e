/// The reason for which a database was not migrated; each description is one actionable line.
package enum MigrationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The database has migrations that are unknown to this binary; nothing was changed.
    case databaseIsNewer(database: Int, binary: Int)
    /// An applied migration is missing or differs from the embedded one; nothing was changed.
    case migrationDiffers(version: Int)
    /// Another migration of the same database did not finish within the limit.
    case alreadyRunning
    /// The heads of the log stayed locked, by appends or an open transaction, until the limit.
    case headsStayLocked
    /// The tables belong to a role that the migrating login cannot act as.
    case notTheOwner(login: String, owner: String)
    /// `DATABASE_URL` cannot be used to log in; its login must exist before migrating.
    case runtimeLoginUnusable(String)
    /// `DATABASE_URL` and `LEDGER_MIGRATE_URL` lead to different databases.
    case differentDatabases
    /// A role with the name of a ledger group has attributes that a group must not have.
    case unsuitableRole(String)
    /// The runtime login lacks privileges after all grants, for example because it does not
    /// inherit.
    case runtimeLoginLacksRights(String)
    /// On Citus, a table that is not distributed yet has rows.
    case tablesHaveRows(String)
    /// On Citus, a node lacks the serving login.
    case loginIsNotOnEveryNode(login: String, node: String)
    /// On Citus, a shard refused a change.
    case shardRefused(String, reason: String)
    /// The triggers of the log could not be repaired.
    case unguarded([String])

    /// One line for the operator.
    package var description: String {
        switch self {
        case .databaseIsNewer(let database, let binary):
            "the database is at version \(database), newer than this binary, which knows \(binary)"
        case .migrationDiffers(let version):
            "migration \(version) of the database is not the one this binary carries"
        case .alreadyRunning:
            "another migration of this database is running and did not finish in time"
        case .headsStayLocked:
            "the log could not be locked in time: a server, or a transaction that was left open, holds"
                + " ledger_head; stop every server and migrate again"
        case .notTheOwner(let login, let owner):
            "the tables belong to \(owner), which \(login) cannot act as; migrate as \(owner)"
        case .runtimeLoginUnusable(let reason):
            "the login of DATABASE_URL cannot be used (create it first): \(reason)"
        case .differentDatabases:
            "DATABASE_URL and LEDGER_MIGRATE_URL lead to different databases"
        case .unsuitableRole(let role):
            "the role \(role) exists with LOGIN or other attributes that a group of the ledger must not have"
        case .runtimeLoginLacksRights(let login):
            "the login \(login) lacks privileges on the ledger's tables; it must INHERIT its groups"
                + " and have USAGE on the schema public"
        case .tablesHaveRows(let table):
            "the table \(table) has rows and is not distributed: use an empty database with Citus, since distributing"
                + " it in place would leave its rows on this node's disk, where no erasure reaches them"
        case .loginIsNotOnEveryNode(let login, let node):
            "the login \(login) cannot be added to its group on \(node): create it on every node"
        case .shardRefused(let shard, let reason):
            "the shard \(shard) refused a change: \(reason); migrate again"
        case .unguarded(let findings):
            "the log cannot be made append-only: \(findings.joined(separator: "; "))"
        }
    }
}
