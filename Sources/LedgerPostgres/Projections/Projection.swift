import Ledger
import Postgres

/// The read models that the projector keeps; the stored names are those of their tables.
package enum ProjectionName: String, Sendable, CaseIterable, CustomStringConvertible {
    case userProviders = "user_providers"
    case accountAudit = "account_audit"

    package var description: String { rawValue }
}

/// A fold of the log into one table.
///
/// The fold itself is pure: it takes what was loaded and the events, and says what to write. The
/// projector runs it inside the transaction that moves the projection's checkpoint.
protocol Projection: Sendable {
    var name: ProjectionName { get }
    /// Which fold it is; another number means that the table must be refolded from position 0.
    var version: Int32 { get }

    /// What the fold of these events, or of the later ones among them, has to read first.
    func loads(for events: ArraySlice<DisclosedEvent>, in tenant: TenantID) -> [Call]

    /// Folds events onto what was loaded.
    ///
    /// A fault ends the fold before the event that it names; what came before is written all the
    /// same.
    func fold(
        _ events: ArraySlice<DisclosedEvent>, onto loaded: [QueryResult], in tenant: TenantID
    ) throws(PostgresError) -> FoldedPage
}

/// What a page of events comes to.
struct FoldedPage {
    /// The statements that write it; each raises when it does not find what it expects.
    let calls: [Call]
    /// The event that could not be folded.
    let fault: LogDamage?
}

extension ProjectionName {
    /// The projection over a table; another one than its own while it is being refolded.
    func projection(table: String? = nil) -> any Projection {
        switch self {
        case .userProviders: UserProvidersProjection(table: table ?? rawValue)
        case .accountAudit: AccountAuditProjection(table: table ?? rawValue)
        }
    }
}
