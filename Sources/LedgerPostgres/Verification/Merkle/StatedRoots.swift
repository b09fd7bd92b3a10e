import Ledger
import TransparencyLog

/// The Merkle roots that a log states of its own beginnings, to be held against its tree as it grows.
///
/// A change of the MAC key states one, so that nothing before it can be replaced by who has the former key.
struct StatedRoots: Sendable {
    /// A root that is not the one of the events that it was stated of.
    struct Difference {
        /// How many events it was stated of.
        let size: Int64
        /// Where it was stated.
        let stated: LogPosition
    }

    /// The largest size of which a root was found right.
    private(set) var agreed: Int64 = 0
    private var rest: ArraySlice<(size: Int64, root: Digest, stated: LogPosition)>

    /// Takes the roots that marks say; none without marks.
    init(_ marks: LogMarks?) {
        rest = (marks?.roots.filter { $0.size > 0 } ?? []).sorted { $0.size < $1.size }[...]
    }

    /// Whether all of them were come by.
    var isEmpty: Bool { rest.isEmpty }

    /// The first root of a tree's size that is not the tree's.
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
