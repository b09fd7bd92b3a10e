package import Ledger

/// What a rebuild beside the live table has just finished; a crash after any of them is harmless.
package enum OnlineRebuildStep: String, Sendable, CaseIterable {
    /// The lock is held, and what an earlier rebuild left unfinished is gone.
    case begun
    /// The new table is there, empty, and nobody folds into it.
    case made
    /// The log up to the live table's checkpoint is in it.
    case loaded
    /// It has its indexes.
    case indexed
    /// Every projector folds into it.
    case ready
    /// It has folded as much as the live table.
    case caughtUp = "caught up"
    /// It was compared with the live table at the same position.
    case compared
    /// The view shows it; the former table is kept and kept up.
    case swapped
}

/// Why tables were not exchanged; what is served is what was served before.
package indirect enum OnlineRebuildFault: Error, Sendable, CustomStringConvertible {
    /// Another process rebuilds the same projection.
    case isRunning(ProjectionName)
    /// The table before the served one has to be dropped first.
    case previousIsKept(ProjectionTable)
    /// There is no table to go back to, or to drop.
    case noPrevious(ProjectionName)
    /// A table does not come as far as the one that it would replace: it has stopped before, or nobody can
    /// fold into it.
    case staysBehind(ProjectionTable, TenantID, reason: String)
    /// An event of the log cannot be folded.
    case unfoldable(TenantID, LogDamage)
    /// The tables differ at one position, and both are of the same fold.
    case differs(TableDifference)
    /// The key directory lacks a key that accounts' keys are wrapped with.
    case keyIsMissing(String)
    /// Something holds the view or the table without an end.
    case isLocked(String)
    /// The lock against other rebuilds was lost with its connection.
    case lockLost
    /// A rebuild ended with a fault, and its table could not be dropped.
    case left(ProjectionTable, after: OnlineRebuildFault, because: String)

    package var description: String {
        switch self {
        case .isRunning(let projection): "another rebuild of \(projection) is running"
        case .previousIsKept(let table):
            "\(table) is still kept for a roll-back; rebuild \(table.projection) --drop-previous"
                + " drops it"
        case .noPrevious(let projection): "\(projection) has no previous table"
        case .staysBehind(let table, let tenant, let reason):
            "\(table) of tenant \(tenant) does not come to the position of the other table:"
                + " \(reason)"
        case .unfoldable(let tenant, let damage):
            "tenant \(tenant): the log stops at \(damage); nothing was changed"
        case .differs(let difference):
            "\(difference), though both are of version \(difference.new.version): the live table"
                + " is not what the log says; rebuild \(difference.new.projection) repairs it in"
                + " place. Nothing was changed"
        case .keyIsMissing(let id): "the key directory lacks the encryption key \(id)"
        case .isLocked(let name): "\(name) is in use without an end; try again later"
        case .lockLost: "the connection was lost; start the rebuild again"
        case .left(let table, let fault, let reason):
            "\(fault). \(table) could not be dropped: \(reason). The next rebuild"
                + " \(table.projection) --online drops it or, where it is of use, goes on with it"
        }
    }
}

/// How two tables of a projection differ at the same position of one tenant's log.
package struct TableDifference: Sendable, Hashable, CustomStringConvertible {
    package let tenant: TenantID
    package let position: LogPosition
    package let old: ProjectionTable
    package let new: ProjectionTable
    /// Rows that only the old table has.
    package let onlyOld: Int64
    /// Rows that only the new table has.
    package let onlyNew: Int64

    package var description: String {
        "tenant \(tenant): at position \(position) \(onlyOld) rows are only in \(old) and"
            + " \(onlyNew) only in \(new)"
    }
}

/// What a rebuild beside the live table did.
package struct OnlineRebuildReport: Sendable {
    /// The table that is served now.
    package let served: ProjectionTable
    /// The table that was served before; it is kept up.
    package let previous: ProjectionTable
    /// Rows that were compared.
    package let comparedRows: Int64
    /// Differences that another version of the fold explains.
    package let differences: [TableDifference]
    /// Tenants for which the former table has stopped before the new one; they were not compared.
    package let uncompared: [TenantID]
}
