import Ledger
import LedgerPostgres

/// `keys rewrap`: wraps the keys of accounts with the encryption key in use.
enum KeysRewrapCommand {
    static let syntax = Syntax(
        words: ["keys", "rewrap"],
        summary: "wrap the keys of accounts with the encryption key in use",
        settings: [.databaseURL, .migrateURL, .keys],
        details: """
            After 'keys rotate encryption': what former keys have wrapped is wrapped anew, a thousand
            accounts in a transaction and then the secrets of webhooks, while the servers go on. Works with
            the login of LEDGER_MIGRATE_URL. Broken off, the same command goes on. Afterwards the former keys
            may be removed.
            """)

    private static let rowsPerReport: Int64 = 100_000

    static func run(_: Arguments, _ environment: Environment) async throws -> ExitCode {
        let url = try environment.migrateURL
        try SchemaCheck.withConnection(to: url) { _ in }
        let directory = KeyDirectory(path: try environment.required(.keys))
        guard let keys = try directory.load() else {
            throw directory.fault("\(directory.path) holds no keys")
        }
        let current = keys.wrapping.currentID
        guard current == keys.announcedEncryptionID else {
            throw Fault(
                "encryption key \(keys.announcedEncryptionID) is not used yet: wait until it is")
        }
        let report = try await Rewrapping(url: url, keyring: keys.wrapping).run { number in
            if number % rowsPerReport == 0, number > 0 {
                Terminal.complain("\(number) keys of accounts so far")
            }
        }
        Terminal.print("\(report.rewrapped) keys of accounts are wrapped with \(current) now\n")
        if report.rewrappedWebhooks > 0 {
            Terminal.print("and \(report.rewrappedWebhooks) secrets of webhooks\n")
        }
        guard report.unreadableWebhooks.isEmpty else {
            let some = report.unreadableWebhooks.map(\.description).joined(separator: ", ")
            throw Fault("secrets of these webhooks do not unwrap: \(some)")
        }
        guard report.unreadableCount == 0 else {
            let some = report.unreadable.map(\.description).joined(separator: ", ")
            throw Fault("\(report.unreadableCount) keys of accounts do not unwrap: \(some)")
        }
        return .success
    }
}
