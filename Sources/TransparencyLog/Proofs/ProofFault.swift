/// The reasons why a proof is invalid.
package enum ProofFault: Error, Hashable, Sendable {
    /// A size or a position that no tree has, or a position at or after the size.
    case outsideTree
    /// A consistency proof from a size to a smaller one.
    case oldSizeAboveSize
    /// More or fewer hashes than a proof for these sizes has.
    case wrongCount
    /// The hashes lead to another root.
    case otherRoot
    /// The hashes lead to another root of the older tree.
    case otherOldRoot
}
