package import Ledger
package import LedgerEngine
import Postgres

/// Looks up API keys and writes the access log in batches, each in one round trip and transaction.
///
/// Keys are not cached: every process refuses a revoked key from the next request on.
package final class AccessGate: Sendable {
    private enum Pending: Sendable {
        typealias Answer<Value> = CheckedContinuation<Result<Value, LedgerFault>, Never>

        case key(APIKeyID, TenantID, Answer<StoredAPIKey?>)
        case record(AccessRecord, TenantID, Answer<Void>)

        var tenant: TenantID {
            switch self {
            case .key(_, let tenant, _), .record(_, let tenant, _): tenant
            }
        }

        func fail(with fault: LedgerFault) {
            switch self {
            case .key(_, _, let answer): answer.resume(returning: .failure(fault))
            case .record(_, _, let answer): answer.resume(returning: .failure(fault))
            }
        }
    }

    /// The maximum number of requests in one batch.
    private static let batchLimit = 128

    private let tenantCalls = TenantCalls()
    private typealias Lane = SessionLane<Pending>

    private let lanes: Lanes<Lane>
    private let nodes: TenantNodes?
    private let fence: SchemaFence
    private let macs: MACKeys
    private let refusesMoved: Bool
    private let onFault: @Sendable (String) -> Void

    /// Creates a gate, which works while ``run()`` runs.
    ///
    /// - Parameters:
    ///   - url: The runtime role's URL.
    ///   - macs: Authenticate API keys; not needed for writing only.
    ///   - queueLimit: The maximum number of waiting requests; more are refused as overload.
    ///   - fence: Refuses a schema of another version.
    ///   - nodes: The nodes of the tenants on Citus; nil on Postgres alone.
    ///   - refusesMoved: Whether nothing is written about a tenant that is being moved; servers, which refuse its requests
    ///     before, save the statement.
    ///   - onFault: Called with one line, free of personal data, for each failed batch and each API
    ///     key with a wrong MAC.
    package init(
        url: String, macs: MACKeys = MACKeys(current: nil), queueLimit: Int = 1024,
        fence: SchemaFence = SchemaFence(), nodes: TenantNodes? = nil,
        refusesMoved: Bool = false,
        onFault: @escaping @Sendable (String) -> Void
    ) {
        self.nodes = nodes
        self.macs = macs
        self.onFault = onFault
        self.fence = fence
        self.refusesMoved = refusesMoved
        lanes = Lanes {
            Lane(url: url, named: LockHolderName.access.rawValue, queueLimit: queueLimit)
        } close: {
            $0.queue.close()
        }
    }

    /// Works until ``close()`` was called and all accepted requests are answered.
    package func run() async {
        await lanes.run { await self.run($0) }
    }

    /// Refuses new requests and lets ``run()`` end.
    package func close() {
        lanes.closeAll()
    }

    private func run(_ lane: Lane) async {
        await withTaskExecutorPreference(lane.session.taskExecutor) {
            while await lane.queue.wait() {
                await answer(lane.queue.take(max: Self.batchLimit), in: lane)
            }
        }
        await lane.session.close()
    }

    /// Returns the current key with an id, whether or not it is valid.
    ///
    /// - Throws: `LedgerFault.internalFailure` for a key with a wrong MAC.
    package func key(
        _ id: APIKeyID, in tenant: TenantID
    ) async throws(LedgerFault) -> StoredAPIKey? {
        let result = await withCheckedContinuation { continuation in
            add(.key(id, tenant, continuation))
        }
        return try result.get()
    }

    /// Writes one entry, which is durable when this returns.
    ///
    /// - Throws: `LedgerFault`; it is then unknown whether the entry was written.
    package func record(_ access: AccessRecord, in tenant: TenantID) async throws(LedgerFault) {
        let result = await withCheckedContinuation { continuation in
            add(.record(access, tenant, continuation))
        }
        try result.get()
    }

    private func add(_ pending: Pending) {
        let lane = lanes.lane(nodes?.lane(of: pending.tenant) ?? 0)
        if !lane.queue.add(pending) { pending.fail(with: .overloaded) }
    }

    private func answer(_ dequeued: BatchQueue<Pending>.Dequeued, in lane: Lane) async {
        fail(dequeued.late, with: .overloaded, because: "they waited too long")
        let batch = dequeued.batch.map(\.element)
        guard !batch.isEmpty else { return }
        if let parts = lane.parts(of: dequeued.batch, by: { $0.tenant }) {
            for part in parts { await answer(part, in: lane) }
            return
        }
        let found: [Int: StoredAPIKey?]
        do {
            found = try await lane.run(of: batch.first?.tenant, noting: nodes) {
                try self.execute(batch, on: $0)
            }
        } catch {
            return fail(dequeued.batch, with: .unavailable, because: OtherSchema.logText(of: error))
        }
        for (index, pending) in batch.enumerated() {
            switch pending {
            case .key(_, let tenant, let answer):
                switch found[index] {
                case .some(.none):
                    onFault("an API key of tenant \(tenant) has a wrong MAC")
                    answer.resume(returning: .failure(.internalFailure))
                case .some(.some(let key)): answer.resume(returning: .success(key))
                case .none: answer.resume(returning: .success(nil))
                }
            case .record(_, _, let answer): answer.resume(returning: .success(()))
            }
        }
    }

    /// Logs nothing without a reason: the fault was logged before.
    private func fail(
        _ batch: [Queued<Pending>], with fault: LedgerFault, because reason: String?
    ) {
        guard !batch.isEmpty else { return }
        if let reason { onFault("\(batch.count) accesses failed: \(reason)") }
        for pending in batch { pending.element.fail(with: fault) }
    }

    /// Writes every entry and looks up every key, by its index in the batch.
    private func execute(
        _ batch: [Pending], on connection: Connection
    ) throws -> [Int: StoredAPIKey?] {
        var wanted: [(id: APIKeyID, tenant: TenantID)] = []
        var indexes: [Int] = []
        var records: [TenantID: [AccessRecord]] = [:]
        for (index, pending) in batch.enumerated() {
            switch pending {
            case .key(let id, let tenant, _):
                wanted.append((id: id, tenant: tenant))
                indexes.append(index)
            case .record(let access, let tenant, _):
                records[tenant, default: []].append(access)
            }
        }
        // In the order of tenants, in which every process locks the heads.
        var calls = records.sorted { $0.key < $1.key }.map {
            AccessStatements.call(recording: $0.value, in: $0.key)
        }
        // On Citus a statement looks up the keys of one tenant.
        let isCitus = try DatabaseEngine(of: connection) == .citus
        let groups =
            isCitus
            ? Array(Dictionary(grouping: wanted.indices) { wanted[$0].tenant }.values)
            : [Array(wanted.indices)].filter { !$0.isEmpty }
        calls += groups.flatMap { group in
            let call = AccessStatements.call(keys: group.map { wanted[$0] })
            return isCitus ? tenantCalls.calls([call], of: wanted[group[0]].tenant) : [call]
        }
        calls.append(Call(SchemaFence.version))
        let results =
            try refusesMoved
            ? connection.transaction {
                for tenant in records.keys { try TenantMove.refuse(tenant, on: connection) }
                return try connection.pipeline(calls)
            } : connection.pipeline(calls)
        // An entry is written before the data is shown, and after it was read.
        try fence.check(results[calls.count - 1])
        var keys: [Int: StoredAPIKey?] = [:]
        for (group, result) in zip(groups, results.dropFirst(records.count)) {
            let found = try AccessStatements.keys(
                result, of: group.map { wanted[$0].tenant }, macs: macs)
            for (place, key) in found { keys[indexes[group[place]]] = .some(key) }
        }
        return keys
    }
}

extension AccessGate: APIKeyDirectory {}
