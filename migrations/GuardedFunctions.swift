/// The functions that destroy data, and those that they call; a change to one could destroy data
/// unnoticed.
///
/// Each is quoted in its migration with a tag that is its name, as in `$ledger_erase_accounts$`;
/// the last such migration applies.
package struct GuardedFunction: Sendable {
    package let name: String
    /// The expected value of `pg_proc.prosrc`.
    package let body: String
    /// The statement that creates or repairs it.
    package let definition: String

    package static let all: [GuardedFunction] = [
        "ledger_erasing_entry", "ledger_is_held", "ledger_erase_accounts",
        "ledger_destroy_disclosures",
    ].compactMap(GuardedFunction.init)

    private init?(_ name: String) {
        let beginning = "CREATE OR REPLACE FUNCTION "
        for script in MigrationScripts.ordered.reversed() {
            let parts = String(decoding: script.sql, as: UTF8.self)
                .split(separator: "$\(name)$", omittingEmptySubsequences: false)
            guard parts.count == 3, let start = parts[0].ranges(of: beginning).last else {
                continue
            }
            self.name = name
            body = String(parts[1])
            definition = parts[0][start.lowerBound...] + "$\(name)$" + parts[1] + "$\(name)$"
            return
        }
        return nil
    }
}
