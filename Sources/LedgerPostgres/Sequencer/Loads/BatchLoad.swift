package import Ledger
import LedgerEngine
import Postgres

/// The first round trip of a batch: lock, clock, then every row that the commands touch.
struct BatchLoad {
    private let keys: BatchKeys
    private let keyring: WrappingKeyring
    private let fence: SchemaFence
    private let rules: RulesCache
    private let protected: ProtectedLogs?
    private let steps: [Step]
    /// The loaded tenants; a tenant without a head row does not exist.
    private(set) var tenants: [TenantID: TenantBatch] = [:]
    /// The database's clock, read after the lock.
    private(set) var now = Timestamp(microseconds: 0)

    init(
        keys: BatchKeys, signInWindowSeconds: (TenantID) -> Int64,
        keyring: WrappingKeyring, fence: SchemaFence, rules: RulesCache, protected: ProtectedLogs?
    ) {
        self.rules = rules
        self.protected = protected
        self.keyring = keyring
        self.fence = fence
        self.keys = keys
        steps = Self.steps(keys, signInWindowSeconds, protected)
    }

    /// A statement with the reader of its result.
    private struct Step {
        let call: Call
        let read: (inout BatchLoad, QueryResult) throws -> Void
    }

    /// The statements, in the order of the results that ``read(_:)`` expects.
    var calls: [Call] { steps.map { $0.call } }

    /// Reads the results.
    ///
    /// - Throws: `BatchFault.damaged` for a row that no version of this program wrote.
    mutating func read(_ results: [QueryResult]) throws(BatchFault) {
        do {
            // First, because rows of another version may look like damage.
            try fence.check(results[clockIndex], column: RulesLoad.schemaVersion)
            try RulesLoad.refuseMoved(results[clockIndex])
            for (step, result) in zip(steps, results) {
                try step.read(&self, result)
            }
        } catch let fault as BatchFault {
            throw fault
        } catch let other as OtherSchema {
            throw .otherSchema(other)
        } catch let error as PostgresError {
            throw BatchFault(error)
        } catch {
            throw .damaged("a loaded row")
        }
    }

    /// BEGIN, the creation of heads for new tenants, and the lock precede it.
    private var clockIndex: Int { keys.newTenants.isEmpty ? 2 : 3 }

