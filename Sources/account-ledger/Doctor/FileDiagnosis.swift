import CommandLine
import Foundation
import Ledger
import LedgerAudit
import LedgerEngine
import LedgerPostgres
import TransparencyLog

/// The checks of `doctor` about directories: the sealer's record, and the space that is left.
enum FileDiagnosis {
    private static let spaceWarning: Int64 = 1 << 30
    private static let spaceProblem: Int64 = 100 << 20
    /// The number of unsigned events from which on a sealer is no longer only busy.
    private static let unsignedMax: Int64 = 100_000

    /// Checks the space that is left where a directory is, or will be made.
    static func space(_ name: String, _ path: String) -> Diagnosis {
        var parent = URL(fileURLWithPath: path)
        while !FileManager.default.fileExists(atPath: parent.path), parent.path != "/" {
            parent.deleteLastPathComponent()
        }
        let attributes = try? FileManager.default.attributesOfFileSystem(forPath: parent.path)
        guard let free = (attributes?[.systemFreeSize] as? NSNumber)?.int64Value else {
            return .problem("disk of \(name)", "\(path) can't be read", "check its rights")
        }
        let text = "\(free >> 20) MiB are free"
        let advice = "make room: a full disk stops sealing and rotations of keys"
        return free < spaceProblem
            ? .problem("disk of \(name)", text, advice)
            : free < spaceWarning
                ? .warning("disk of \(name)", text, advice) : .good("disk of \(name)", text)
    }

    /// Compares the sealer's record with the logs and the checkpoints in the database.
    static func sealer(_ configuration: ServeConfiguration) async -> [Diagnosis] {
        guard let directory = configuration.sealerDirectory else {
            return [
                .warning(
                    "sealer", "\(Setting.sealerState.name) is not set",
                    "one process has to seal: docs/sealing.md")
            ]
        }
        var found: [Diagnosis] = []
        var signed = 0
        let reads = ProofReads(url: configuration.databaseURL) { _ in }
        do {
            let tenants = Tenants(url: configuration.databaseURL)
            let moves = try await tenants.moves()
            // A log that has gone on elsewhere is signed there.
            for (tenant, next) in try await tenants.list() where moves[tenant] == nil {
                let published = try await reads.latestCheckpoint(of: tenant) != nil
                let diagnosis = record(of: tenant, upTo: next, published, in: directory)
                if let diagnosis { found.append(diagnosis) }
                if published { signed += 1 }
            }
        } catch {
            found.append(.problem("sealer's record", "\(error)", "see docs/sealing.md"))
        }
        await reads.close()
        if found.isEmpty {
            found = [.good("sealer's record", "agrees with the \(signed) logs that are signed")]
        }
        return found + [space("the sealer's record", directory.path)]
    }

    private static func record(
        of tenant: TenantID, upTo next: Int64, _ isPublished: Bool, in directory: SealerDirectory
    ) -> Diagnosis? {
        let name = "sealer's record"
        do throws(SealerRecordFault) {
            guard let last = try directory.lastSigned(of: tenant) else {
                return isPublished
                    ? .problem(
                        name,
                        "\(directory.path) has no signature of tenant \(tenant), whose log is signed",
                        "it is another sealer's directory, or lost: docs/sealing.md#the-directory")
                    : nil
            }
            let unsigned = next - Int64(clamping: last.checkpoint.size)
            return unsigned < 0
                ? .problem(
                    name, "tenant \(tenant) has \(-unsigned) events less than were signed",
                    "stop all servers: docs/restore.md")
                : unsigned > unsignedMax
                    ? .warning(
                        name, "tenant \(tenant) has \(unsigned) unsigned events",
                        "see why sealing is behind: docs/sealing.md#refusals") : nil
        } catch {
            return .problem(
                name, "tenant \(tenant): \(error)",
                "restore the directory from its backup: docs/sealing.md#the-directory")
        }
    }
}
