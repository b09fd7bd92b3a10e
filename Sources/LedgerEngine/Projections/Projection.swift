package import Ledger

/// The read models that the projector maintains; the raw values are the names of their views.
package enum ProjectionName: String, Sendable, CaseIterable, CustomStringConvertible {
    case userProviders = "user_providers"
    case accountAudit = "account_audit"
    case conflicts

    package var description: String { rawValue }

    /// The version of the fold with which this program fills new tables.
    ///
    /// A new version means that tables must be folded again from position 0, and that their rows may differ.
    package var version: Int32 { 1 }

    /// The fold versions that this program knows, including those of tables that older programs still serve.
    package var knownVersions: ClosedRange<Int32> { 1...version }
}

/// One table that a projection is folded into; several exist during a rebuild.
package struct ProjectionTable: Hashable, Sendable, CustomStringConvertible {
    package let projection: ProjectionName
    /// The number of the table among those of its projection; each online rebuild creates the next.
    package let generation: Int32
    /// The version of the fold that fills the table.
    package let version: Int32

    /// Creates the identification of a table.
    package init(projection: ProjectionName, generation: Int32, version: Int32) {
        self.projection = projection
        self.generation = generation
        self.version = version
    }

    /// The name of the table in the database; it is never reused.
    package var description: String { "\(projection.rawValue)_\(generation)" }

    /// Whether this program has the fold that fills the table.
    package var isKnown: Bool { projection.knownVersions.contains(version) }

    /// Folds events onto the table's state: the accounts they touch, or the conflicts they can change.
    func fold(
        _ events: ArraySlice<DisclosedEvent>,
        onto historyStates: [AccountID: AccountAuditFold.HistoryState], conflicts: [Conflict] = []
    ) -> FoldedRows {
        switch projection {
        case .userProviders:
            var fold = UserProvidersFold(from: events.first?.position ?? LogPosition(0))
            let fault = Self.apply(events) { event throws(LogDamage) in try fold.apply(event) }
            return FoldedRows(rows: .userProviders(fold.steps), fault: fault)
        case .accountAudit:
            var fold = AccountAuditFold()
            fold.historyStates = historyStates
            let fault = Self.apply(events) { event throws(LogDamage) in try fold.apply(event) }
            return FoldedRows(rows: .accountAudit(fold.rows), fault: fault)
        case .conflicts:
            var fold = ConflictFold(conflicts)
            let fault = Self.apply(events) { event throws(LogDamage) in try fold.take(event) }
            return FoldedRows(
                rows: .conflicts(ConflictChanges(fold, from: conflicts)), fault: fault)
        }
    }

    private static func apply(
        _ events: ArraySlice<DisclosedEvent>,
        _ body: (DisclosedEvent) throws(LogDamage) -> Void
    ) -> LogDamage? {
        for event in events {
            do throws(LogDamage) {
                try body(event)
            } catch {
                return error
            }
        }
        return nil
    }
}

/// The rows that events give in one table.
package enum ProjectionRows: Sendable {
    /// Changes that are applied in order.
    case userProviders([UserProvidersFold.Step])
    /// Rows to add; that of an `AccountErased` clears the address in the account's earlier rows.
    case accountAudit([AuditRow])
    /// New and replaced rows.
    case conflicts(ConflictChanges)
}

extension ConflictFold {
    /// Folds one event.
    ///
    /// - Throws: `LogDamage` when the conflicts before it do not match the log.
    package mutating func take(_ event: DisclosedEvent) throws(LogDamage) {
        do throws(FoldFault) {
            try apply(event.recorded)
        } catch {
            throw LogDamage(position: event.position, fault: error.description)
        }
    }
}

/// The rows of a fold, and the event that could not be folded; events before it are in the rows.
struct FoldedRows {
    let rows: ProjectionRows
    let fault: LogDamage?
}
