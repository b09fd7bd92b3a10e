/// The result of a run of the migrator.
package struct MigrationReport: Sendable, Hashable {
    /// The versions applied by this run, in order; empty if none were pending.
    package let applied: [Int]
    /// The current version of the schema.
    package let version: Int
    /// The deviations from append-only level 1 that were repaired.
    package let repaired: [String]
    /// Tables of unfinished rebuilds.
    package let dropped: [String]
    /// The guards of the log for the runtime login.
    package let guards: AppendOnlyGuards
}
