import Ledger
import Synchronization
import TransparencyLog

@testable import LedgerEngine
@testable import LedgerPostgres

/// A process that ends at a step of its work, just before or after it.
final class Crash: Sendable {
    struct Ended: Error {}

    private let step: Int
    private let isAfter: Bool
    private let count = Mutex(0)

    /// Ends at the step of this number, counted from 1; never for 0.
    init(at step: Int, isAfter: Bool = false) {
        self.step = step
        self.isAfter = isAfter
    }

    /// The number of steps so far.
    var steps: Int { count.withLock(\.self) }

    func pass<Value>(_ body: () async throws -> Value) async throws -> Value {
        let isHere = advance()
        if isHere, !isAfter { throw Ended() }
        let value = try await body()
        if isHere { throw Ended() }
        return value
    }

    func passNow<Value>(_ body: () throws -> Value) throws -> Value {
        let isHere = advance()
        if isHere, !isAfter { throw Ended() }
        let value = try body()
        if isHere { throw Ended() }
        return value
    }

    private func advance() -> Bool {
        count.withLock { count in
            count += 1
            return count == step
        }
    }
}

/// A store whose process may end at any call.
struct CrashingStore: SealerStore {
    let store: any SealerStore
    let crash: Crash

    func logs(without left: [TenantID]) async throws -> [SealerLog] {
        try await crash.pass { try await store.logs(without: left) }
    }

    func logState(of tenant: TenantID) async throws -> SealedState {
        try await crash.pass { try await store.logState(of: tenant) }
    }

    func entries(of tenant: TenantID, from: Int64, limit: Int) async throws -> [[UInt8]] {
        try await crash.pass { try await store.entries(of: tenant, from: from, limit: limit) }
    }

    func hashes(of tenant: TenantID, at indexes: [Int64]) async throws -> [TreeHash?] {
        try await crash.pass { try await store.hashes(of: tenant, at: indexes) }
    }

    func append(_ hashes: [TreeHash], from index: Int64, of tenant: TenantID) async throws {
        try await crash.pass { try await store.append(hashes, from: index, of: tenant) }
    }

    func hashesOverlap(of tenant: TenantID, at indexes: [Int64]) async throws -> Bool {
        try await store.hashesOverlap(of: tenant, at: indexes)
    }

    func reread(_ positions: Range<Int64>, of tenant: TenantID) async throws -> RereadRange {
        try await crash.pass { try await store.reread(positions, of: tenant) }
    }

    func checkpoints(
        of tenant: TenantID, above size: Int64, limit: Int
    ) async throws -> [SignedCheckpoint] {
        try await store.checkpoints(of: tenant, above: size, limit: limit)
    }

    func publish(_ signed: LastSigned, keys: [String], of tenant: TenantID) async throws {
        try await crash.pass { try await store.publish(signed, keys: keys, of: tenant) }
    }

    func release() async {
        await store.release()
    }

    func failure(of error: any Error) -> StoreFailure? { store.failure(of: error) }

    func close() async { await store.close() }
}

/// A record whose process may end at any call.
struct CrashingRecord: SealerRecord {
    let record: any SealerRecord
    let crash: Crash

    func tenants() throws(SealerRecordFault) -> [TenantID] {
        try ending { try record.tenants() }
    }

    func logState(
        of tenant: TenantID, mayBegin: Bool
    ) throws(SealerRecordFault) -> SealerLogRecord {
        try ending { try record.logState(of: tenant, mayBegin: mayBegin) }
    }

    func write(
        _ signed: LastSigned, after previous: Checkpoint?, of tenant: TenantID
    ) throws(SealerRecordFault) {
        try ending { try record.write(signed, after: previous, of: tenant) }
    }

    func add(_ erasures: [SeenErasure], of tenant: TenantID) throws(SealerRecordFault) {
        try ending { try record.add(erasures, of: tenant) }
    }

    /// The loop treats every fault of a record as a refusal, which also ends its pass over the tenant.
    private func ending<Value>(
        _ body: () throws -> Value
    ) throws(SealerRecordFault) -> Value {
        do {
            return try crash.passNow(body)
        } catch let fault as SealerRecordFault {
            throw fault
        } catch {
            throw .damaged("the process ends here")
        }
    }
}
