import CommandLine
import Foundation
import Ledger
import LedgerAudit
import LedgerEngine
import LedgerPostgres
import Postgres
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
                meaning:
                    "with --accept: change the MAC key of all logs to a new one, even if nothing differs"
            ),
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
            erased are erased again. Accounts kept by a legal hold that was set since, on them or on accounts
            merged with them, are named; by themselves they do not make --accept exit with 1. After a restore
            an API key that was revoked since the backup is valid again, and the database can't tell which:
            all valid ones are listed after a loss and with --restored, and --accept --revoke-keys revokes
            them with the login of LEDGER_MIGRATE_URL. Passwords, addresses and second factors are those of
            the backup as well, which a line says then. Lost events that were not signed leave no trace: after
            every restore and failover, --accept --restored ensures that their MACs are valid for no new
            event. A tenant with a damaged log, or whose repair fails, is left out and named, and the exit code
            is then 1. Run it while no server and no sealer runs. Repeating it is harmless, except that
            each --restored makes another MAC key.
            """)

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        let url = try environment.databaseURL
        let only = try LedgerCommands.servedTenant(arguments, url: url)
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
        let all = Tenants(url: url)
        let moves = try await all.moves()
        let here = try await all.list().map(\.tenant)
        let tenants = only.map { [$0] } ?? here.filter { moves[$0] == nil }
        let gone = only == nil ? try gone(from: here + moves.keys, directory) : []
        if only == nil {
            for (tenant, move) in moves.sorted(by: { $0.key < $1.key }) {
                LedgerCommands.reportMoved(tenant, move)
            }
        }
        var isWhole = gone.isEmpty
        Terminal.print(gone.joined())
        let refused = try refusedLogs(environment, url: url)
        let accepts = arguments.has("accept")
        if accepts, let path = environment.given(.keys) {
            // The host of a separate sealer has the MAC keys alone, and could record a loss without changing the key.
            _ = try KeyDirectory(path: path).choice(at: .now)
        }
        let damage = accepts ? try damagedLogs(environment, url: url) : [:]
        var leftOut: [String: String] = [:]
        var accepted: [RestoreReport] = []
        var rotating: Set<TenantID> = []
        for tenant in tenants {
            do throws(Fault) {
                let report = try check(tenant, directory, url: url)
                Terminal.print(text(of: report, isRestored: isRestored))
                if let fault = refused[tenant] {
                    Terminal.print(fault)
                    isWhole = false
                    continue
                }
                guard !report.isWhole || isRestored || revokesKeys else { continue }
                guard accepts else {
                    isWhole = false
                    continue
                }
                if let fault = damage[tenant.description] { throw Fault(fault) }
                // First: after the loss is accepted, nothing shows that the keys need review.
                if revokesKeys {
                    try revoke(report.acceptedKeys, of: tenant, environment)
                }
                guard !report.isWhole || isRestored else { continue }
                if !report.isWhole {
                    let macs = try LedgerCommands.macKeys(environment)
                    try await record(
                        report, with: AdministeredCommand(url: url, tenant: tenant, macs: macs))
                }
                try withdrawMessages(of: tenant, url: url)
                if !report.isWhole { accepted.append(report) }
                if report.loss != nil || isRestored { rotating.insert(tenant) }
            } catch {
                // The others go on: the records of the former ones are in their logs, and must be finished.
                leftOut[tenant.description] = "\(error)"
            }
        }
        LedgerCommands.reportLeftOut(leftOut)
        let unchanged = try await changeMACKey(of: rotating, environment, url: url)
        for report in accepted where unchanged[report.tenant.description] == nil {
            do {
                try await finish(report, directory, url: url)
            } catch {
                // The log of every other tenant records its new name by now, and must get it.
                isWhole = false
                Terminal.printError("tenant \(report.tenant) was not finished: \(error)")
            }
        }
        if !isWhole, !accepts {
            Terminal.printError(
                "nothing was changed; \(Syntax.program) restore-check --accept accepts the loss")
        }
        return isWhole && leftOut.isEmpty && unchanged.isEmpty ? .success : .fault
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

    /// Returns the faults of logs that record their keys wrongly, by the tenant's name.
    private static func damagedLogs(
        _ environment: Environment, url: String
    ) throws(Fault) -> [String: String] {
        let macs = try environment.given(.keys).flatMap { path throws(Fault) in
            try KeyDirectory(path: path).loadMACKeys()
        }
        return try TenantOpenings.read(url: url, macs: macs).damage
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
        _ keys: [RestoreReport.AcceptedKey], of tenant: TenantID, _ environment: Environment
    ) throws(Fault) {
        let url = try environment.migrateURL
        try SchemaCheck.withConnection(to: url, named: environment.migrateSetting) { connection in
            let store = APIKeyStore(on: connection)
            for key in keys {
                _ = try store.revoke(key.id, of: tenant)
                Terminal.print("  API key \(key.id) was revoked\n")
            }
        }
    }

    /// Ends the unsent messages of the backup, which were sent or whose causes are gone, the requests for erasures,
    /// which may have been withdrawn, and the device tokens and sealed tokens, which may have ended.
    ///
    /// So may the sessions of the console, which are those of all tenants.
    private static func withdrawMessages(of tenant: TenantID, url: String) throws(Fault) {
        try SchemaCheck.withConnection(to: url) { connection in
            try PostgresStaffSessions.endEvery(on: connection)
            _ = try connection.pipeline([
                MessageWrites.withdrawingAll(of: tenant),
                MessageOutbox.endingChallenges(of: tenant),
                ErasureRequestRows.endingAll(of: tenant),
                DeviceEnds.endingAll(of: tenant),
            ])
        }
    }

    /// Accepts the loss in the log, before ``finish(_:_:url:)`` gives it the new name.
    ///
    /// In the other order, a crash in between would leave a break that nothing explains.
    private static func record(
        _ report: RestoreReport, with command: AdministeredCommand
    ) async throws(Fault) {
        var access = AccessRecord(by: nil, .acceptRestore)
        access.details = [
            "events": String(report.size), "returned": String(report.returned.count),
            "signed": String(report.signed?.checkpoint.size ?? 0),
        ]
        var intents = report.erasures
        if let fact = report.fact { intents.insert(.recordRestore(RecordRestore(fact)), at: 0) }
        _ = try await command.run(intents, as: access)
    }

    /// Begins the new name, destroys what was erased again, and checks that nothing else differs.
    private static func finish(
        _ report: RestoreReport, _ directory: SealerDirectory, url: String
    ) async throws {
        let tenant = report.tenant
        if report.loss != nil {
            let origin = try directory.beginNewOrigin(of: tenant, number: report.nextOrigin)
            Terminal.print("tenant \(tenant): the log continues as \(origin)\n")
        }
        let accounts = report.repeated.map(\.account)
        for account in accounts {
            Terminal.print("tenant \(tenant): account \(account) was erased again\n")
        }
        if !accounts.isEmpty {
            let state = try await EraseCommand.destroy(accounts, of: tenant, url)
            Terminal.print("  \(state)\n")
        }
        let after = try check(tenant, directory, url: url)
        guard after.isAccepted else { throw Fault(text(of: after)) }
    }

    /// Changes the MAC key: positions are used again, and no MAC of a lost event may be valid for a new one.
    ///
    /// One key for all, because servers read a limited number of keys.
    /// - Returns: the faults of logs that were left out, by the tenant's name.
    private static func changeMACKey(
        of tenants: Set<TenantID>, _ environment: Environment, url: String
    ) async throws -> [String: String] {
        guard !tenants.isEmpty else { return [:] }
        let directory = KeyDirectory(path: try environment.required(.keys))
        let lock = try directory.lock()
        defer { try? lock.close() }
        return try await MACKeyRotation(url: url, directory: directory).run(of: tenants)
    }

    private static func text(of report: RestoreReport, isRestored: Bool = false) -> String {
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
        if isRestored || report.loss.map({ $0 != .name }) ?? false {
            lines.append(
                "  BACK: passwords, addresses, second factors, recovery codes, steps of authenticator apps"
                    + " and counters of passkeys are those of the backup; the last event is of"
                    + " \(report.lastRecordedAt?.description ?? "an unknown time")")
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
                        ? ""
                        : ", and it or an account merged with it is under a hold set since then:"
                            + " lift it first")
                    + (returned.unerased.isEmpty
                        ? ""
                        : ", and is merged with account"
                            + " \(returned.unerased.map(\.description).joined(separator: ", ")), which"
                            + " was not erased: undo the merge first"))
        }
        return lines.map { $0 + "\n" }.joined()
    }
}
