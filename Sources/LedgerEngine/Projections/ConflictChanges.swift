package import Ledger

/// The changes of a page of events to a table of `conflicts`.
package struct ConflictChanges: Sendable {
    /// The new and changed rows, in the order of their first attempts.
    package let rows: [Conflict]
    /// The first attempts of the rows that existed before.
    package let replaced: [LogPosition]

    /// Collects the changes of a fold that began with the loaded conflicts.
    init(_ fold: ConflictFold, from loaded: [Conflict]) {
        let known = Set(loaded.map(\.first.position))
        rows = fold.changes
        replaced = rows.map(\.first.position).filter { known.contains($0) }
    }
}
