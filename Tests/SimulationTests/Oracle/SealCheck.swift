import Ledger
import TransparencyLog

@testable import LedgerEngine

/// Compares everything that was ever signed, published or not, with the final log.
struct SealCheck {
    private let world: World

    init(_ world: World) {
        self.world = world
    }

    /// The contradictions between signed checkpoints, or with the durable log at the time of signing.
    var contradictions: [String] {
        if let refusal = world.seals.refusals.first { return [refusal] }
        return world.tenants.flatMap { tenant in
            let roots = roots(of: tenant)
            let signatures = world.seals.signatures.filter { $0.tenant == tenant }
            let early = signatures.first { $0.checkpoint.size > $0.events }.map {
                "size \($0.checkpoint.size) of \(tenant) was signed when there were \($0.events) events"
            }
            let wrong = signatures.first {
                let size = Int($0.checkpoint.size)
                return size >= roots.count || roots[size] != $0.checkpoint.root
            }.map { "size \($0.checkpoint.size) of \(tenant) was signed with another root" }
            let published = world.seals.partition(tenant).checkpoints
            let unsigned = published.first { checkpoint in
                !signatures.contains {
                    $0.checkpoint.size == checkpoint.size
                        && Digest($0.checkpoint.root) == checkpoint.root
                }
            }.map { "size \($0.size) of \(tenant) was published and is in no record" }
            let last = published.last?.size ?? 0
            let missing =
                Int(last) == roots.count - 1
                ? nil : "\(tenant) has \(roots.count - 1) events, and \(last) are signed"
            return [early, wrong, unsigned, missing].compactMap(\.self)
        }
    }

    /// Returns the root of each size of a tenant's log, from 0 on.
    private func roots(of tenant: TenantID) -> [TreeHash] {
        var tree = CompactRange()
        return [tree.root]
            + world.database.log(of: tenant).map { recording in
                tree.append(TreeHash.leaf(recording.entry))
                return tree.root
            }
    }
}
