import CommandLine
import Ledger
import LedgerEngine
import LedgerPostgres
import LedgerSignIn

/// `keys rewrap`: renews with the current encryption key what former ones have encrypted.
enum KeysRewrapCommand {
    static let syntax = Syntax(
        words: ["keys", "rewrap"],
        summary: "renew what former encryption keys have encrypted",
        settings: [.databaseURL, .migrateURL, .keys],
        details: """
            Run after 'keys rotate encryption': renews everything that former keys have encrypted or named,
            account keys first, then passwords, second factors, the digests of addresses and the secrets of
            webhooks, a thousand per transaction, while the servers run. Uses the login of LEDGER_MIGRATE_URL. An
            interrupted run continues when the command is repeated. Afterwards the former keys can be removed.
            """)

    private static let rowsPerReport: Int64 = 100_000

    static func run(_: Arguments, _ environment: Environment) async throws -> ExitCode {
        let url = try environment.migrateURL
        try SchemaCheck.withConnection(to: url, named: environment.migrateSetting) { _ in }
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
        let secrets = keys.wrapping.secrets
        let names = AddressNames(current: secrets.currentID, keys: secrets.keys)
        let rewrapping = Rewrapping(url: url, keyring: keys.wrapping) {
            names.all(of: $0, $1, in: $2)
        }
        let report = try await rewrapping.run { number in
            if number % rowsPerReport == 0, number > 0 {
                Terminal.printError("rewrapped \(number) account keys so far")
            }
        }
        Terminal.print("rewrapped \(report.rewrapped(.accountKeys)) account keys with \(current)\n")
        for kind in RewrapReport.Kind.allCases
        where kind != .accountKeys && report.rewrapped(kind) > 0 {
            Terminal.print("rewrapped \(report.rewrapped(kind)) \(kind.rawValue)\n")
        }
        guard report.isComplete else { throw unreadable(report) }
        return .success
    }

    private static func unreadable(_ report: RewrapReport) -> Fault {
        let lines = RewrapReport.Kind.allCases.compactMap { kind -> String? in
            let (count, names) = report.unreadable(kind)
            return count == 0
                ? nil : "\(count) \(kind.rawValue) can't be read: \(names.joined(separator: ", "))"
        }
        return Fault(lines.joined(separator: "; "))
    }
}
