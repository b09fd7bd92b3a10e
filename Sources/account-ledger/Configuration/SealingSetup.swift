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

    /// Creates the first keys of logs that were never sealed, and checks that the keys of all others exist.
    ///
    /// - Throws: `Fault` with one line when the database was sealed with another directory.
    static func check(_ directory: SealerDirectory, url: String) async throws(Fault) {
        let reads = ProofReads(url: url) { _ in }
        do {
            for (tenant, _) in try await Tenants(url: url).list() {
                let keys = try await reads.checkpointKeys(of: tenant)
                _ = try directory.logState(of: tenant, mayBegin: keys.isEmpty)
            }
            await reads.close()
        } catch let fault as SealerRecordFault {
            throw Fault("\(Setting.sealerState.name): \(fault)")
        } catch {
            throw Fault("\(Setting.databaseURL.name): can't read the checkpoints")
        }
    }
}
