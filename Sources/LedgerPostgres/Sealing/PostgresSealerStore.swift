import Cryptography
import Ledger
import LedgerEngine
import Postgres
import Synchronization
import TransparencyLog

/// The sealer's store in production: log, hashes and checkpoints in one Postgres database.
struct PostgresSealerStore: SealerStore {
    /// Settings of the connection: each statement looks up few keys or reads a range in order.
    private static let settings =
        ConnectionSettings.limits(idle: 10, lock: 5, statement: 10) + ConnectionSettings.lookups

    private let session: Postgres.Session
    /// The keys that authenticate events; nil for a sealer without keys.
    private let macs: MACKeys?
    /// The holder of the leases: this store, unique over all processes.
    private let holder: EntityID<SealerLease>
    private let renewal = Renewal()
    private let known = KnownProtections()

    /// Creates a store without connecting.
    init(url: String, applicationName: String, macs: MACKeys?) {
        self.macs = macs
        holder = EntityID(bits: SecureRandom.uint128())
        session = Postgres.Session(
            url: url, applicationName: applicationName, statementDeadline: .seconds(15)
        ) { try $0.execute(Self.settings) }
    }

    func logs(without left: [TenantID]) async throws -> [SealerLog] {
        let takesLeases = renewal.isDue()
        let calls =
            SealerRows.releaseCalls(left, by: holder) + [SealerRows.logsCall(for: holder)]
        let logs = try await session.run { connection in
            if takesLeases {
                try SealerRows.takeLeases(for: holder, without: left, on: connection)
            }
            guard let result = try connection.pipeline(calls).last else {
                throw PostgresError.unexpectedResult("no logs")
            }
            var logs: [SealerLog] = []
            for row in 0..<result.rowCount {
                // `verify` reports a head with an invalid tenant.
                guard let tenant = TenantID(try result.text(row, result.column("tenant_id"))) else {
                    continue
                }
                logs.append(
                    SealerLog(
                        tenant: tenant, size: try result.int8(row, result.column("next_position")),
                        isHeld: try result.bool(row, result.column("is_held"))))
            }
            return logs
        }
        if takesLeases { renewal.note() }
        return logs
    }

    func logState(of tenant: TenantID) async throws -> SealedState {
        try await session.run { connection in
            // Each statement sees what was committed before it, so the log is never shorter than its hashes.
            let results = try connection.pipeline([
                SealerRows.largestCall(of: tenant), CheckpointRows.keysCall(of: tenant),
                SealerRows.hashCountCall(of: tenant), SealerRows.sizeCall(of: tenant),
            ])
            return SealedState(
                size: results[3].rowCount == 0 ? 0 : try results[3].int8(0, 0),
                hashCount: results[2].rowCount == 0 ? 0 : try results[2].int8(0, 0),
                keys: try CheckpointRows.keys(results[1]).map(\.verifierKey),
                checkpoints: try CheckpointRows.checkpoints(results[0]))
        }
    }

    func entries(of tenant: TenantID, from: Int64, limit: Int) async throws -> [[UInt8]] {
        let calls = [SealerRows.entriesCall(of: tenant, from: from, limit: limit)]
        let read = try await read(calls, of: tenant, from: from) { results, protection in
            let (entries, forgery) = try SealerRows.entries(results[0], from: from, protection)
            return CheckedRows(rows: entries, end: from + Int64(entries.count), forgery: forgery)
        }
        if let forgery = read.forgery { throw SealingRefusal.unauthentic(forgery) }
        return read.rows
    }

    func hashes(of tenant: TenantID, at indexes: [Int64]) async throws -> [TreeHash?] {
        guard !indexes.isEmpty else { return [] }
        let call = NodeRows.call(at: indexes, of: tenant)
        return try await session.run { connection in
            try NodeRows.hashes(try connection.query(call.statement, call.parameters))
        }
    }

    func hashesOverlap(of tenant: TenantID, at indexes: [Int64]) async throws -> Bool {
        let call = SealerRows.overlapCall(at: indexes, of: tenant)
        return try await session.run { try $0.query(call.statement, call.parameters).bool(0, 0) }
    }

    func append(_ hashes: [TreeHash], from index: Int64, of tenant: TenantID) async throws {
        try await write(
            [
                SealerRows.expectEndCall(of: tenant, at: index),
                SealerRows.insertCall(hashes, from: index, of: tenant),
            ], of: tenant)
    }

