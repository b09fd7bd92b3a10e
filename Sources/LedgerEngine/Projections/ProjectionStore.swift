package import Ledger

/// A projector's log, checkpoints and tables: in Postgres, or in memory in a simulation.
///
/// One task uses a store at a time. A transaction spans from ``open(_:of:for:)`` to ``commit(_:of:)`` or
/// ``abandon()``; a method that throws has abandoned it. Any method may throw a `ProjectionDelay`, which
/// concerns one tenant; any other error but a refusal means that the store cannot be reached.
package protocol ProjectionStore: Sendable {
    /// An executor for tasks that mostly call the store, to avoid thread switches; nil for any.
    var taskExecutor: (any TaskExecutor)? { get }

    /// Returns every tenant with a table of the projections that is behind, and creates missing checkpoints
    /// at 0.
    func backlogs(of projections: Set<ProjectionName>) async throws -> [ProjectionBacklog]

    /// Returns the tables of the projections for each of these tenants, in order, as if all were behind from its
    /// position on: their checkpoints are not read, and may be missing.
    ///
    /// Tenants that the store cannot reach at the moment are left out.
    func backlogs(
        of projections: Set<ProjectionName>, from named: [NewEvents]
    ) async throws -> [ProjectionBacklog]

    /// Returns a page of the log from a position below the head; needs no transaction, because events never
    /// change.
    func page(of tenant: TenantID, from: LogPosition, limit: Int) async throws -> LogPage

    /// Opens a transaction, locks the checkpoints of tables, and loads the state that folding these events
    /// needs.
    ///
    /// - Returns: the checkpoints that no other process holds; empty, with the transaction abandoned, when
    ///   all are held.
    func open(
        _ tables: [ProjectionTable], of tenant: TenantID, for events: ArraySlice<DisclosedEvent>
    ) async throws -> [HeldCheckpoint]

    /// Writes rows, moves their checkpoints, and commits: all or nothing.
    ///
    /// - Throws: `ProjectionRefusal` when a table rejects rows; after any other error a retry may help, and
    ///   the outcome of the commit may be unknown.
    func commit(_ steps: [ProjectionStep], of tenant: TenantID) async throws

    /// Rolls the open transaction back, if there is one.
    func abandon() async

    /// Releases the store's resources; it is not used again.
    func close() async
}

/// The events that one tenant's tables have to fold.
package struct ProjectionBacklog: Sendable {
    /// A table and its checkpoint as it was read without a lock, or as it may be.
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
    /// The tables in the order of their checkpoints.
    package let tables: [Behind]

    /// Collects the tables of a tenant, sorted by their checkpoints.
    package init(tenant: TenantID, tables: [Behind]) {
        self.tenant = tenant
        self.tables = tables
    }
}

/// A checkpoint that the open transaction has locked, with the state that a fold onto its table needs.
package struct HeldCheckpoint: Sendable {
    package let table: ProjectionTable
    /// The next position that the table folds.
    package let position: LogPosition
    /// The version of the fold that produced the rows.
    package let version: Int32
    package let failure: String?
    /// For `account_audit`: the accounts that the events touch and that already have rows.
    package let historyStates: [AccountID: AccountAuditFold.HistoryState]
    /// For `conflicts`: those that the events can change.
    package let conflicts: [Conflict]

    /// Whether this program may fold into the table, which has not stopped.
    var isFolded: Bool { failure == nil && version == table.version }

    /// Creates a locked checkpoint.
    package init(
        table: ProjectionTable, position: LogPosition, version: Int32, failure: String?,
        historyStates: [AccountID: AccountAuditFold.HistoryState], conflicts: [Conflict] = []
    ) {
        self.table = table
        self.position = position
        self.version = version
        self.failure = failure
        self.historyStates = historyStates
        self.conflicts = conflicts
    }
}

/// The rows and the new checkpoint of one table in a transaction.
package struct ProjectionStep: Sendable {
    package let table: ProjectionTable
    /// The changes to the table's rows; nil to move the checkpoint only.
    package let rows: ProjectionRows?
    /// The new position of the checkpoint.
    package let position: LogPosition
    /// Why the table stops there: the position and the fault, without personal data.
    package let failure: String?

    /// Creates the step of a table.
    package init(
        table: ProjectionTable, rows: ProjectionRows?, position: LogPosition, failure: String?
    ) {
        self.table = table
        self.rows = rows
        self.position = position
        self.failure = failure
    }
}

/// A refusal: a table rejects the rows of one of the folded events.
package struct ProjectionRefusal: Error, Sendable {
    /// The reason, without personal data.
    package let reason: String

    /// Creates a refusal.
    package init(reason: String) {
        self.reason = reason
    }
}

/// A delay: the store is busy or denies access at the moment, so the step is retried later.
package struct ProjectionDelay: Error, Sendable {
    /// The reason, without personal data.
    package let reason: String

    /// Creates a delay.
    package init(reason: String) {
        self.reason = reason
    }
}
