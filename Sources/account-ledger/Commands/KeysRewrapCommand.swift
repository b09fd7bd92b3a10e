import CommandLine
import Ledger
import LedgerEngine
import LedgerPostgres

/// `keys rewrap`: rewraps account keys with the current encryption key.
enum KeysRewrapCommand {
    static let syntax = Syntax(
        words: ["keys", "rewrap"],
        summary: "rewrap account keys with the current encryption key",
        settings: [.databaseURL, .migrateURL, .keys],
        details: """
            Run after 'keys rotate encryption': rewraps everything that former keys have wrapped, first
            account keys, a thousand per transaction, then webhook secrets, while the servers run. Uses the
            login of LEDGER_MIGRATE_URL. An interrupted run continues when the command is repeated. Afterwards
            the former keys can be removed.
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
                "encryption key \(keys.announcedEncryptionID) is not in use yet: run this command again later"
            )
        }
        let report = try await Rewrapping(url: url, keyring: keys.wrapping).run { number in
            if number % rowsPerReport == 0, number > 0 {
                Terminal.printError("rewrapped \(number) account keys so far")
            }
        }
        Terminal.print("rewrapped \(report.rewrapped) account keys with \(current)\n")
        if report.rewrappedWebhooks > 0 {
            Terminal.print("rewrapped \(report.rewrappedWebhooks) webhook secrets\n")
        }
        guard report.unreadableWebhooks.isEmpty else {
            let some = report.unreadableWebhooks.map(\.description).joined(separator: ", ")
            throw Fault("the secrets of these webhooks can't be unwrapped: \(some)")
        }
        guard report.unreadableCount == 0 else {
            let some = report.unreadable.map(\.description).joined(separator: ", ")
            throw Fault("\(report.unreadableCount) account keys can't be unwrapped: \(some)")
        }
        return .success
    }
}
