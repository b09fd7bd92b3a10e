package import Ledger
import Postgres
import TransparencyLog

/// The Merkle log as auditors read it: checkpoints, and proofs against them.
///
/// Every proof is checked before it is handed out, against the bytes that are stored now and up to the
/// signature: what was changed after it was signed is a fault and never a proof that does not verify.
package struct ProofReads: ProofReader {
    /// The most checkpoints of a page, but for those of the same size as the last.
    package static let pageMax = 1_000

    private let session: Postgres.Session
    private let onFault: @Sendable (String) -> Void

    /// Makes a reader.
    ///
    /// - Parameters:
    ///   - url: the URL of a login that may read the log and what was sealed.
    ///   - onFault: called with one line, free of personal data, for each failure; must not block.
    package init(url: String, onFault: @escaping @Sendable (String) -> Void) {
        session = Postgres.Session(
            url: url, applicationName: "account-ledger proofs", connectTimeout: .seconds(2),
            statementDeadline: .seconds(6)
        ) { try $0.execute(PostgresBatchStore.settings) }
        self.onFault = onFault
    }

    /// Closes the connection; the next read makes a new one.
    package func close() async {
        await session.close()
    }

    package func latestCheckpoint(
        of tenant: TenantID
    ) async throws(LedgerFault) -> SignedCheckpoint? {
        try await read { try NewestCheckpoint.read(of: tenant, on: $0) }
    }

    package func checkpoints(
        of tenant: TenantID, sizes: ClosedRange<Int64>, limit: Int
    ) async throws(LedgerFault) -> [SignedCheckpoint] {
        let limit = max(1, min(limit, Self.pageMax))
        return try await read { connection in
            let call = CheckpointRows.keysCall(of: tenant)
            let verifiers = try CheckpointRows.verifiers(
                try connection.query(call.statement, call.parameters))
            return try SignedCheckpoints(
                tenant: tenant, verifiers: verifiers, connection: connection
            ).page(sizes: sizes, limit: limit).signed
        }
    }

    package func checkpointKeys(of tenant: TenantID) async throws(LedgerFault) -> [CheckpointKey] {
        try await read { connection in
            let call = CheckpointRows.keysCall(of: tenant)
            return try CheckpointRows.keys(
                try connection.query(call.statement, call.parameters))
        }
    }

    package func inclusion(
        of position: LogPosition, in tenant: TenantID, size: Int64?
    ) async throws(LedgerFault) -> Result<ProvedInclusion, ProofRefusal> {
        try await read { connection in
            do throws(ProofFailure) {
                return .success(
                    try TenantProofs(tenant, connection).inclusion(of: position, size: size))
            } catch {
                return .failure(try error.refusal)
            }
        }
    }

    package func consistency(
        from old: Int64, to size: Int64?, in tenant: TenantID
    ) async throws(LedgerFault) -> Result<ProvedConsistency, ProofRefusal> {
        try await read { connection in
            do throws(ProofFailure) {
                return .success(
                    try TenantProofs(tenant, connection).consistency(from: old, to: size))
            } catch {
                return .failure(try error.refusal)
            }
        }
    }

    private func read<Value: Sendable>(
        _ body: @Sendable (Connection) throws -> Value
    ) async throws(LedgerFault) -> Value {
        do {
            return try await session.run(body)
        } catch let damage as ProofDamage {
            onFault("a proof fails: \(damage.what)")
            throw .internalFailure
        } catch PostgresError.unexpectedResult(let what) {
            onFault("what was sealed cannot be read: \(what)")
            throw .internalFailure
        } catch {
            onFault("a proof cannot be read: \(error)")
            throw .unavailable
        }
    }
}

/// What is stored does not prove what was signed.
struct ProofDamage: Error {
    let what: String
}

/// Why a proof was not made.
enum ProofFailure: Error {
    case refused(ProofRefusal)
    case damaged(ProofDamage)
    case store(PostgresError)

    /// The refusal; any other failure is thrown.
    var refusal: ProofRefusal {
        get throws {
            switch self {
            case .refused(let refusal): return refusal
            case .damaged(let damage): throw damage
            case .store(let error): throw error
            }
        }
    }
}
