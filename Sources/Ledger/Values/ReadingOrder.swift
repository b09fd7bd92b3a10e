/// The order in which a read passes through an append-only sequence.
package enum ReadingOrder: String, Hashable, Sendable, CaseIterable {
    /// From the beginning on.
    case oldest
    /// From the end back: what is appended meanwhile comes before the first page, and changes no
    /// later one.
    case newest

    /// Checks whether a position comes after another one.
    package func isAfter<Position: Comparable>(_ position: Position, _ other: Position) -> Bool {
        self == .oldest ? position > other : position < other
    }
}
