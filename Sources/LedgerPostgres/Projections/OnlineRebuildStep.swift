package import Ledger
package import LedgerEngine

/// The step that an online rebuild has just finished; a crash after any of them is harmless.
package enum OnlineRebuildStep: String, Sendable, CaseIterable {
    /// The lease is taken, and the remains of earlier rebuilds are dropped.
    case begun
    /// The new table exists, empty, with its primary key, and no projector folds into it.
    case made
    /// The new table holds the log up to the live table's checkpoint.
    case loaded
    /// The new table has its other indexes.
    case indexed
    /// Every projector folds into the new table.
    case ready
    /// The new table has folded as much as the live one.
    case caughtUp = "caught up"
    /// The new table was compared with the live one at the same position.
    case compared
    /// The view serves the new table; the former one is kept up to date.
    case swapped
}

/// Why tables were not exchanged; the served table is unchanged.
package indirect enum OnlineRebuildFault: Error, Sendable, CustomStringConvertible {
    /// Another process rebuilds the same projection.
    case isRunning(ProjectionName)
    /// The previous table has to be dropped first.
    case previousIsKept(ProjectionTable)
    /// There is no previous table to roll back to or to drop.
    case noPrevious(ProjectionName)
    /// A table does not reach the position of the one it would replace: it has stopped, or no projector can
    /// fold into it.
    case remainsBehind(ProjectionTable, TenantID, reason: String)
    /// An event of the log cannot be folded.
    case unfoldable(TenantID, LogDamage)
    /// The tables differ at the same position although both have the same fold version.
    case differs(TableDifference)
    /// The key directory lacks a key that wraps the keys of accounts.
    case keyIsMissing(String)
    /// The view or the table stays locked.
    case isLocked(String)
    /// The lease lapsed while the rebuild could not renew it.
    case leaseLost
    /// A rebuild ended with a fault, and its table could not be dropped.
    case left(ProjectionTable, after: OnlineRebuildFault, because: String)

    package var description: String {
        switch self {
        case .isRunning(let projection): "another rebuild of \(projection) is running"
        case .previousIsKept(let table):
            "\(table) is still kept for a rollback;"
                + " rebuild \(table.projection) --drop-previous drops it"
        case .noPrevious(let projection): "\(projection) has no previous table"
        case .remainsBehind(let table, let tenant, let reason):
            "\(table) of tenant \(tenant) does not reach the position of the other table:"
                + " \(reason)"
        case .unfoldable(let tenant, let damage):
            "tenant \(tenant): the log stops at \(damage); nothing was changed"
        case .differs(let difference):
            "\(difference), though both are of version \(difference.new.version): the live table"
                + " differs from the log; rebuild \(difference.new.projection) repairs it in"
                + " place. Nothing was changed"
        case .keyIsMissing(let id): "the key directory lacks the encryption key \(id)"
        case .isLocked(let name): "\(name) stays locked; try again later"
        case .leaseLost: "the lease of this rebuild has lapsed; start the rebuild again"
        case .left(let table, let fault, let reason):
            "\(fault). \(table) could not be dropped: \(reason). The next rebuild"
                + " \(table.projection) --online drops it or, if it is usable, resumes with it"
        }
    }
}

/// The difference of two tables of a projection at the same position of one tenant's log.
package struct TableDifference: Sendable, Hashable, CustomStringConvertible {
    package let tenant: TenantID
    package let position: LogPosition
    package let old: ProjectionTable
    package let new: ProjectionTable
    /// The number of rows that only the old table has.
    package let onlyOld: Int64
    /// The number of rows that only the new table has.
    package let onlyNew: Int64

    package var description: String {
        "tenant \(tenant): at position \(position) \(onlyOld) rows are only in \(old) and"
            + " \(onlyNew) only in \(new)"
    }
}

/// The result of an online rebuild.
package struct OnlineRebuildReport: Sendable {
    /// The table that is served now.
    package let served: ProjectionTable
    /// The table that was served before; it is kept up to date.
    package let previous: ProjectionTable
    /// The number of rows that were compared.
    package let comparedRows: Int64
    /// Differences that a change of the fold's version explains.
    package let differences: [TableDifference]
    /// Tenants that were not compared, because their former table stopped before the new one.
    package let uncompared: [TenantID]
}