    private static func steps(
        _ keys: BatchKeys, _ signInWindowSeconds: (TenantID) -> Int64,
        _ protected: ProtectedLogs?
    ) -> [Step] {
        var steps = [Step(call: Call(begin)) { _, _ in }]
        if !keys.newTenants.isEmpty {
            steps.append(Step(call: HeadLoad.make(keys.newTenants)) { _, _ in })
        }
        steps.append(
            Step(call: HeadLoad.lock(keys.tenants, protected: protected)) { load, result in
                try HeadLoad.read(
                    result, into: &load.tenants, keyring: load.keyring, protected: load.protected)
                for tenant in load.keys.subjectTenants {
                    load.tenants[tenant]?.findsLinksBySubject = true
                }
                for batch in load.tenants.values {
                    batch.reserve(forCommands: load.keys.commandCount / load.tenants.count)
                }
            })
        steps.append(
            Step(call: RulesLoad.call(keys.tenants)) { load, result in
                load.now = Timestamp(microseconds: try result.timestamp(0, RulesLoad.now))
                try RulesLoad.read(result, into: load.tenants, load.rules)
            })
        for (tenant, _) in keys.rules {
            steps.append(
                Step(call: RulesLoad.providers(of: tenant)) { load, result in
                    guard let batch = load.tenants[tenant] else { return }
                    try RulesLoad.readProviders(result, into: batch)
                })
        }
        if !keys.sessions.ids.isEmpty {
            steps.append(
                Step(call: CallerLoad.call(keys.sessions)) { load, result in
                    try CallerLoad.read(result, of: load.keys.sessions, into: load.tenants)
                })
        }
        if !keys.subjects.subjects.isEmpty {
            let call = SubjectLoad.call(keys.subjects, windowSeconds: signInWindowSeconds)
            steps.append(
                Step(call: call) { load, result in
                    try SubjectLoad.read(result, of: load.keys.subjects, into: load.tenants)
                })
        }
        for (tenant, names) in keys.addresses {
            steps.append(
                Step(
                    call: AddressLoad.call(
                        names, of: tenant, windowSeconds: signInWindowSeconds(tenant))
                ) { load, result in
                    guard let batch = load.tenants[tenant] else { return }
                    try AddressLoad.read(result, into: batch)
                })
            let ending = names.filter(\.endsClaim)
            guard !ending.isEmpty else { continue }
            steps.append(
                Step(call: FactorLoad.call(claimsOf: ending, of: tenant)) { load, result in
                    guard let batch = load.tenants[tenant] else { return }
                    try FactorLoad.read(result, into: batch)
                })
            steps.append(
                Step(call: AddressLoad.call(claimsOf: ending, of: tenant)) { load, result in
                    guard let batch = load.tenants[tenant] else { return }
                    try AddressLoad.read(others: result, into: batch)
                })
            steps.append(
                Step(call: NumberLoad.call(claimsOf: ending, of: tenant)) { load, result in
                    guard let batch = load.tenants[tenant] else { return }
                    try NumberLoad.read(lost: result, into: batch)
                })
        }
        for (tenant, accounts) in keys.numbers {
            steps.append(
                Step(call: NumberLoad.call(accounts, of: tenant)) { load, result in
                    guard let batch = load.tenants[tenant] else { return }
                    try NumberLoad.read(result, into: batch)
                })
        }
        for (tenant, names) in keys.names {
            steps.append(
                Step(call: NameLoad.call(names, of: tenant)) { load, result in
                    guard let batch = load.tenants[tenant] else { return }
                    try NameLoad.read(result, into: batch)
                })
        }
        for (tenant, identities) in keys.passwords {
            steps.append(
                Step(call: PasswordLoad.call(identities, of: tenant)) { load, result in
                    guard let batch = load.tenants[tenant] else { return }
                    try PasswordLoad.read(
                        result, of: load.keys.passkeys, into: batch, keyring: load.keyring)
                })
        }
        for (tenant, accounts) in keys.factors {
            steps.append(
                Step(call: FactorLoad.call(Array(accounts), of: tenant)) { load, result in
                    guard let batch = load.tenants[tenant] else { return }
                    try FactorLoad.read(result, into: batch)
                })
        }
        for (tenant, challenges) in keys.challenges {
            steps.append(
                Step(call: ChallengeRows.load(challenges, of: tenant)) { load, result in
                    guard let batch = load.tenants[tenant] else { return }
                    try ChallengeRows.read(result, into: batch)
                })
        }
        // After the others, because it completes accounts that they have loaded.
        if !keys.accounts.ids.isEmpty || !keys.addresses.isEmpty {
            steps.append(
                Step(call: AccountLoad.call(keys)) { load, result in
                    try AccountLoad.read(result, into: load.tenants)
                })
            steps.append(
                Step(call: MergeLoad.call(keys)) { load, result in
                    try MergeLoad.read(result, into: load.tenants)
                })
        }
        for (tenant, accounts) in keys.uses {
            steps.append(
                Step(call: UseLoad.call(accounts, of: tenant)) { load, result in
                    guard let batch = load.tenants[tenant] else { return }
                    try UseLoad.read(result, into: batch)
                })
        }
        for (tenant, accounts) in keys.erasureRequests {
            steps.append(
                Step(call: ErasureRequestRows.load(accounts, of: tenant)) { load, result in
                    guard let batch = load.tenants[tenant] else { return }
                    try ErasureRequestRows.read(result, into: batch)
                })
        }
        if !keys.identities.ids.isEmpty {
            steps.append(
                Step(call: IdentityLoad.call(keys.identities)) { load, result in
                    try IdentityLoad.read(result, into: load.tenants)
                })
        }
        if !keys.idempotency.scopes.isEmpty {
            steps.append(
                Step(call: IdempotencyLoad.call(keys.idempotency)) { load, result in
                    try IdempotencyLoad.read(result, of: load.keys.idempotency, into: load.tenants)
                })
        }
        if !keys.idTokens.digests.isEmpty {
            steps.append(
                Step(call: SpentIDTokens.load(keys.idTokens)) { load, result in
                    try SpentIDTokens.read(result, of: load.keys.idTokens, into: load.tenants)
                })
        }
        return steps
    }

    private static let begin = Statement("begin_batch", "BEGIN ISOLATION LEVEL READ COMMITTED")
}

extension QueryResult {
    /// Returns the index of the requested key, from 0, that a row belongs to: its first column.
    func keyIndex(_ row: Int) throws -> Int { Int(try int8(row, 0)) - 1 }

    /// Reads a provider's own name of an identity; damaged if it exceeds the limits.
    func subject(_ row: Int, _ column: Int, at provider: ProviderName) throws -> Subject {
        guard let subject = Subject(provider: provider, providerID: try text(row, column))
        else { throw BatchFault.damaged("identities.provider_id") }
        return subject
    }

    /// Reads a position or a sequence; damaged if no log can have reached it.
    package func count(_ row: Int, _ column: Int) throws -> Int64 {
        let value = try int8(row, column)
        guard (0...LogPosition.endMax).contains(value) else {
            throw BatchFault.damaged("a position")
        }
        return value
    }

    /// Reads a provider's name; damaged if it violates the grammar.
    package func provider(_ row: Int, _ column: Int) throws -> ProviderName {
        guard let name = ProviderName(try text(row, column)) else {
            throw BatchFault.damaged("a provider's name")
        }
        return name
    }

    /// Reads a digest; damaged if it is not 32 bytes long.
    package func digest(_ row: Int, _ column: Int) throws -> Digest {
        guard let digest = Digest(try bytes(row, column)) else {
            throw BatchFault.damaged("a digest")
        }
        return digest
    }
}
