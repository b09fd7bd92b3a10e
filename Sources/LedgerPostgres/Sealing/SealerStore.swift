package import Ledger
package import TransparencyLog

/// Where a sealer's log, hashes and checkpoints are: Postgres, or memory in a simulation.
///
/// One task uses a store at a time. Every write is a transaction of its own that requires the tenant's
/// lease, so that a sealer which was away too long writes nothing; it throws `SealerFault.notHeld`.
/// Any other error means that the store cannot be reached, and that what was asked of it may have been
/// done or not.
package protocol SealerStore: Sendable {
    /// Every tenant's log; takes the leases that nobody holds and renews those that are held, but for
    /// those of `left`, which are given away.
    func logs(without left: [TenantID]) async throws -> [SealerLog]

    /// How long the log of a tenant is now, and what is stored beside it.
    func standing(of tenant: TenantID) async throws -> SealedStanding

    /// The exact bytes of events without a gap, from a position on; fewer where one is missing.
    ///
    /// Throws `SealingRefusal.unauthentic` for one that no server has appended.
    func entries(of tenant: TenantID, from: Int64, limit: Int) async throws -> [[UInt8]]

    /// The stored hashes at some indexes; nil where there is none.
    func hashes(of tenant: TenantID, at indexes: [Int64]) async throws -> [TreeHash?]

    /// Stores the hashes that follow on those which are stored, from an index on.
    ///
    /// Throws `SealerFault.notHeld` as well when something else is stored from there on.
    func append(_ hashes: [TreeHash], from index: Int64, of tenant: TenantID) async throws

    /// Reads a stretch of the log once more, leaves hashed by the store, and the hashes stored for it.
    func reread(_ positions: Range<Int64>, of tenant: TenantID) async throws -> RereadStretch

    /// Checkpoints that were published with sizes above one, the smallest first.
    func checkpoints(
        of tenant: TenantID, above size: Int64, limit: Int
    ) async throws -> [SignedCheckpoint]

    /// Makes a signed checkpoint known, and the keys that sign; durable when this comes back.
    func publish(_ signed: LastSigned, keys: [String], of tenant: TenantID) async throws

    /// Gives all leases away, so that nobody has to wait for them to lapse.
    func release() async
}

/// A tenant's log as a sealer finds it.
package struct SealerLog: Hashable, Sendable {
    package let tenant: TenantID
    /// How many events it has.
    package let size: Int64
    /// Whether this sealer has the lease.
    package let isHeld: Bool

    /// Describes a log.
    package init(tenant: TenantID, size: Int64, isHeld: Bool) {
        self.tenant = tenant
        self.size = size
        self.isHeld = isHeld
    }
}

/// A log and what is stored beside it.
package struct SealedStanding: Hashable, Sendable {
    /// How many events the log has.
    package let size: Int64
    /// How many hashes are stored.
    package let hashCount: Int64
    /// Verifier keys that were published, the oldest first.
    package let keys: [String]
    /// The largest checkpoint of each origin.
    package let checkpoints: [SignedCheckpoint]

    /// Describes what is stored.
    package init(
        size: Int64, hashCount: Int64, keys: [String], checkpoints: [SignedCheckpoint]
    ) {
        self.size = size
        self.hashCount = hashCount
        self.keys = keys
        self.checkpoints = checkpoints
    }
}

/// A stretch of the log that was read once more.
package struct RereadStretch: Hashable, Sendable {
    /// The leaf hashes of the stored entries, without a gap from the first position on.
    package let leaves: [TreeHash]
    /// The stored hashes of the stretch, without a gap from the first on.
    package let hashes: [TreeHash]
    /// The first of the entries that no server has appended.
    package let forgery: LogDamage?

    /// Describes a stretch.
    package init(leaves: [TreeHash], hashes: [TreeHash], forgery: LogDamage? = nil) {
        self.leaves = leaves
        self.hashes = hashes
        self.forgery = forgery
    }

    /// - Throws: `SealingRefusal` where an entry is one that no server has appended.
    func expectAuthentic() throws(SealingRefusal) {
        if let forgery { throw .unauthentic(forgery) }
    }
}

/// Why a sealer's write was not done, though the store is there.
package enum SealerFault: Error, Hashable, Sendable {
    /// The lease is somebody else's now, or somebody else has stored something.
    case notHeld
}
