import Ledger

/// Stands where nothing is ever sealed.
struct NoProofs: ProofReader {
    func latestCheckpoint(
        of tenant: TenantID
    ) async throws(LedgerFault) -> SignedCheckpoint? { nil }

    func checkpoints(
        of tenant: TenantID, sizes: ClosedRange<Int64>, limit: Int
    ) async throws(LedgerFault) -> [SignedCheckpoint] { [] }

    func checkpointKeys(of tenant: TenantID) async throws(LedgerFault) -> [CheckpointKey] { [] }

    func inclusion(
        of position: LogPosition, in tenant: TenantID, size: Int64?
    ) async throws(LedgerFault) -> Result<ProvedInclusion, ProofRefusal> {
        .failure(.nothingSigned)
    }

    func consistency(
        from old: Int64, to size: Int64?, in tenant: TenantID
    ) async throws(LedgerFault) -> Result<ProvedConsistency, ProofRefusal> {
        .failure(.nothingSigned)
    }
}