    func reread(_ positions: Range<Int64>, of tenant: TenantID) async throws -> RereadRange {
        let indexes =
            StoredHashIndex.count(
                leaves: positions.lowerBound)..<StoredHashIndex.count(leaves: positions.upperBound)
        let calls = [
            SealerRows.leavesCall(of: tenant, positions), SealerRows.nodesCall(of: tenant, indexes),
        ]
        let read = try await read(calls, of: tenant, from: positions.lowerBound) {
            results, protection in
            let (leaves, forgery) = try SealerRows.leaves(
                results[0], from: positions.lowerBound, protection)
            return CheckedRows(
                rows: (leaves: leaves, hashes: try SealerRows.hashes(results[1], indexes)),
                end: positions.lowerBound + Int64(leaves.count), forgery: forgery)
        }
        return RereadRange(
            leaves: read.rows.leaves, hashes: read.rows.hashes, forgery: read.forgery)
    }

    func checkpoints(
        of tenant: TenantID, above size: Int64, limit: Int
    ) async throws -> [SignedCheckpoint] {
        let call = CheckpointRows.call(of: tenant, sizes: (size + 1)...(.max), limit: limit)
        return try await session.run { connection in
            try CheckpointRows.checkpoints(
                try connection.query(call.statement, call.parameters))
        }
    }

    func publish(_ signed: LastSigned, keys: [String], of tenant: TenantID) async throws {
        try await write(
            [SealerRows.insertCall(keys: keys, of: tenant)]
                + SealerRows.insertCalls(signed, of: tenant), of: tenant)
    }

    func release() async {
        try? await session.run { [holder] in try SealerRows.releaseAll(by: holder, on: $0) }
    }

    func failure(of error: any Error) -> StoreFailure? { StoreFailure(error) }

    func close() async {
        await session.close()
    }

    /// Reads events from a position on and checks them.
    ///
    /// The events that name the keys of the log are read only if those known do not extend to the position,
    /// or a check fails: the first event with another key fails it.
    private func read<Rows: Sendable>(
        _ calls: [Call], of tenant: TenantID, from position: Int64,
        _ check: @escaping @Sendable ([QueryResult], LogProtection?) throws -> CheckedRows<Rows>
    ) async throws -> CheckedRows<Rows> {
        try await session.run { [macs, known] connection in
            if let protection = known.protection(of: tenant, upTo: position) {
                let read = try check(try connection.pipeline(calls), protection)
                if read.forgery == nil {
                    known.keep(protection, of: tenant, upTo: read.end)
                    return read
                }
            }
            let results = try connection.pipeline(
                calls + LogProtection.calls(of: tenant, keys: macs))
            let protection = try LogProtection.found(
                in: results[calls.count...], of: tenant, keys: macs)
            let read = try check(results, protection)
            known.keep(read.forgery == nil ? protection : nil, of: tenant, upTo: read.end)
            return read
        }
    }

    /// Runs calls in a transaction that holds the lease's row.
    private func write(_ calls: [Call], of tenant: TenantID) async throws {
        let all =
            [Call(.begin), SealerRows.holdCall(tenant, by: holder)] + calls + [Call(.commit)]
        try await session.run { connection in
            do throws(PostgresError) {
                _ = try connection.pipeline(all)
            } catch {
                // `ledger_expect` raises this, and here only for a lost lease, for another end of the hashes
                // and for another checkpoint of the size; the next pass then reads what is stored.
                guard case .server(let refusal) = error, refusal.state == .dataException else {
                    throw error
                }
                connection.rollBack()
                throw SealerFault.notHeld
            }
        }
    }
}

/// Rows of events, the position after them, and the first of them that no server has appended.
private struct CheckedRows<Rows: Sendable>: Sendable {
    let rows: Rows
    let end: Int64
    let forgery: LogDamage?
}

/// The protections of the logs that a sealer reads in order.
private final class KnownProtections: Sendable {
    private let known = Mutex<[TenantID: (protection: LogProtection, end: Int64)]>([:])

    /// Returns a log's protection if it covers every event below a position.
    func protection(of tenant: TenantID, upTo position: Int64) -> LogProtection? {
        known.withLock { $0[tenant] }.flatMap { $0.end >= position ? $0.protection : nil }
    }

    /// Keeps the protection that applies to the events below a position; a log without protection may get
    /// one for earlier events.
    func keep(_ protection: LogProtection?, of tenant: TenantID, upTo end: Int64) {
        known.withLock { known in
            guard let protection, protection.protectedFrom != nil else {
                known[tenant] = nil
                return
            }
            known[tenant] = (protection, max(end, known[tenant]?.end ?? 0))
        }
    }
}

/// The time at which leases were last renewed.
private final class Renewal: Sendable {
    private let last = Mutex<ContinuousClock.Instant?>(nil)

    func isDue() -> Bool {
        last.withLock { $0.map { ContinuousClock.now - $0 >= SealerLease.renewal } ?? true }
    }

    func note() {
        last.withLock { $0 = .now }
    }
}
