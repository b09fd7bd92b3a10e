package import Ledger

/// Where a projector's log, checkpoints and tables are: Postgres, or memory in a simulation.
///
/// One task uses a store at a time. A transaction goes from ``open(_:of:for:)`` to
/// ``commit(_:of:)`` or ``abandon()``, and what throws has abandoned it. Any method may throw a
/// `ProjectionDelay`, which concerns one tenant; any other error but a refusal means that the store
/// cannot be reached.
package protocol ProjectionStore: Sendable {
    /// Every tenant with a table of some projections that has not folded everything; makes their missing
    /// checkpoints, at 0.
    func backlogs(of projections: Set<ProjectionName>) async throws -> [ProjectionBacklog]

    /// A page of the log from a position that the head has passed; needs no transaction, because
    /// what was appended never changes.
    func page(of tenant: TenantID, from: LogPosition, limit: Int) async throws -> LogPage

    /// Opens a transaction, locks the checkpoints of tables, and loads what folding these events
    /// into them needs.
    ///
    /// - Returns: the checkpoints that nobody else holds; none of them when the transaction was
    ///   abandoned because all are held.
    func open(
        _ tables: [ProjectionTable], of tenant: TenantID, for events: ArraySlice<DisclosedEvent>
    ) async throws -> [HeldCheckpoint]

    /// Writes rows, moves their checkpoints, and commits: all of it or nothing.
    ///
    /// - Throws: `ProjectionRefusal` when a table does not take rows; else trying again later may
    ///   help, and whether it was committed may be unknown.
    func commit(_ steps: [ProjectionStep], of tenant: TenantID) async throws

    /// Ends the transaction that is open, if any, without a trace.
    func abandon() async
}

/// What one tenant's tables have to fold.
package struct ProjectionBacklog: Sendable {
    /// A table and its checkpoint as it was read without a lock.
    package struct Behind: Sendable {
        package let table: ProjectionTable
        package let position: LogPosition

        /// Pairs a table with its checkpoint.
        package init(table: ProjectionTable, position: LogPosition) {
            self.table = table
            self.position = position
        }
    }

    package let tenant: TenantID
    /// In the order of their checkpoints.
    package let tables: [Behind]

    /// Collects the tables of a tenant, the one that is furthest behind first.
    package init(tenant: TenantID, tables: [Behind]) {
        self.tenant = tenant
        self.tables = tables
    }
}

/// A checkpoint that the open transaction has locked, with what a fold onto its table needs.
package struct HeldCheckpoint: Sendable {
    package let table: ProjectionTable
    /// The next position that the table folds.
    package let position: LogPosition
    /// The fold that the rows before it are of.
    package let version: Int32
    package let failure: String?
    /// Of `account_audit`: the accounts that the events touch and that have rows already.
    package let standings: [AccountID: AccountAuditFold.Standing]
    /// Of `conflicts`: those that the events can change.
    package let conflicts: [Conflict]

    /// Describes a locked checkpoint.
    package init(
        table: ProjectionTable, position: LogPosition, version: Int32, failure: String?,
        standings: [AccountID: AccountAuditFold.Standing], conflicts: [Conflict] = []
    ) {
        self.table = table
        self.position = position
        self.version = version
        self.failure = failure
        self.standings = standings
        self.conflicts = conflicts
    }
}

/// What one table gets in a transaction.
package struct ProjectionStep: Sendable {
    package let table: ProjectionTable
    package let rows: ProjectionRows
    /// Where the checkpoint moves.
    package let position: LogPosition
    /// Why the table stops there: the position and what is wrong with it.
    package let failure: String?
}

/// A table does not take the rows of some event among those that were folded.
package struct ProjectionRefusal: Error, Sendable {
    /// Why, without personal data.
    package let reason: String

    /// Says why.
    package init(reason: String) {
        self.reason = reason
    }
}

/// The store has no time, room or right at the moment: worth trying again later.
package struct ProjectionDelay: Error, Sendable {
    /// Why, without personal data.
    package let reason: String

    /// Says why.
    package init(reason: String) {
        self.reason = reason
    }
}
