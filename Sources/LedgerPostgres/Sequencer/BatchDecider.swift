import Cryptography
import Ledger
import Postgres

/// Carries one batch of commands out in one transaction of two round trips.
///
/// 1. Lock the tenants' heads, then read the clock, then load what the commands touch: statements of
///    their own after the lock, so that under READ COMMITTED each sees every commit before it.
/// 2. Decide in order of arrival, each command seeing the effects of those before it.
/// 3. Write everything and commit.
struct BatchDecider: Sendable {
    struct Outcome {
        let answers: [Sequencer.Answer]
        let eventCount: Int
    }

    private let policy: @Sendable (TenantID) -> TenantPolicy?
    private let keyring: WrappingKeyring

    init(policy: @escaping @Sendable (TenantID) -> TenantPolicy?, keyring: WrappingKeyring) {
        self.policy = policy
        self.keyring = keyring
    }

    func carryOut(_ commands: [Command], on connection: Connection) throws(BatchFault) -> Outcome {
        let keys = BatchKeys(commands)
        var load = BatchLoad(keys: keys, signInWindowSeconds: signInWindowSeconds(keys.tenants))
        let loaded = try pipeline(load.calls, on: connection)
        try load.read(loaded, keyring: keyring)
        let answers = try decide(commands, in: load.tenants, at: load.now)
        let batches = load.tenants.values.sorted { $0.tenant < $1.tenant }
        let calls = try writes(of: batches, at: load.now)
        // Nothing to write is still a transaction to end: its lock must go.
        _ = try pipeline(calls + [Call(.commit)], on: connection)
        return Outcome(
            answers: answers, eventCount: batches.reduce(0) { $0 + $1.recordings.count })
    }

    private func pipeline(
        _ calls: [Call], on connection: Connection
    ) throws(BatchFault) -> [QueryResult] {
        do {
            return try connection.pipeline(calls)
        } catch {
            throw .postgres(error)
        }
    }

    /// The longest window of the tenants' budgets; a budget looks at its own part of it.
    private func signInWindowSeconds(_ tenants: Set<TenantID>) -> Int64 {
        tenants.compactMap { policy($0)?.signInBudget.windowSeconds }.max() ?? 3600
    }

    private func decide(
        _ commands: [Command], in tenants: [TenantID: TenantBatch], at now: Timestamp
    ) throws(BatchFault) -> [Sequencer.Answer] {
        let recorder = Recorder(leafHash: leafHash, digest: sha256, random: SecureRandom.bytes)
        var answers: [Sequencer.Answer] = []
        answers.reserveCapacity(commands.count)
        for command in commands {
            guard let batch = tenants[command.tenant] else {
                answers.append(.success(.failure(.unknownTenant)))
                continue
            }
            let rules = policy(command.tenant) ?? TenantPolicy(providers: [])
            let decision = command.decide(given: batch.state, at: now, under: rules)
            guard batch.canDisclose(decision) else {
                // Only this command's account is damaged, so only this command is answered so.
                answers.append(.failure(.internalFailure))
                continue
            }
            do {
                let recorded = try recorder.record(
                    decision, of: command, into: &batch.state, at: now)
                batch.add(recorded, effects: decision.effects)
            } catch {
                throw .fold(error)
            }
            answers.append(.success(decision.result))
        }
        return answers
    }

    private func writes(
        of batches: [TenantBatch], at now: Timestamp
    ) throws(BatchFault) -> [Call] {
        var secrets = SecretWrites(keyring: keyring)
        for batch in batches {
            try secrets.add(batch)
        }
        return EventWrites.calls(for: batches) + AccountWrites.calls(for: batches)
            + IdentityWrites.calls(for: batches) + SessionWrites.calls(for: batches)
            + OperationalWrites.calls(for: batches, at: now) + secrets.calls
    }
}

/// An entry's RFC 6962 leaf hash.
let leafHash: HashFunction = { digest(SHA256.leafHash($0)) }
/// Plain SHA-256.
let sha256: HashFunction = { digest(SHA256.hash($0)) }

private func digest(_ bytes: [UInt8]) -> Digest {
    guard let digest = Digest(bytes) else { preconditionFailure("SHA-256 has 32 bytes") }
    return digest
}
