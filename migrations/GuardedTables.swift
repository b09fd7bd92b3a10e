/// The tables that the guards of every append-only level are about.
package enum GuardedTables {
    /// Rows are added and never changed or taken away.
    package static let appendOnly = [
        "events", "merkle_nodes", "checkpoints", "checkpoint_keys", "access_log",
    ]
    /// Evidence that an erasure destroys, row by row; nobody is granted a change of it.
    package static let erasable = ["disclosures", "account_keys"]
    /// What the log is decided by; rows change, but never all at once.
    package static let state = [
        "ledger_head", "accounts", "identities", "sessions", "api_keys", "access_heads",
        "erasures", "merges",
    ]

    /// All of them.
    package static let all = appendOnly + erasable + state

    /// Puts the lists into a script, which names them `:append_only`, `:erasable` and `:guarded`.
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
