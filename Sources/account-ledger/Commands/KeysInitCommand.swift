import CommandLine
import Cryptography
import LedgerEngine

/// `keys init`: creates the keys of a new ledger.
enum KeysInitCommand {
    static let syntax = Syntax(
        words: ["keys", "init"],
        summary: "create the signing and encryption keys of a new ledger",
        settings: [.keys],
        details: """
            Creates the directory of LEDGER_KEYS with mode 0700 and one key of each kind, each in a file of
            mode 0600, and prints their fingerprints. Refuses to change a directory that holds keys.
            """)

    static func run(_: Arguments, _ environment: Environment) async throws -> ExitCode {
        let directory = KeyDirectory(path: try environment.required(.keys))
        let keys = try directory.makeFirst()
        Terminal.print(
            """
            Created the keys of a new ledger in \(directory.path)
              token key       \(keys.token.keyID)
              encryption key  \(keys.wrapping.currentID)
              refresh key     (no fingerprint)
            Keep a copy: without these keys the ledger's personal data can't be decrypted.

            """)
        return .success
    }
}
