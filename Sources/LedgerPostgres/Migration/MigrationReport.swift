/// What a run of the migrator did and what it reached.
package struct MigrationReport: Sendable, Hashable {
    /// The versions that this run applied, in order; empty when there was nothing to do.
    package let applied: [Int]
    /// The version of the schema now.
    package let version: Int
    /// What had drifted from append-only level 1 and was put right.
    package let repaired: [String]
    /// Tables that a rebuild had not finished.
    package let dropped: [String]
    /// What keeps the log append-only now, for the login that serves.
    package let guards: AppendOnlyGuards
}
