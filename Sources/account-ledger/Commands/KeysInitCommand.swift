import Cryptography
import LedgerPostgres

/// `keys init`: makes the keys of a new ledger.
enum KeysInitCommand {
    static let syntax = Syntax(
        words: ["keys", "init"],
        summary: "make the signing and encryption keys of a new ledger",
        settings: [.keys],
        details: """
            Makes the directory of LEDGER_KEYS with mode 0700 and one key of each kind, each a file of
            mode 0600, and prints their fingerprints. Refuses to touch a directory that holds keys.
            """)

    static func run(_: Arguments, _ environment: Environment) async throws -> ExitCode {
        let directory = KeyDirectory(path: try environment.required(.keys))
        let keys = try directory.makeFirst()
        Terminal.print(
            """
            Made the keys of a new ledger in \(directory.path)
              token key       \(keys.token.keyID)
              encryption key  \(keys.wrapping.currentID)
              refresh key     (no fingerprint)
            Keep a copy: without them a ledger's personal data can't be read again.

            """)
        return .success
    }
}
