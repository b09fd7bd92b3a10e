import CommandLine
import Foundation
import Ledger
import LedgerAudit
import LedgerEngine
import LedgerPostgres
import Postgres
import TransparencyLog

/// The checks of `doctor` about directories: the sealer's record, and the space that is left.
enum FileDiagnosis {
    private static let spaceWarning: Int64 = 1 << 30
    private static let spaceProblem: Int64 = 100 << 20
    /// The number of unsigned events from which on a sealer is no longer only busy.
    private static let unsignedMax: Int64 = 100_000
    /// The time for which an event waits from which on no sealer is at work, in seconds.
    private static let waitMax: Int64 = 600
    private static let subject = "sealer's record"

    private static let firstUnsigned = Statement(
        "doctor_first_unsigned",
        """
        SELECT extract(epoch FROM statement_timestamp() - recorded_at)::bigint AS seconds
        FROM events WHERE tenant_id = $1::text AND position = $2::bigint
        """)

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

    /// Compares the sealer's record with the logs and the checkpoints in the database, and finds events that wait.
    static func sealer(_ configuration: ServeConfiguration) async -> [Diagnosis] {
        let directory = configuration.sealerDirectory
        var found: [Diagnosis] = []
        var signed = 0
        let reads = ProofReads(url: configuration.databaseURL) { _ in }
        do {
            let tenants = Tenants(url: configuration.databaseURL)
            let moves = try await tenants.moves()
            var behind: [(tenant: TenantID, size: Int64)] = []
            // A log that has gone on elsewhere is signed there.
            for (tenant, next) in try await tenants.list() where moves[tenant] == nil {
                let published = try await reads.latestCheckpoint(of: tenant)
                if published != nil { signed += 1 }
                if let directory,
                    let diagnosis = record(of: tenant, upTo: next, published != nil, in: directory)
                {
                    found.append(diagnosis)
                } else {
                    let size = published?.size ?? 0
                    if size < next { behind.append((tenant, size)) }
                }
            }
            // Without a sealer every log waits.
            if directory != nil || signed > 0 {
                found += try waiting(behind, url: configuration.databaseURL)
            }
        } catch {
            found.append(.problem(subject, "\(error)", "see docs/sealing.md"))
        }
        await reads.close()
        guard let directory else {
            let unset = "\(Setting.sealerState.name) is not set"
            if !found.isEmpty { return found }
            return [
                signed == 0
                    ? .warning("sealer", unset, "one process has to seal: docs/sealing.md")
                    : .good("sealer", "\(unset), and another process has signed \(signed) logs")
            ]
        }
        if found.isEmpty {
            found = [.good(subject, "agrees with the \(signed) logs that are signed")]
        }
        return found + [space("the sealer's record", directory.path)]
    }

    /// Returns the logs whose first unsigned event has waited for longer than a sealer at work needs.
    private static func waiting(
        _ logs: [(tenant: TenantID, size: Int64)], url: String
    ) throws(Fault) -> [Diagnosis] {
        guard !logs.isEmpty else { return [] }
        return try SchemaCheck.withConnection(to: url) { connection in
            var found: [Diagnosis] = []
            for (tenant, size) in logs {
                let rows = try connection.query(
                    firstUnsigned, [.text(tenant.description), .int8(size)])
                guard rows.rowCount > 0 else { continue }
                let seconds = try rows.int8(0, rows.column("seconds"))
                guard seconds > waitMax else { continue }
                found.append(
                    .warning(
                        subject,
                        "the event \(size) of tenant \(tenant) has waited \(seconds / 60) minutes"
                            + " for a signature",
                        "see whether a sealer runs, and what it refuses: docs/sealing.md#refusals"))
            }
            return found
        }
    }

    private static func record(
        of tenant: TenantID, upTo next: Int64, _ isPublished: Bool, in directory: SealerDirectory
    ) -> Diagnosis? {
        do throws(SealerRecordFault) {
            guard let last = try directory.lastSigned(of: tenant) else {
                return isPublished
                    ? .problem(
                        subject,
                        "\(directory.path) has no signature of tenant \(tenant), whose log is signed",
                        "it is another sealer's directory, or lost: docs/sealing.md#the-directory")
                    : next > 0
                        ? .warning(
                            subject, "no event of tenant \(tenant) was ever signed",
                            "run a process that seals: docs/sealing.md") : nil
            }
            let unsigned = next - Int64(clamping: last.checkpoint.size)
            return unsigned < 0
                ? .problem(
                    subject, "tenant \(tenant) has \(-unsigned) events less than were signed",
                    "stop all servers: docs/restore.md")
                : unsigned > unsignedMax
                    ? .warning(
                        subject, "tenant \(tenant) has \(unsigned) unsigned events",
                        "see why sealing is behind: docs/sealing.md#refusals") : nil
        } catch {
            return .problem(
                subject, "tenant \(tenant): \(error)",
                "restore the directory from its backup: docs/sealing.md#the-directory")
        }
    }
}
