import Ledger
import Postgres

/// The first round trip of a batch: lock, clock, then every row that the commands touch.
struct BatchLoad {
    private let keys: BatchKeys
    private let signInWindowSeconds: Int64
    /// What was loaded; a tenant without a head row does not exist.
    private(set) var tenants: [TenantID: TenantBatch] = [:]
    /// The database's clock, read after the lock.
    private(set) var now = Timestamp(microseconds: 0)

    init(keys: BatchKeys, signInWindowSeconds: Int64) {
        self.keys = keys
        self.signInWindowSeconds = signInWindowSeconds
    }

    /// A statement together with what reads its result.
    private struct Step {
        let call: Call
        let read: (inout BatchLoad, QueryResult, WrappingKeyring) throws -> Void
    }

    /// The statements, in the order in which ``read(_:keyring:)`` wants their results.
    var calls: [Call] { steps.map(\.call) }

    /// Takes the results in.
    ///
    /// - Throws: `BatchFault.damaged` when a row holds what no version of this program wrote.
    mutating func read(_ results: [QueryResult], keyring: WrappingKeyring) throws(BatchFault) {
        for (step, result) in zip(steps, results) {
            do {
                try step.read(&self, result, keyring)
            } catch let fault as BatchFault {
                throw fault
            } catch let error as PostgresError {
                throw BatchFault(error)
            } catch {
                throw .damaged("a loaded row")
            }
        }
    }

    private var steps: [Step] {
        var steps = [Step(call: Call(Self.begin)) { _, _, _ in }]
        if !keys.newTenants.isEmpty {
            steps.append(Step(call: HeadLoad.make(keys.newTenants)) { _, _, _ in })
        }
        steps.append(
            Step(call: HeadLoad.lock(keys.tenants)) { load, result, _ in
                try HeadLoad.read(result, into: &load.tenants)
            })
        steps.append(
            Step(call: Call(HeadLoad.clock)) { load, result, _ in
                load.now = Timestamp(microseconds: try result.timestamp(0, 0))
            })
        if !keys.subjects.tenants.isEmpty {
            steps.append(
                Step(call: IdentityLoad.call(keys.subjects)) { load, result, _ in
                    try IdentityLoad.read(result, into: load.tenants)
                })
        }
        if !keys.sessions.tenants.isEmpty {
            steps.append(
                Step(call: SessionLoad.call(keys.sessions)) { load, result, _ in
                    try SessionLoad.read(result, into: load.tenants)
                })
        }
        steps.append(
            Step(call: AccountLoad.call(keys)) { load, result, keyring in
                try AccountLoad.read(result, into: load.tenants, keyring: keyring)
            })
        return steps + operationalSteps
    }

    private var operationalSteps: [Step] {
        var steps: [Step] = []
        if !keys.signInSubjects.tenants.isEmpty {
            let call = SignInCountLoad.call(
                keys.signInSubjects, windowSeconds: signInWindowSeconds)
            steps.append(
                Step(call: call) { load, result, _ in
                    try SignInCountLoad.read(result, into: load.tenants)
                })
        }
        if !keys.budgets.tenants.isEmpty {
            steps.append(
                Step(call: AttemptLoad.call(keys.budgets)) { load, result, _ in
                    try AttemptLoad.read(result, into: load.tenants)
                })
        }
        if !keys.idempotencyScopes.isEmpty {
            let call = IdempotencyLoad.call(keys.idempotency, scopes: keys.idempotencyScopes)
            steps.append(
                Step(call: call) { load, result, _ in
                    try IdempotencyLoad.read(result, into: load.tenants)
                })
        }
        return steps
    }

    private static let begin = Statement("begin_batch", "BEGIN ISOLATION LEVEL READ COMMITTED")
}

extension [TenantID: TenantBatch] {
    /// The tenant's batch that a loaded row belongs to.
    func batch(_ result: QueryResult, _ row: Int) throws -> TenantBatch {
        guard let tenant = TenantID(try result.text(row, 0)), let batch = self[tenant] else {
            throw BatchFault.damaged("tenant_id of a loaded row")
        }
        return batch
    }
}

extension QueryResult {
    /// A position or a sequence; damage when no log can have come that far.
    func count(_ row: Int, _ column: Int) throws -> Int64 {
        let value = try int8(row, column)
        guard (0...1 << 62).contains(value) else { throw BatchFault.damaged("a position") }
        return value
    }

    /// A provider's name; damage when it breaks the grammar.
    func provider(_ row: Int, _ column: Int) throws -> ProviderName {
        guard let name = ProviderName(try text(row, column)) else {
            throw BatchFault.damaged("a provider's name")
        }
        return name
    }

    /// A digest; damage when it has not 32 bytes.
    func digest(_ row: Int, _ column: Int) throws -> Digest {
        guard let digest = Digest(try bytes(row, column)) else {
            throw BatchFault.damaged("a digest")
        }
        return digest
    }
}
