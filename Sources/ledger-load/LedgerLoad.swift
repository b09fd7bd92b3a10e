import Cryptography
import Foundation
import Ledger
import LedgerPostgres

/// `ledger-load EVENTS [SEED [KEYFILE]]`: a random history as a script for psql.
///
/// The script fills every table of an empty migrated ledger as the server and its projector would
/// have, by COPY. The same seed gives the same history; only the encryption differs. KEYFILE is an
/// `encryption-ID.key` of the key directory with which the ledger is to be read.
@main
enum LedgerLoad {
    static func main() throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard let events = arguments.first.flatMap({ Int64($0) }), events > 0,
            arguments.count <= 3, let seed = UInt64(arguments.dropFirst().first ?? "1"),
            let keyring = keyring(arguments.dropFirst(2).first)
        else {
            FileHandle.standardError.write(
                Data("usage: ledger-load EVENTS [SEED [ENCRYPTION_KEY_FILE]]\n".utf8))
            exit(64)
        }
        var script = LoadScript(keyring: keyring)
        var history = RandomHistory(seed: seed)
        try history.run(events: events) { try script.add($0) }
        try script.finish(history)
    }

    /// The key of a file, or a key that is forgotten when there is none.
    private static func keyring(_ path: String?) -> WrappingKeyring? {
        guard let path else {
            return WrappingKeyring(
                currentID: "forgotten", current: .generate(), macs: MACKeys(current: nil))
        }
        let name = URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent
        guard let bytes = FileManager.default.contents(atPath: path),
            let key = SymmetricKey(bytes: Array(bytes)), name.hasPrefix("encryption-")
        else { return nil }
        return WrappingKeyring(
            currentID: String(name.dropFirst("encryption-".count)), current: key,
            macs: MACKeys(current: nil))
    }
}
