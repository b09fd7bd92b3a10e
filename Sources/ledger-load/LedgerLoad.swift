import Cryptography
import Foundation
import Ledger
import LedgerEngine

/// `ledger-load EVENTS [SEED [KEYFILE [MACFILE [LOG]]]]`: a random history as a script for psql.
///
/// The script fills every table of an empty migrated ledger by COPY, as the server and its projector
/// would. The same seed gives the same history; only keys differ. KEYFILE is an
/// `encryption-ID.key` and MACFILE a `mac-ID.key` of the key directory with which the ledger is to be
/// read; without the latter the log is not protected. LOG is the id of the first event of a log that
/// `tenant create` has begun with these keys: then that event is left out.
@main
enum LedgerLoad {
    static func main() throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard let events = arguments.first.flatMap({ Int64($0) }), events > 0,
            arguments.count <= 5, let seed = UInt64(arguments.dropFirst().first ?? "1"),
            let keyring = keyring(arguments.dropFirst(2).first),
            let macKey = macKey(arguments.dropFirst(3).first)
        else {
            FileHandle.standardError.write(
                Data(
                    "usage: ledger-load EVENTS [SEED [ENCRYPTION_KEY_FILE [MAC_KEY_FILE [LOG]]]]\n"
                        .utf8))
            exit(64)
        }
        let log = arguments.dropFirst(4).first
        guard log == nil || log.flatMap({ EventID($0) }) != nil else { exit(64) }
        let isProtected = arguments.count > 3
        var script = LoadScript(
            keyring: keyring, macKey: macKey, isProtected: isProtected,
            log: log.flatMap { EventID($0) })
        var history = RandomHistory(
            seed: seed, macKey: isProtected ? macKey.id.description : nil,
            after: log.flatMap { EventID($0) })
        try history.run(events: events) { try script.add($0) }
        try script.finish(history)
    }

    /// Reads the MAC key of a file, or makes a temporary one without a file.
    private static func macKey(_ path: String?) -> MACKey? {
        guard let path else { return MACKey(.generate()) }
        let key = FileManager.default.contents(atPath: path)
            .flatMap { SymmetricKey(bytes: Array($0)) }.map { MACKey($0) }
        let name = URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent
        return key.flatMap { name == "mac-\($0.id)" ? $0 : nil }
    }

    /// Reads the key of a file, or makes a temporary one without a file.
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
