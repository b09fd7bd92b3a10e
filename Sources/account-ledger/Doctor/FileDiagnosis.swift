import CommandLine
import Foundation
import Ledger
import LedgerEngine
import LedgerPostgres
import Postgres
import TransparencyLog

/// The checks of `doctor` about files: keys, the sealer's record and the space that is left.
struct FileDiagnosis {
    private static let spaceWarning: Int64 = 1 << 30
    private static let spaceProblem: Int64 = 100 << 20
    /// The number of events without a signature beyond which a sealer is not only busy.
    private static let unsignedMax: Int64 = 100_000

    /// Checks that the keys can be read by their owner alone.
    static func keys(_ directory: KeyDirectory) -> Diagnosis {
        do throws(Fault) {
            guard let keys = try directory.load() else {
                return .warning(
                    "keys", "\(directory.path) has no keys yet",
                    "serve makes those of an empty ledger; for another one, restore the directory")
            }
            let count = 1 + keys.formerTokens.count
            return .good("keys", "\(count) of tokens, all files readable by their owner alone")
        } catch {
            return .problem(
                "keys", error.description, "see docs/keys.md; restore lost keys from their backup")
        }
    }

    /// Checks the space that is left where a directory is.
    static func space(_ name: String, _ path: String) -> Diagnosis {
        let attributes = try? FileManager.default.attributesOfFileSystem(forPath: path)
        guard let free = (attributes?[.systemFreeSize] as? NSNumber)?.int64Value else {
            return .problem("disk of \(name)", "can't be read", "create \(path)")
        }
        let text = "\(free >> 20) MiB are free"
        let advice = "make room: a full disk stops sealing and rotations of keys"
        return free < spaceProblem
            ? .problem("disk of \(name)", text, advice)
            : free < spaceWarning
                ? .warning("disk of \(name)", text, advice) : .good("disk of \(name)", text)
    }

    /// Compares the sealer's record with the logs.
    ///
    /// - Throws: `PostgresError` when the database can't be asked.
    static func record(
        _ directory: SealerDirectory, on connection: Connection
    ) throws(PostgresError) -> [Diagnosis] {
        var found: [Diagnosis] = []
        var signed = 0
        for (tenant, next) in try AllTenants.heads(on: connection) {
            do throws(SealerRecordFault) {
                guard let last = try directory.lastSigned(of: tenant) else { continue }
                signed += 1
                let unsigned = next.value - Int64(clamping: last.checkpoint.size)
                if unsigned < 0 {
                    found.append(
                        .problem(
                            "sealer's record",
                            "tenant \(tenant) has \(-unsigned) events less than were signed",
                            "stop all servers and read docs/restore.md"))
                } else if unsigned > unsignedMax {
                    found.append(
                        .warning(
                            "sealer's record", "tenant \(tenant) has \(unsigned) unsigned events",
                            "see why sealing is behind: docs/sealing.md#refusals"))
                }
            } catch {
                found.append(
                    .problem(
                        "sealer's record", "tenant \(tenant): \(error)",
                        "restore the directory from its backup: docs/sealing.md#the-directory"))
            }
        }
        return found.isEmpty
            ? [.good("sealer's record", "holds the last signatures of \(signed) logs")] : found
    }
}
