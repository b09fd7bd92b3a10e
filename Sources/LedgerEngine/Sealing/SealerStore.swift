package import Ledger
package import TransparencyLog

/// A sealer's log, hashes and checkpoints: in Postgres, or in memory in a simulation.
///
/// One task uses a store at a time. Every write is a transaction of its own that requires the tenant's lease,
/// so that a sealer whose lease has lapsed writes nothing; it throws `SealerFault.notHeld`. Any other error
/// means that the store cannot be reached, and that the outcome of the write is unknown.
package protocol SealerStore: Sendable {
    /// Returns every tenant's log; acquires free leases and renews held ones, but gives up those of `left`.
    func logs(without left: [TenantID]) async throws -> [SealerLog]

    /// Returns the present length of a tenant's log, and what is stored beside it.
    func logState(of tenant: TenantID) async throws -> SealedState

    /// Returns the exact bytes of events from a position on; ends before the first missing one.
    ///
    /// Throws `SealingRefusal.unauthentic` for an event that no server has appended.
    func entries(of tenant: TenantID, from: Int64, limit: Int) async throws -> [[UInt8]]

    /// Returns the stored hashes at some indexes, each nil if absent.
    func hashes(of tenant: TenantID, at indexes: [Int64]) async throws -> [TreeHash?]

    /// Returns whether one row of hashes begins inside another at some indexes, so that it may hide hashes.
    func hashesOverlap(of tenant: TenantID, at indexes: [Int64]) async throws -> Bool

    /// Appends hashes to the stored ones, at an index.
    ///
    /// Throws `SealerFault.notHeld` also when other hashes are stored from there on.
    func append(_ hashes: [TreeHash], from index: Int64, of tenant: TenantID) async throws

    /// Reads a range of the log again, with its stored hashes; the store hashes the leaves.
    func reread(_ positions: Range<Int64>, of tenant: TenantID) async throws -> RereadRange

    /// Returns published checkpoints with sizes above one, in ascending order.
    func checkpoints(
        of tenant: TenantID, above size: Int64, limit: Int
    ) async throws -> [SignedCheckpoint]

    /// Durably publishes a signed checkpoint and the signing keys.
    func publish(_ signed: LastSigned, keys: [String], of tenant: TenantID) async throws

    /// Releases all leases, so that no sealer has to wait for them to lapse.
    func release() async

    /// Returns the meaning of an error that the store has thrown; nil for one that does not come from the
    /// database.
    func failure(of error: any Error) -> StoreFailure?

    /// Releases the store's resources; it is not used again.
    func close() async
}

/// A tenant's log as a sealer reads it.
package struct SealerLog: Hashable, Sendable {
    package let tenant: TenantID
    /// The number of events in the log.
    package let size: Int64
    /// Whether this sealer holds the lease.
    package let isHeld: Bool

    /// Creates the state of a log.
    package init(tenant: TenantID, size: Int64, isHeld: Bool) {
        self.tenant = tenant
        self.size = size
        self.isHeld = isHeld
    }
}

/// The size of a log and what is stored beside it.
package struct SealedState: Hashable, Sendable {
    /// The number of events in the log.
    package let size: Int64
    /// The number of stored hashes.
    package let hashCount: Int64
    /// The published verifier keys, oldest first.
    package let keys: [String]
    /// The largest checkpoint of each origin.
    package let checkpoints: [SignedCheckpoint]

    /// Creates a state.
    package init(
        size: Int64, hashCount: Int64, keys: [String], checkpoints: [SignedCheckpoint]
    ) {
        self.size = size
        self.hashCount = hashCount
        self.keys = keys
        self.checkpoints = checkpoints
    }
}

/// A range of the log that was read again.
package struct RereadRange: Hashable, Sendable {
    /// The leaf hashes of the stored entries, without a gap from the first position on.
    package let leaves: [TreeHash]
    /// The stored hashes of the range, without a gap from the first on; nil if rows of them overlap.
    package let hashes: [TreeHash]?
    /// The first entry that no server has appended.
    package let forgery: LogDamage?

    /// Creates a range.
    package init(leaves: [TreeHash], hashes: [TreeHash]?, forgery: LogDamage? = nil) {
        self.leaves = leaves
        self.hashes = hashes
        self.forgery = forgery
    }

    /// Checks that no entry is forged.
    ///
    /// - Throws: `SealingRefusal` for an entry that no server has appended.
    func expectAuthentic() throws(SealingRefusal) {
        if let forgery { throw .unauthentic(forgery) }
    }
}

/// Why a sealer's write was not done although the store can be reached.
package enum SealerFault: Error, Hashable, Sendable {
    /// Another sealer holds the lease or has stored something.
    case notHeld
}

/// The right to seal a tenant's log for a limited time.
package enum SealerLease {
    /// The seconds after which a lease lapses unless it is renewed; the wait of the successor of a dead
    /// sealer.
    package static let seconds: Int32 = 5
    /// The time between renewals, and between searches for free leases.
    package static let renewal = Duration.seconds(1)
}
