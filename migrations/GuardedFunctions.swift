/// The functions that destroy data, and those that they call; a change to one could destroy data
/// unnoticed.
///
/// Each is quoted in `functions.sql` with a tag that is its name, as in `$ledger_erase_accounts$`.
package struct GuardedFunction: Sendable {
    package let name: String
    /// The expected value of `pg_proc.prosrc`.
    package let body: String

    package static let all: [GuardedFunction] = [
        "ledger_erasing_entry", "ledger_is_held", "ledger_erase_accounts",
        "ledger_destroy_disclosures",
    ].map(GuardedFunction.init)

    private init(_ name: String) {
        let parts = MigrationScripts.functions
            .split(separator: "$\(name)$", omittingEmptySubsequences: false)
        precondition(parts.count == 3, "functions.sql quotes each guarded function once")
        self.name = name
        body = String(parts[1])
    }
}
