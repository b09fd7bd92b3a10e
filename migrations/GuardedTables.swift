/// The tables protected by the guards of every append-only level.
package enum GuardedTables {
    /// Tables whose rows are only inserted, never changed or deleted.
    package static let appendOnly = [
        "events", "merkle_nodes", "checkpoints", "checkpoint_keys", "access_log",
    ]
    /// Evidence that an erasure destroys row by row; no role has a privilege to change it.
    package static let erasable = ["disclosures", "account_keys"]
    /// The state that decisions use; rows change, but are never all deleted at once.
    package static let state = [
        "ledger_head", "accounts", "identities", "sessions", "api_keys", "access_heads",
        "erasures", "merges", "rules", "addresses", "credentials",
        "factors", "names",
    ]

    /// All guarded tables.
    package static let all = appendOnly + erasable + state

    /// Replaces `:append_only`, `:erasable` and `:guarded` in a script with the lists.
    static func insert(into script: String) -> String {
        [(":append_only", appendOnly), (":erasable", erasable), (":guarded", all)].reduce(script) {
            $0.split(separator: $1.0, omittingEmptySubsequences: false)
                .joined(separator: array($1.1))
        }
    }

    private static func array(_ names: [String]) -> String {
        "ARRAY[\(names.map { "'\($0)'" }.joined(separator: ", "))]"
    }
}
