import Ledger
import TransparencyLog

@testable import LedgerPostgres

/// One sealer's connection to the simulated database.
struct MemorySealerStore: SealerStore {
    let process: SimulatedProcess
    let world: World

    private var seals: MemorySeals { world.seals }
    private var now: Timestamp { world.database.now }

    func logs(without left: [TenantID]) async throws -> [SealerLog] {
        try await travel("looks for events to seal")
        return world.tenants.map { tenant in
            let now = now
            let longest = now.adding(microseconds: MemorySeals.leaseMicroseconds)
            seals.change(tenant) { shelf in
                if left.contains(tenant) {
                    if shelf.holder == process.number { shelf.holder = nil }
                    return
                }
                let isFree =
                    shelf.holder == nil || shelf.holder == process.number
                    || shelf.expiresAt < now || shelf.expiresAt > longest
                guard isFree || world.bug == .sealerLeaseIgnored else { return }
                shelf.holder = process.number
                shelf.expiresAt = longest
            }
            return SealerLog(
                tenant: tenant, size: Int64(entries(tenant).count),
                isHeld: seals.shelf(tenant).holder == process.number)
        }
    }

    func standing(of tenant: TenantID) async throws -> SealedStanding {
        try await travel("reads what is sealed")
        let shelf = seals.shelf(tenant)
        return SealedStanding(
            size: Int64(entries(tenant).count), hashCount: Int64(shelf.hashes.count),
            keys: shelf.checkpoints.isEmpty ? [] : shelf.signer.map { [$0.verifier.vkey] } ?? [],
            checkpoints: shelf.checkpoints.suffix(1))
    }

    func entries(of tenant: TenantID, from: Int64, limit: Int) async throws -> [[UInt8]] {
        try await travel("reads entries")
        return Array(entries(tenant).dropFirst(Int(from)).prefix(limit))
    }

    func hashes(of tenant: TenantID, at indexes: [Int64]) async throws -> [TreeHash?] {
        try await travel("reads hashes")
        let hashes = seals.shelf(tenant).hashes
        return indexes.map { $0 < hashes.count ? hashes[Int($0)] : nil }
    }

    func append(_ hashes: [TreeHash], from index: Int64, of tenant: TenantID) async throws {
        try await write("stores hashes", tenant) { shelf in
            guard shelf.hashes.count == index || world.bug == .sealerLeaseIgnored else {
                return false
            }
            shelf.hashes += hashes
            return true
        }
    }

    func reread(_ positions: Range<Int64>, of tenant: TenantID) async throws -> RereadStretch {
        try await travel("reads once more")
        let stored = seals.shelf(tenant).hashes
        let first = Int(StoredHashIndex.count(leaves: positions.lowerBound))
        let end = Int(StoredHashIndex.count(leaves: positions.upperBound))
        let entries = entries(tenant).prefix(Int(positions.upperBound))
        return RereadStretch(
            leaves: entries.dropFirst(Int(positions.lowerBound)).map { TreeHash.leaf($0) },
            hashes: Array(stored.prefix(end).dropFirst(first)))
    }

    func checkpoints(
        of tenant: TenantID, above size: Int64, limit: Int
    ) async throws -> [SignedCheckpoint] {
        try await travel("reads checkpoints")
        return Array(seals.shelf(tenant).checkpoints.filter { $0.size > size }.prefix(limit))
    }

    func publish(_ signed: LastSigned, keys: [String], of tenant: TenantID) async throws {
        let now = now
        try await write("publishes size \(signed.checkpoint.size)", tenant) { shelf in
            guard shelf.checkpoints.last?.size != signed.checkpoint.size else { return true }
            shelf.checkpoints.append(
                SignedCheckpoint(
                    origin: signed.checkpoint.origin.description, size: signed.checkpoint.size,
                    root: Digest(signed.checkpoint.root), note: signed.note, signedAt: now))
            return true
        }
    }

    func release() async {}

    private func entries(_ tenant: TenantID) -> [[UInt8]] {
        world.database.log(of: tenant).map(\.entry) + seals.uncommitted(tenant)
    }

    /// Runs a body in a transaction that holds the lease's row.
    private func write(
        _ name: String, _ tenant: TenantID, _ body: (inout MemorySeals.Shelf) -> Bool
    ) async throws {
        try await travel(name)
        var isWritten = false
        let end = now.adding(microseconds: MemorySeals.leaseMicroseconds)
        seals.change(tenant) { shelf in
            guard shelf.holder == process.number || world.bug == .sealerLeaseIgnored else { return }
            shelf.expiresAt = end
            isWritten = body(&shelf)
        }
        guard isWritten else { throw SealerFault.notHeld }
        try await travel("has written")
    }

    private func travel(_ name: String) async throws {
        await world.passage("sealer: \(name)", in: process)
        guard !world.strikes(.sealingFails), !seals.isClosed else {
            throw BatchFault.connectionLost
        }
    }
}

extension Timestamp {
    fileprivate func adding(microseconds: Int64) -> Timestamp {
        Timestamp(microseconds: self.microseconds + microseconds)
    }
}
