import Ledger

/// Where batches are carried out: Postgres, or memory in a simulation.
///
/// The sequencer answers a batch's commands when `transact` has come back, and not before.
protocol BatchStore: Sendable {
    /// Where a task that does little but call the store changes no threads; nil for anywhere.
    var taskExecutor: (any TaskExecutor)? { get }
    /// Where answers are delivered, one batch's after another's; nil for anywhere.
    var deliveryExecutor: (any TaskExecutor)? { get }

    /// Carries one batch out in one transaction: locks the heads of the tenants that the keys name,
    /// then reads the clock and loads what the keys name, lets `decide` have it, writes what `decide`
    /// left in the tenants' batches, and commits.
    ///
    /// - Returns: what `decide` returned, once the transaction is committed.
    /// - Throws: why nothing is known to be committed.
    func transact(
        _ keys: BatchKeys,
        _ decide: @escaping @Sendable (LoadedBatch) throws(BatchFault) -> BatchOutcome
    ) async throws(BatchFault) -> BatchOutcome

    /// Lets go of what the store holds; it is not used again.
    func close() async
}

/// What a transaction has locked and read.
struct LoadedBatch {
    /// The store's clock, read after the lock.
    let now: Timestamp
    /// The named part of each tenant; one that is missing does not exist.
    let tenants: [TenantID: TenantBatch]
}

/// How a batch's commands end, in their order.
struct BatchOutcome: Sendable {
    let answers: [Sequencer.Answer]
    let recordings: [TenantRecordings]
}

/// What a batch appends to one tenant's log, in order.
struct TenantRecordings: Sendable {
    let tenant: TenantID
    let recordings: [Recording]
}

/// Why a batch was not carried out.
enum BatchFault: Error, CustomStringConvertible {
    /// The store refused it, or what became of it is unknown.
    case store(String, isOfOneCommand: Bool)
    /// The model contradicts itself: what it decided cannot follow on the state.
    case fold(FoldFault)
    /// What the store holds cannot be read; says where.
    case damaged(String)
    /// The store's schema is of another version; whatever a command is, it is refused.
    case otherSchema(OtherSchema)

    var description: String {
        switch self {
        case .store(let reason, _): reason
        case .fold(let fault): "decided what cannot follow: \(fault)"
        case .damaged(let place): "unreadable: \(place)"
        case .otherSchema(let other): other.description
        }
    }

    /// What there is to be said about it; nothing when it was said before.
    var news: String? {
        if case .otherSchema(let other) = self { SchemaFence.news(of: other) } else { description }
    }

    /// Whether the fault may be one command's, so that the others deserve a try of their own.
    ///
    /// Not when the outcome is unknown, nor when the store has no time or room for anybody.
    var isOfOneCommand: Bool {
        switch self {
        case .fold, .damaged: true
        case .store(_, let isOfOneCommand): isOfOneCommand
        case .otherSchema: false
        }
    }
}
