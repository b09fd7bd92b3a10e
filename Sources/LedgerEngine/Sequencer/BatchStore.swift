package import Ledger

/// The storage that executes batches: Postgres, or memory in a simulation.
///
/// The sequencer answers a batch's commands only after `transact` has returned.
package protocol BatchStore: Sendable {
    /// An executor for tasks that mostly call the store, to avoid thread switches; nil for any.
    var taskExecutor: (any TaskExecutor)? { get }
    /// The executor that delivers answers, one batch after another; nil for any.
    var deliveryExecutor: (any TaskExecutor)? { get }

    /// Whether every batch must be of a single tenant, as on a sharded database.
    var takesOneTenant: Bool { get }

    /// Executes one batch in one transaction.
    ///
    /// Locks the heads of the tenants in the keys, then reads the clock and loads the rows of the
    /// keys, passes them to `decide` with each range of the commands in turn, writes the changes that
    /// `decide` left in the tenants' batches, and commits. The events of a range may be written before
    /// the next one is decided.
    ///
    /// - Returns: The results of `decide`, once the transaction is committed.
    /// - Throws: The reason for which nothing is known to be committed.
    func transact(
        _ keys: BatchKeys,
        _ decide: @escaping @Sendable (LoadedBatch, Range<Int>) throws(BatchFault) -> BatchOutcome
    ) async throws(BatchFault) -> BatchOutcome

    /// Releases the store's resources; it is not used again.
    func close() async
}

extension BatchStore {
    package var takesOneTenant: Bool { false }
}

/// The rows that a transaction has locked and read.
package struct LoadedBatch {
    /// The store's clock, read after the lock.
    package let now: Timestamp
    /// The requested part of each tenant; a missing tenant does not exist.
    package let tenants: [TenantID: TenantBatch]

    /// Creates the rows that a transaction has read.
    package init(now: Timestamp, tenants: [TenantID: TenantBatch]) {
        self.now = now
        self.tenants = tenants
    }
}

/// The answers to a batch's commands, in order.
package struct BatchOutcome: Sendable {
    package fileprivate(set) var answers: [Sequencer.Answer]
    package fileprivate(set) var recordings: [TenantRecordings]
}

extension BatchOutcome {
    /// Creates the outcome of no command.
    package init() { self.init(answers: [], recordings: []) }

    /// Releases the recordings, which the batch then appends to without a copy; the next outcome has them, too.
    package mutating func releaseRecordings() { recordings = [] }

    /// Adds the outcome of the batch's next commands, whose recordings are those of all so far.
    package mutating func add(_ next: BatchOutcome) {
        answers += next.answers
        recordings = next.recordings
    }
}

/// The events that a batch appends to one tenant's log, in order.
package struct TenantRecordings: Sendable {
    package let tenant: TenantID
    package let recordings: [Recording]
    /// Whether account holders may be told of an event.
    package let hasNotice: Bool

    /// Whether an account was erased.
    package var hasErasure: Bool {
        recordings.contains { $0.recorded.event.erasedAccount != nil }
    }
}

/// The reason for which a batch was not committed.
package enum BatchFault: Error, CustomStringConvertible {
    /// The store refused it, or its outcome is unknown.
    case store(String, isOfOneCommand: Bool)
    /// The model contradicts itself: its decision does not fit the state.
    case fold(FoldFault)
    /// Stored data is unreadable; the text says which.
    case damaged(String)
    /// A tenant is moved to another database; nothing of it is decided here.
    case tenantMoved(TenantID)
    /// The store's schema has a different version; every command is refused.
    case otherSchema(OtherSchema)

    package var description: String {
        switch self {
        case .store(let reason, _): reason
        case .fold(let fault): "a decision that does not fit the state: \(fault)"
        case .damaged(let location): "unreadable: \(location)"
        case .tenantMoved(let tenant):
            "tenant \(tenant) is served elsewhere, or being moved: see tenant list"
        case .otherSchema(let other): other.description
        }
    }

    /// The text to log; nil if it was logged before.
    package var logText: String? {
        if case .otherSchema(let other) = self {
            OtherSchema.logText(of: other)
        } else {
            description
        }
    }

    /// Whether a single command may have caused the fault, so that the others are worth a retry.
    ///
    /// False if the outcome is unknown, or if the store lacks time or capacity for any command.
    var isOfOneCommand: Bool {
        switch self {
        case .fold, .damaged: true
        case .store(_, let isOfOneCommand): isOfOneCommand
        case .tenantMoved, .otherSchema: false
        }
    }
}
