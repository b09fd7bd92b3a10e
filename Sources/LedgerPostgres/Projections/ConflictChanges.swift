package import Ledger

/// What a page of events changes in a table of `conflicts`.
package struct ConflictChanges: Sendable {
    /// As they are afterwards, in the order of their first attempts.
    package let rows: [Conflict]
    /// The first attempts of those that were there before.
    package let replaced: [LogPosition]

    /// What a fold that began with some conflicts has changed.
    init(_ fold: ConflictFold, from loaded: [Conflict]) {
        let known = Set(loaded.map(\.first.position))
        rows = fold.changes
        replaced = rows.map(\.first.position).filter { known.contains($0) }
    }
}
