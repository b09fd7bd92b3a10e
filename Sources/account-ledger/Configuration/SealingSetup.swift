import CommandLine
import Ledger
import LedgerAudit
import LedgerEngine
import LedgerPostgres
import TransparencyLog

/// The sealing configuration from the environment, checked against the database.
enum SealingSetup {
    private static let originBytesMax = 200

    /// Returns the directory of `LEDGER_SEALER_STATE`; nil when it is unset and the process does not seal.
    ///
    /// - Throws: `Fault` with one line that names the invalid variable.
    static func directory(
        _ environment: Environment, mode: LedgerOpened.Mode
    ) throws(Fault) -> SealerDirectory? {
        guard let path = environment.given(.sealerState) else { return nil }
        guard mode == .development || environment.given(.origin) != nil else {
            throw Fault("\(Setting.origin.name) is not set: \(Setting.origin.meaning)")
        }
        let wanted = "a URL without scheme such as ledger.example.com/accounts"
        let origin: NoteKeyName = try environment.value(.origin, wants: wanted) { text in
            let isPlain =
                ServeConfiguration.isPlainText(text) && text.utf8.count <= originBytesMax
            guard isPlain, !text.hasSuffix("/"), !text.contains("//") else { return nil }
            return NoteKeyName(text)
        }
        return SealerDirectory(path: path, base: origin)
    }

    /// Creates the first keys of logs that were never sealed, and checks those of the others.
    ///
    /// A log that has keys in the database and none in the directory is left to the sealer, which refuses it:
    /// any login of a server or sealer may add such a row, and none may keep a server from starting.
    ///
    /// - Throws: `Fault` with one line when the directory can't be used, or is another one than that of the
    ///   sealers.
    static func check(_ directory: SealerDirectory, url: String) async throws(Fault) {
        let reads = ProofReads(url: url) { _ in }
        do {
            var logs: [(tenant: TenantID, isPublished: Bool, isRecorded: Bool)] = []
            for (tenant, _) in try await Tenants(url: url).list() {
                let isPublished = try await !reads.checkpointKeys(of: tenant).isEmpty
                logs.append((tenant, isPublished, try directory.hasKeys(of: tenant)))
            }
            if !logs.contains(where: \.isRecorded) {
                for log in logs where log.isPublished {
                    // A key that has signed nothing is no sign of another directory.
                    guard try await reads.latestCheckpoint(of: log.tenant) != nil else { continue }
                    _ = try directory.logState(of: log.tenant, mayBegin: false)
                }
            }
            for log in logs where log.isRecorded || !log.isPublished {
                _ = try directory.logState(of: log.tenant, mayBegin: !log.isPublished)
            }
            await reads.close()
        } catch let fault as SealerRecordFault {
            throw Fault("\(Setting.sealerState.name): \(fault)")
        } catch {
            throw Fault("\(Setting.databaseURL.name): can't read the checkpoints")
        }
    }
}
