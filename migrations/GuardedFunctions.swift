/// The functions that destroy, and those that they ask: somebody who changes one destroys unseen.
///
/// Each is quoted in its migration with a tag that is its name, as `$ledger_erase_accounts$`; the last
/// migration that does so counts.
package struct GuardedFunction: Sendable {
    package let name: String
    /// What `pg_proc.prosrc` holds.
    package let body: String
    /// The statement that makes it, or puts it right.
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
