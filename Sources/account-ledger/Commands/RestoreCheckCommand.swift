import Foundation
import Ledger
import LedgerPostgres
import TransparencyLog

/// `restore-check`: compares the database with what the sealer keeps outside of it.
enum RestoreCheckCommand {
    static let syntax = Syntax(
        words: ["restore-check"],
        summary: "after a restore: say what was lost and who came back, and mend it",
        options: [
            .init(name: "accept", meaning: "take the loss, and erase again who came back"),
            .init(
                name: "revoke-keys",
                meaning:
                    "with --accept: revoke the API keys, which the backup may have brought back"),
            .init(
                name: "state", placeholder: "DIRECTORY",
                meaning: "the sealer's directory; default: LEDGER_SEALER_STATE"),
            LedgerReading.tenantOption,
        ],
        settings: [.databaseURL, .migrateURL, .keys, .sealerState, .origin, .mode],
        details: """
            Compares the log with the checkpoint that the sealer signed last, and the accounts with the
            erasures that it saw, and looks for checkpoints that nobody signed. Exits with 1 when something
            differs. With --accept the log states the loss
            (LedgerRestored) and goes on under another name, /2 and so on, so that no checkpoint is ever
            contradicted; and accounts that had been erased are erased again. After a loss an API key that
            was revoked since the backup is good again, and nobody knows which: all good ones are listed, and
            --accept --revoke-keys revokes them with the login of LEDGER_MIGRATE_URL. To be run while no
            server and no sealer runs. Repeating it is harmless.
            """)

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        let url = try environment.databaseURL
        let only = try LedgerReading.tenant(arguments, url: url)
        let directory = try SealingSetup.directory(
            environment.setting(.sealerState, to: arguments["state"]), mode: try environment.mode)
        guard let directory else {
            throw arguments.misuse("--state is missing, and LEDGER_SEALER_STATE is not set")
        }
        let revokesKeys = arguments.has("revoke-keys")
        guard !revokesKeys || arguments.has("accept") else {
            throw arguments.misuse("--revoke-keys wants --accept")
        }
        let tenants =
            if let only { [only] } else { try await Tenants(url: url).list().map(\.tenant) }
        let gone = only == nil ? try gone(from: tenants, directory) : []
        var isWhole = gone.isEmpty
        Terminal.print(gone.joined())
        for tenant in tenants {
            let report = try check(tenant, directory, url: url)
            Terminal.print(text(of: report))
            guard !report.isWhole else { continue }
            guard arguments.has("accept") else {
                isWhole = false
                continue
            }
            // First, because afterwards nothing tells that they are to be looked at.
            if revokesKeys, report.loss != nil {
                try revoke(report.goodKeys, of: tenant, url: try environment.migrateURL)
            }
            try await accept(
                report, directory,
                AdministeredCommand(
                    url: url, tenant: tenant, macs: try LedgerReading.macKeys(environment)),
                keys: KeyDirectory(path: try environment.required(.keys)))
            let after = try check(tenant, directory, url: url)
            guard after.isWhole else {
                throw Fault("tenant \(tenant) still differs: \(text(of: after))")
            }
        }
        if !isWhole, !arguments.has("accept") {
            Terminal.complain(
                "nothing was changed: \(Syntax.program) restore-check --accept takes the loss")
        }
        return isWhole ? .success : .fault
    }

    /// What there is to say of tenants whose logs were signed, and which the database does not have.
    private static func gone(
        from tenants: [TenantID], _ directory: SealerDirectory
    ) throws(Fault) -> [String] {
        do {
            return try directory.signedTenants().filter { !tenants.contains($0) }.map { tenant in
                let signed = try directory.lastSigned(of: tenant)?.checkpoint
                return """
                    tenant \(tenant): not in the database
                      LOST: \(signed?.size ?? 0) events were signed\(signed.map { " as \($0.origin)" } ?? "")
                      after \(Syntax.program) tenant create \(tenant), --accept takes the loss

                    """
            }
        } catch {
            throw Fault("\(Setting.sealerState.name): \(error)")
        }
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
        _ keys: [RestoreReport.GoodKey], of tenant: TenantID, url: String
    ) throws(Fault) {
        try SchemaCheck.withConnection(to: url) { connection in
            let store = APIKeyStore(on: connection)
            for key in keys {
                _ = try store.revoke(key.id, of: tenant)
                Terminal.print("  API key \(key.id) is revoked\n")
            }
        }
    }

    /// The log's statement comes before the new name: were it the other way round, a crash in between
    /// would leave a break that nothing explains.
    private static func accept(
        _ report: RestoreReport, _ directory: SealerDirectory, _ command: AdministeredCommand,
        keys: KeyDirectory
    ) async throws {
        var access = AccessRecord(by: nil, .acceptRestore)
        access.details = [
            "events": String(report.size), "returned": String(report.returned.count),
            "signed": String(report.signed?.checkpoint.size ?? 0),
        ]
        var intents = report.erasures
        if let fact = report.fact { intents.insert(.recordRestore(RecordRestore(fact)), at: 0) }
        _ = try await command.carryOut(intents, as: access)
        if report.loss != nil { try await changeMACKey(of: report.tenant, command.url, keys) }
        if report.loss != nil {
            let origin = try directory.beginNewOrigin(
                of: report.tenant, number: report.nextOrigin)
            Terminal.print("  the log goes on as \(origin)\n")
        }
        for returned in report.returned where returned.newHolds.isEmpty {
            Terminal.print("  account \(returned.account) is erased again\n")
        }
        let accounts = report.returned.filter(\.newHolds.isEmpty).map(\.account)
        if !accounts.isEmpty {
            let state = try await EraseCommand.destroy(accounts, of: report.tenant, command.url)
            Terminal.print("  \(state)\n")
        }
    }

    /// Positions are used again, and so none of the codes that were made for them may count for what comes.
    private static func changeMACKey(
        of tenant: TenantID, _ url: String, _ directory: KeyDirectory
    ) async throws {
        let lock = try directory.lock()
        defer { try? lock.close() }
        let book = try OpenedTenants.read(url: url)
        guard !book.keys(of: .mac, in: tenant).isEmpty else { return }
        let now = Timestamp.now
        let key = try directory.add(.mac, from: now, now: now)
        try await MACKeyRotation(url: url, directory: directory).append(key, to: [tenant], book)
        Terminal.print("  MAC key \(key) authenticates what is appended now\n")
    }

    private static func text(of report: RestoreReport) -> String {
        var lines = ["tenant \(report.tenant): \(report.size) events"]
        switch (report.signed?.checkpoint, report.loss) {
        case (nil, _):
            lines.append("  nothing was signed under the log's present name")
        case (let signed?, nil):
            lines.append(
                "  everything that was signed as \(signed.origin) is there: \(signed.size)")
        case (let signed?, .end):
            lines.append(
                "  LOST: \(signed.size) events were signed as \(signed.origin), the last"
                    + " \(signed.size - report.size) are not there")
        case (let signed?, .contents):
            lines.append(
                "  LOST: the first \(signed.size) events are not those that were signed as"
                    + " \(signed.origin)")
        case (let signed?, .statement):
            lines.append(
                "  LOST: the statement that the log, which was signed as \(signed.origin), goes on"
                    + " under another name")
        case (_?, .name):
            lines.append(
                "  LOST: the log's name: checkpoints stand under it that nobody signed, and its sealer"
                    + " signs nothing more")
        }
        if let loss = report.loss, loss != .name {
            lines += report.goodKeys.map {
                "  GOOD: API key \($0.id) (\($0.label)); if it was revoked since the backup, it is"
                    + " good again"
            }
        }
        if report.returned.isEmpty {
            lines.append("  none of \(report.erasureCount) erasures has come undone")
        }
        for returned in report.returned {
            lines.append(
                "  UNDONE: account \(returned.account) was erased \(returned.erasedAt)"
                    + (returned.newHolds.isEmpty
                        ? "" : ", and is under a hold that was set since: lift it first"))
        }
        return lines.map { $0 + "\n" }.joined()
    }
}
