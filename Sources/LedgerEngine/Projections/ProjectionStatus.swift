package import Ledger

/// The progress of one table of one tenant, relative to the tenant's head.
package struct ProjectionStatus: Hashable, Sendable {
    package let tenant: TenantID
    package let table: ProjectionTable
    /// Whether the projection's view serves the table.
    package let isServed: Bool
    /// The head's next position.
    package let head: LogPosition
    /// The next position that the table folds.
    package let position: LogPosition
    /// The age of the oldest event that is not folded; 0 if the projection is up to date.
    package let secondsBehind: Double
    /// Why the projection has stopped: the position and the fault there, without personal data.
    package let failure: String?

    /// The number of events that are not folded.
    package var lag: Int64 { max(0, head.value - position.value) }
    /// The projection.
    package var projection: ProjectionName { table.projection }
    /// The name for operators: the projection's name for the served table, else the table's name.
    package var name: String { isServed ? projection.rawValue : table.description }

    /// Creates the status of a table.
    package init(
        tenant: TenantID, table: ProjectionTable, isServed: Bool, head: LogPosition,
        position: LogPosition, secondsBehind: Double, failure: String?
    ) {
        self.tenant = tenant
        self.table = table
        self.isServed = isServed
        self.head = head
        self.position = position
        self.secondsBehind = secondsBehind
        self.failure = failure
    }
}

/// Reads the progress of all tables, on a connection of its own.
package protocol ProjectionStatusStore: Sendable {
    /// Returns the progress of every table of every tenant.
    func status() async throws -> [ProjectionStatus]

    /// Clears the failures of stopped tables, so that they try again.
    func clearFailures() async throws

    /// Releases the store's resources; it is not used again.
    func close() async
}
