package import Ledger
import LedgerPostgres
import Postgres
import TransparencyLog

/// Reads of the Merkle log for auditors: checkpoints, and proofs against them.
///
/// Every proof is checked before it is returned, from the stored bytes up to the signature: a
/// change after signing causes a fault, never a proof that fails to verify.
package struct ProofReads: ProofReader {
    /// The maximum number of checkpoints in a page, except for more of the last one's size.
    package static let pageMax = 1_000

    private let session: Postgres.Session
    private let onFault: @Sendable (String) -> Void

    /// Creates a reader.
    ///
    /// - Parameters:
    ///   - url: The URL of a login that may read the log and sealed data.
    ///   - onFault: Called with one line, free of personal data, for each failure; must not block.
    package init(url: String, onFault: @escaping @Sendable (String) -> Void) {
        session = Postgres.Session(
            url: url, applicationName: "account-ledger proofs", connectTimeout: .seconds(2),
            statementDeadline: .seconds(6)
        ) { try $0.execute(PostgresBatchStore.settings) }
        self.onFault = onFault
    }

    /// Closes the connection; the next read opens a new one.
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
            onFault("a proof failed: \(damage.what)")
            throw .internalFailure
        } catch PostgresError.unexpectedResult(let what) {
            onFault("reading sealed data failed: \(what)")
            throw .internalFailure
        } catch {
            onFault("reading a proof failed: \(error)")
            throw .unavailable
        }
    }
}

/// Stored data that does not prove the signed root.
struct ProofDamage: Error {
    let what: String
}

/// The reason for which no proof was made.
enum ProofFailure: Error {
    case refused(ProofRefusal)
    case damaged(ProofDamage)
    case store(PostgresError)

    /// Returns the refusal; throws any other failure.
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
