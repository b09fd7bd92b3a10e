import Ledger
import TransparencyLog

/// Looks for published checkpoints of a log that none of its keys signed.
///
/// The audit covers all checkpoints, but takes longer.
struct UnsignedCheckpointSearch {
    /// How far below the last signed size it searches.
    private static let sizesMax: Int64 = 10_000
    private static let pageMax = 1_000

    let store: any SealerStore
    let tenant: TenantID

    /// Returns the first such checkpoint at or above the lowest searched size.
    func finding(_ logState: SealerLogRecord) async throws -> SealingFinding? {
        guard let last = logState.last?.checkpoint else { return nil }
        var size = max(0, last.size - Self.sizesMax)
        while true {
            let page = try await store.checkpoints(of: tenant, above: size, limit: Self.pageMax)
            for checkpoint in page where checkpoint.origin == last.origin.description {
                guard let fault = checkpoint.fault(logState.verifiers) else { continue }
                return SealingFinding(
                    what: "the published checkpoint of size \(checkpoint.size) \(fault)",
                    position: nil, after: last.size, before: nil, sparesSignedEvents: true)
            }
            guard let next = page.last?.size, page.count >= Self.pageMax else { return nil }
            size = next
        }
    }
}
