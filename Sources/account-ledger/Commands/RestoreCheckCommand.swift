import CommandLine
import Foundation
import Ledger
import LedgerAudit
import LedgerEngine
import LedgerPostgres
import TransparencyLog

/// `restore-check`: compares the database with the sealer's records outside of it.
enum RestoreCheckCommand {
    static let syntax = Syntax(
        words: ["restore-check"],
        summary: "after a restore: report lost events and undone erasures, and repair",
        options: [
            .init(name: "accept", meaning: "accept the loss, and repeat the undone erasures"),
            .init(
                name: "revoke-keys",
                meaning:
                    "with --accept: revoke the API keys, which the backup may have restored"),
            .init(
                name: "restored",
                meaning: "with --accept: change the MAC key of every log, even if nothing differs"),
            .init(
                name: "state", placeholder: "DIRECTORY",
                meaning: "sealer directory; default: LEDGER_SEALER_STATE"),
            LedgerCommands.tenantOption,
        ],
        settings: [.databaseURL, .migrateURL, .keys, .sealerState, .origin, .mode],
        details: """
            Compares the log with the checkpoint that the sealer signed last and the accounts with the
            erasures that it recorded, and searches for checkpoints without a signature. Exits with 1 when
            something differs. With --accept the log records the loss (LedgerRestored) and continues under
            another name, /2 and so on, so that no checkpoint is ever contradicted; and accounts that had been
            erased are erased again. After a loss an API key that was revoked since the backup is valid again,
            and the database can't tell which: all valid ones are listed, and --accept --revoke-keys revokes
            them with the login of LEDGER_MIGRATE_URL. Lost events that were not signed leave no trace: after
            every restore and failover, --accept --restored ensures that their MACs are valid for no new
            event. Run it while no server and no sealer runs. Repeating it is harmless.
            """)

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        let url = try environment.databaseURL
        let only = try LedgerCommands.tenant(arguments, url: url)
        let directory = try SealingSetup.directory(
            environment.setting(.sealerState, to: arguments["state"]), mode: try environment.mode)
        guard let directory else {
            throw arguments.usageError("--state and LEDGER_SEALER_STATE are both missing")
        }
        let revokesKeys = arguments.has("revoke-keys")
        guard !revokesKeys || arguments.has("accept") else {
            throw arguments.usageError("--revoke-keys requires --accept")
        }
        let isRestored = arguments.has("restored")
        guard !isRestored || arguments.has("accept") else {
            throw arguments.usageError("--restored requires --accept")
        }
        let tenants =
            if let only { [only] } else { try await Tenants(url: url).list().map(\.tenant) }
        let gone = only == nil ? try gone(from: tenants, directory) : []
        var isWhole = gone.isEmpty
        Terminal.print(gone.joined())
        let refused = try refusedLogs(environment, url: url)
        for tenant in tenants {
            let report = try check(tenant, directory, url: url)
            Terminal.print(text(of: report))
            if let fault = refused[tenant] {
                Terminal.print(fault)
                isWhole = false
                continue
            }
            guard !report.isWhole else {
                if isRestored {
                    let keys = KeyDirectory(path: try environment.required(.keys))
                    try await changeMACKey(of: tenant, url, keys)
                }
                continue
            }
            guard arguments.has("accept") else {
                isWhole = false
                continue
            }
            // First: after the loss is accepted, nothing shows that the keys need review.
            if revokesKeys, report.loss != nil {
                try revoke(report.acceptedKeys, of: tenant, url: try environment.migrateURL)
            }
            try await accept(
                report, directory,
                AdministeredCommand(
                    url: url, tenant: tenant, macs: try LedgerCommands.macKeys(environment)),
                keys: KeyDirectory(path: try environment.required(.keys)), isRestored: isRestored)
            let after = try check(tenant, directory, url: url)
            guard after.isWhole else {
                throw Fault("tenant \(tenant) still differs: \(text(of: after))")
            }
        }
        if !isWhole, !arguments.has("accept") {
            Terminal.printError(
                "nothing was changed; \(Syntax.program) restore-check --accept accepts the loss")
        }
        return isWhole ? .success : .fault
    }

    /// Returns a report for each tenant whose log was signed but that the database lacks.
    private static func gone(
        from tenants: [TenantID], _ directory: SealerDirectory
    ) throws(Fault) -> [String] {
        do {
            return try directory.signedTenants().filter { !tenants.contains($0) }.map { tenant in
                let signed = try directory.lastSigned(of: tenant)?.checkpoint
                return """
                    tenant \(tenant): not in the database
                      LOST: \(signed?.size ?? 0) events were signed\(signed.map { " as \($0.origin)" } ?? "")
                      after \(Syntax.program) tenant create \(tenant), --accept accepts the loss

                    """
            }
        } catch {
            throw Fault("\(Setting.sealerState.name): \(error)")
        }
    }

    /// Returns instructions for logs that servers refuse because the key directory records that every log is
    /// protected: only the holder of the directory can state that this is a backup from before the protection.
    private static func refusedLogs(
        _ environment: Environment, url: String
    ) throws(Fault) -> [TenantID: String] {
        guard let path = environment.given(.keys) else { return [:] }
        let directory = KeyDirectory(path: path)
        guard let macs = try directory.loadMACKeys(), !macs.allowsUnprotected else { return [:] }
        let book = try TenantOpenings.read(url: url)
        let text = """
              UNPROTECTED: the log does not say that it is protected, and servers refuse it; after a
              restore of a backup from before 'protect', make the file \(directory.path(of: .unprotectedLogs)),
              run this command again, start the servers, and run protect

            """
        return book.facts.filter { book.keys(of: .mac, in: $0.key).isEmpty }.mapValues { _ in text }
    }

    private static func check(
        _ tenant: TenantID, _ directory: SealerDirectory, url: String
    ) throws(Fault) -> RestoreReport {
        try SchemaCheck.withConnection(to: url) { connection in
            do {
                return try RestoreCheck(of: tenant, with: directory).run(on: connection)
            } catch let fault as SealerRecordFault {
                throw Fault("\(Setting.sealerState.name): \(fault)")
            }
        }
    }

    private static func revoke(
        _ keys: [RestoreReport.AcceptedKey], of tenant: TenantID, url: String
    ) throws(Fault) {
        try SchemaCheck.withConnection(to: url) { connection in
            let store = APIKeyStore(on: connection)
            for key in keys {
                _ = try store.revoke(key.id, of: tenant)
                Terminal.print("  API key \(key.id) was revoked\n")
            }
        }
    }

    /// Accepts the loss: first in the log, then with the new name.
    ///
    /// In the other order, a crash in between would leave a break that nothing explains.
    private static func accept(
        _ report: RestoreReport, _ directory: SealerDirectory, _ command: AdministeredCommand,
        keys: KeyDirectory, isRestored: Bool
    ) async throws {
        var access = AccessRecord(by: nil, .acceptRestore)
        access.details = [
            "events": String(report.size), "returned": String(report.returned.count),
            "signed": String(report.signed?.checkpoint.size ?? 0),
        ]
        var intents = report.erasures
        if let fact = report.fact { intents.insert(.recordRestore(RecordRestore(fact)), at: 0) }
        _ = try await command.run(intents, as: access)
        if report.loss != nil || isRestored {
            try await changeMACKey(of: report.tenant, command.url, keys)
        }
        if report.loss != nil {
            let origin = try directory.beginNewOrigin(
                of: report.tenant, number: report.nextOrigin)
            Terminal.print("  the log continues as \(origin)\n")
        }
        for returned in report.returned where returned.newHolds.isEmpty {
            Terminal.print("  account \(returned.account) was erased again\n")
        }
        let accounts = report.returned.filter(\.newHolds.isEmpty).map(\.account)
        if !accounts.isEmpty {
            let state = try await EraseCommand.destroy(accounts, of: report.tenant, command.url)
            Terminal.print("  \(state)\n")
        }
    }

    /// Changes the MAC key: positions are used again, and no MAC of a lost event may be valid for a new one.
    private static func changeMACKey(
        of tenant: TenantID, _ url: String, _ directory: KeyDirectory
    ) async throws {
        let lock = try directory.lock()
        defer { try? lock.close() }
        let book = try TenantOpenings.read(url: url)
        guard !book.keys(of: .mac, in: tenant).isEmpty else { return }
        let key = try await MACKeyRotation(url: url, directory: directory).run(book, of: tenant)
        Terminal.print("  MAC key \(key) now authenticates new events\n")
    }

    private static func text(of report: RestoreReport) -> String {
        var lines = ["tenant \(report.tenant): \(report.size) events"]
        switch (report.signed?.checkpoint, report.loss) {
        case (nil, _):
            lines.append("  no checkpoint was signed under the log's current name")
        case (let signed?, nil):
            lines.append(
                "  all \(signed.size) events signed as \(signed.origin) are present")
        case (let signed?, .end):
            lines.append(
                "  LOST: \(signed.size) events were signed as \(signed.origin), but the last"
                    + " \(signed.size - report.size) are missing")
        case (let signed?, .contents):
            lines.append(
                "  LOST: the first \(signed.size) events differ from those signed as"
                    + " \(signed.origin)")
        case (let signed?, .statement):
            lines.append(
                "  LOST: the record that the log, signed as \(signed.origin), continues"
                    + " under another name")
        case (_?, .name):
            lines.append(
                "  LOST: the log's name: it has checkpoints without a signature, and its sealer"
                    + " no longer signs it")
        }
        if let loss = report.loss, loss != .name {
            lines += report.acceptedKeys.map {
                "  VALID: API key \($0.id) (\($0.label)); if it was revoked since the backup, it is"
                    + " valid again"
            }
        }
        if report.returned.isEmpty {
            lines.append("  none of \(report.erasureCount) erasures was undone")
        }
        for returned in report.returned {
            lines.append(
                "  UNDONE: account \(returned.account) was erased \(returned.erasedAt)"
                    + (returned.newHolds.isEmpty
                        ? "" : ", and is under a hold set since then: lift it first"))
        }
        return lines.map { $0 + "\n" }.joined()
    }
}
