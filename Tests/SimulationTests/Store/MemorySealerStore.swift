import Ledger
import TransparencyLog

@testable import LedgerEngine

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
            seals.change(tenant) { partition in
                if left.contains(tenant) {
                    if partition.holder == process.number { partition.holder = nil }
                    return
                }
                let isFree =
                    partition.holder == nil || partition.holder == process.number
                    || partition.expiresAt < now || partition.expiresAt > longest
                guard isFree || world.bug == .sealerLeaseIgnored else { return }
                partition.holder = process.number
                partition.expiresAt = longest
            }
            return SealerLog(
                tenant: tenant, size: Int64(entries(tenant).count),
                isHeld: seals.partition(tenant).holder == process.number)
        }
    }

    func logState(of tenant: TenantID) async throws -> SealedState {
        try await travel("reads what is sealed")
        let partition = seals.partition(tenant)
        return SealedState(
            size: Int64(entries(tenant).count), hashCount: Int64(partition.hashes.count),
            keys: partition.checkpoints.isEmpty
                ? [] : partition.signer.map { [$0.verifier.vkey] } ?? [],
            checkpoints: partition.checkpoints.suffix(1))
    }

    func entries(of tenant: TenantID, from: Int64, limit: Int) async throws -> [[UInt8]] {
        try await travel("reads entries")
        return Array(entries(tenant).dropFirst(Int(from)).prefix(limit))
    }

    func hashes(of tenant: TenantID, at indexes: [Int64]) async throws -> [TreeHash?] {
        try await travel("reads hashes")
        let hashes = seals.partition(tenant).hashes
        return indexes.map { $0 < hashes.count ? hashes[Int($0)] : nil }
    }

    func append(_ hashes: [TreeHash], from index: Int64, of tenant: TenantID) async throws {
        try await write("stores hashes", tenant) { partition in
            guard partition.hashes.count == index || world.bug == .sealerLeaseIgnored else {
                return false
            }
            partition.hashes += hashes
            return true
        }
    }

    func hashesOverlap(of tenant: TenantID, at indexes: [Int64]) async throws -> Bool { false }

    func reread(_ positions: Range<Int64>, of tenant: TenantID) async throws -> RereadRange {
        try await travel("reads once more")
        let stored = seals.partition(tenant).hashes
        let first = Int(StoredHashIndex.count(leaves: positions.lowerBound))
        let end = Int(StoredHashIndex.count(leaves: positions.upperBound))
        let entries = entries(tenant).prefix(Int(positions.upperBound))
        return RereadRange(
            leaves: entries.dropFirst(Int(positions.lowerBound)).map { TreeHash.leaf($0) },
            hashes: Array(stored.prefix(end).dropFirst(first)))
    }

    func checkpoints(
        of tenant: TenantID, above size: Int64, limit: Int
    ) async throws -> [SignedCheckpoint] {
        try await travel("reads checkpoints")
        return Array(seals.partition(tenant).checkpoints.filter { $0.size > size }.prefix(limit))
    }

    func publish(_ signed: LastSigned, keys: [String], of tenant: TenantID) async throws {
        let now = now
        try await write("publishes size \(signed.checkpoint.size)", tenant) { partition in
            guard partition.checkpoints.last?.size != signed.checkpoint.size else { return true }
            partition.checkpoints.append(
                SignedCheckpoint(
                    origin: signed.checkpoint.origin.description, size: signed.checkpoint.size,
                    root: Digest(signed.checkpoint.root), note: signed.note, signedAt: now))
            return true
        }
    }

    func release() async {}

    func failure(of error: any Error) -> StoreFailure? { nil }

    func close() async {}

    private func entries(_ tenant: TenantID) -> [[UInt8]] {
        world.database.log(of: tenant).map(\.entry) + seals.uncommitted(tenant)
    }

    /// Runs a body in a transaction that holds the lease's row.
    private func write(
        _ name: String, _ tenant: TenantID, _ body: (inout MemorySeals.Partition) -> Bool
    ) async throws {
        try await travel(name)
        var isWritten = false
        let end = now.adding(microseconds: MemorySeals.leaseMicroseconds)
        seals.change(tenant) { partition in
            guard partition.holder == process.number || world.bug == .sealerLeaseIgnored else {
                return
            }
            partition.expiresAt = end
            isWritten = body(&partition)
        }
        guard isWritten else { throw SealerFault.notHeld }
        try await travel("has written")
    }

    private func travel(_ name: String) async throws {
        await world.faultPoint("sealer: \(name)", in: process)
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
