import CommandLine
import Ledger
import LedgerEngine

/// The check of `doctor` that compares the key directory with the keys that logs require.
enum KeyDiagnosis {
    static func keys(_ configuration: ServeConfiguration) -> Diagnosis {
        let directory = configuration.keys
        do throws(Fault) {
            let keys = try directory.load()
            let opened = try TenantOpenings.read(
                url: configuration.databaseURL, macs: keys?.wrapping.macs)
            guard !opened.tenants.isEmpty else {
                return keys == nil
                    ? .warning(
                        "keys", "\(directory.path) has none, and the ledger is empty",
                        "serve makes them at its start; then make a backup")
                    : .good("keys", "are there, and the ledger is empty")
            }
            guard let keys else {
                return .problem(
                    "keys", "\(directory.path) has none, and the ledger was made with others",
                    "restore the directory from its backup: docs/keys.md")
            }
            // Creates none, since the ledger is not empty.
            _ = try opened.keys(from: directory, mode: configuration.mode)
            let refused = opened.refused(with: keys.wrapping.macs, from: directory)
            guard let (_, fault) = refused.min(by: { $0.key < $1.key }) else {
                return unnamedPepper(keys, opened)
                    ?? .good("keys", "are those that the logs require")
            }
            return .problem(
                "keys", fault, "restore the missing keys from the directory's backup, or verify")
        } catch {
            return .problem("keys", error.description, "see docs/keys.md")
        }
    }

    /// Warns of a log that does not name the newest pepper, as after a restore from before its first use: its servers
    /// would start without it.
    private static func unnamedPepper(_ keys: Keys, _ opened: TenantOpenings) -> Diagnosis? {
        guard let pepper = keys.announcedPepperID,
            let tenant = opened.servedTenants.first(where: {
                opened.keys(of: .pepper, in: $0).last != pepper
            })
        else { return nil }
        return .warning(
            "keys", "the log of tenant \(tenant) does not name the pepper \(pepper)",
            "run keys rotate pepper, which records it")
    }
}
