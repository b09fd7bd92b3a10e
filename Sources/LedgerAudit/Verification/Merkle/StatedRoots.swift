import Ledger
import LedgerEngine
import TransparencyLog

/// The Merkle roots that a log states of its own beginnings, compared with its tree as it grows.
///
/// A change of the MAC key states one, so that the holder of the former key can replace nothing before it.
struct StatedRoots: Sendable {
    /// A stated root that differs from the root of the events.
    struct Difference {
        /// The number of events that it covers.
        let size: Int64
        /// The position of the event that states it.
        let stated: LogPosition
    }

    /// The largest size whose root was found right.
    private(set) var agreed: Int64 = 0
    private var rest: ArraySlice<(size: Int64, root: Digest, stated: LogPosition)>

    /// Creates the list of roots that the key changes of a log state; empty without them.
    init(_ protection: LogProtection?) {
        rest = (protection?.roots.filter { $0.size > 0 } ?? []).sorted { $0.size < $1.size }[...]
    }

    /// Whether all of them were reached.
    var isEmpty: Bool { rest.isEmpty }

    /// Returns the first stated root of a tree's size that differs from the tree's.
    mutating func difference(at tree: CompactRange) -> Difference? {
        while let next = rest.first, next.size == tree.size {
            rest.removeFirst()
            guard TreeHash(next.root) == tree.root else {
                return Difference(size: next.size, stated: next.stated)
            }
            agreed = next.size
        }
        return nil
    }
}
