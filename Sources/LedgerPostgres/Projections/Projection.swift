import Ledger

/// The read models that the projector keeps; the stored names are those of their views.
package enum ProjectionName: String, Sendable, CaseIterable, CustomStringConvertible {
    case userProviders = "user_providers"
    case accountAudit = "account_audit"
    case conflicts

    package var description: String { rawValue }

    /// The fold that this program makes new tables with.
    ///
    /// Another number means that a table must be folded anew from position 0, and that it may
    /// differ from the one before.
    package var version: Int32 { 1 }

    /// The column that names the account of a row.
    var accountColumn: String {
        switch self {
        case .userProviders: "user_id"
        case .accountAudit: "account_id"
        case .conflicts: "caller_id"
        }
    }

    /// The columns that hold personal data; null in rows of an erased account.
    var personalColumns: [String] {
        switch self {
        case .userProviders: ["provider_id", "email", "email_verified"]
        case .accountAudit: ["client_ip"]
        case .conflicts: []
        }
    }

    /// The indexes of a table beside its primary key: what each is called by, its columns in order, and of
    /// which rows it is; nil for all.
    var indexes: [(name: String, columns: String, rows: String?)] {
        switch self {
        case .userProviders, .accountAudit: []
        case .conflicts: ConflictsTable.indexes
        }
    }

    /// Keeps ANALYZE from remembering values of these columns, in which erased people would stay.
    func forgetting(in table: String) -> String {
        guard !personalColumns.isEmpty else { return "" }
        return "ALTER TABLE \(table) "
            + personalColumns.map { "ALTER \($0) SET STATISTICS 0" }.joined(separator: ", ")
    }

    /// The folds that this program knows: those of tables that older programs still serve, too.
    package var knownVersions: ClosedRange<Int32> { 1...version }
}

/// One table that a projection is folded into; several stand side by side during a rebuild.
package struct ProjectionTable: Hashable, Sendable, CustomStringConvertible {
    package let projection: ProjectionName
    /// Counts the tables of a projection: each rebuild beside a live table makes the next.
    package let generation: Int32
    /// The fold that fills it.
    package let version: Int32

    /// Names a table.
    package init(projection: ProjectionName, generation: Int32, version: Int32) {
        self.projection = projection
        self.generation = generation
        self.version = version
    }

    /// The name of the table in the database, which stands for this table for ever.
    package var description: String { "\(projection.rawValue)_\(generation)" }

    /// Whether this program has the fold that fills it.
    var isKnown: Bool { projection.knownVersions.contains(version) }

    /// Folds events onto what the table has: the accounts they touch, or the conflicts they can change.
    func fold(
        _ events: ArraySlice<DisclosedEvent>,
        onto standings: [AccountID: AccountAuditFold.Standing], conflicts: [Conflict] = []
    ) -> FoldedRows {
        switch projection {
        case .userProviders:
            var fold = UserProvidersFold(from: events.first?.position ?? LogPosition(0))
            let fault = Self.apply(events) { event throws(LogDamage) in try fold.apply(event) }
            return FoldedRows(rows: .userProviders(fold.steps), fault: fault)
        case .accountAudit:
            var fold = AccountAuditFold()
            fold.standings = standings
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

/// What events come to in one table.
package enum ProjectionRows: Sendable {
    /// What is done one after another.
    case userProviders([UserProvidersFold.Step])
    /// Rows to add; that of an `AccountErased` takes the address out of the account's rows before it.
    case accountAudit([AuditRow])
    /// Rows that are new or take the place of others.
    case conflicts(ConflictChanges)
}

extension ConflictFold {
    /// Takes one event in.
    ///
    /// - Throws: `LogDamage` when the conflicts before it are not those of the log.
    mutating func take(_ event: DisclosedEvent) throws(LogDamage) {
        do throws(FoldFault) {
            try apply(event.recorded)
        } catch {
            throw LogDamage(position: event.position, fault: error.description)
        }
    }
}

/// The rows of a fold, and the event that could not be folded; what came before it is in the rows.
struct FoldedRows {
    let rows: ProjectionRows
    let fault: LogDamage?
}
