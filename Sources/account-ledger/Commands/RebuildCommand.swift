import CommandLine
import Ledger
import LedgerAudit
import LedgerEngine
import LedgerPostgres

/// `rebuild`: folds a read model again and repairs the differences.
enum RebuildCommand {
    static let syntax = Syntax(
        words: ["rebuild"],
        summary: "fold a read model from position 0 and repair or replace it",
        operands: [
            .init(
                placeholder: "PROJECTION",
                meaning: (ProjectionName.allCases.map(\.rawValue)
                    + [FormerEmailRebuild.name, FigureWorker.name])
                    .joined(separator: " or "))
        ],
        options: [
            LedgerCommands.tenantOption,
            .init(
                name: "online", meaning: "fold into a new table, which then replaces the live one"),
            .init(name: "roll-back", meaning: "go back to the table before an online rebuild"),
            .init(name: "drop-previous", meaning: "drop that table; then there is no way back"),
        ],
        settings: [.databaseURL, .migrateURL, .keys],
        details: """
            Runs while the ledger serves: readers see the old table until the repair commits. Reports the
            differences between the table and the log. Exits with 0 when the table is correct afterwards, and
            with 1 when an event can't be folded; then nothing is changed. With --online the read model of all
            tenants is folded into a new table, which is kept up to date beside the live one, compared with it
            at the same position, and then served in its place. The former table is kept up to date until
            --drop-previous. If it is interrupted, start it again. Requires the login of LEDGER_MIGRATE_URL,
            because it creates and drops tables. former_emails are digests of e-mails of identities without an
            account: wrong ones are rebuilt from the log's disclosures while the ledger serves, without
            --online. figures are the numbers of events by day, which are counted again from the log, also
            without --online.
            """)

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        let name = arguments.operands.first ?? ""
        if name == FormerEmailRebuild.name {
            return try await formerEmails(arguments, environment)
        }
        if name == FigureWorker.name { return try await figures(arguments, environment) }
        guard let projection = ProjectionName(rawValue: name) else {
            throw arguments.usageError("unknown projection '\(Arguments.quoted(name))'")
        }
        if let change = try change(arguments) {
            return try await OnlineRebuildCommand.run(change, of: projection, environment)
        }
        let url = try environment.databaseURL
        let tenant = try LedgerCommands.servedTenant(arguments, url: url)
        // Without keys a rebuild would remove every e-mail address from the table.
        guard let keyring = try LedgerCommands.keyring(environment) else {
            throw Fault(
                "\(Setting.keys.name) is not set: the read model holds decrypted personal data")
        }
        let rebuild = Rebuild(url: url, keyring: keyring)
        let reports =
            if let tenant {
                [try await rebuild.run(projection, in: tenant)]
            } else {
                try await rebuild.run(projection)
            }
        await rebuild.close()
        Terminal.print(reports.map(text).joined())
        return reports.allSatisfy { $0.fault == nil } ? .success : .fault
    }

    /// Counts the events of each day again.
    private static func figures(
        _ arguments: Arguments, _ environment: Environment
    ) async throws -> ExitCode {
        try expectNoTable(arguments)
        let url = try environment.databaseURL
        let tenant = try LedgerCommands.servedTenant(arguments, url: url)
        let worker = FigureWorker(url: url)
        let counted = try await worker.rebuild(tenant)
        await worker.close()
        Terminal.print(
            counted.map { "tenant \($0.tenant): counted \($0.size) events\n" }.joined())
        return .success
    }

    private static func expectNoTable(_ arguments: Arguments) throws {
        if let option = OnlineRebuildCommand.Change.allCases.first(where: {
            arguments.has($0.rawValue)
        }) {
            throw arguments.usageError("--\(option.rawValue) requires a projection with a table")
        }
    }

    /// Rebuilds the wrong digests of former e-mails.
    private static func formerEmails(
        _ arguments: Arguments, _ environment: Environment
    ) async throws -> ExitCode {
        try expectNoTable(arguments)
        let url = try environment.databaseURL
        let tenant = try LedgerCommands.servedTenant(arguments, url: url)
        guard let keys = try LedgerCommands.keys(environment)?.searching else {
            throw Fault(
                "\(Setting.keys.name) is not set: the digests are made from decrypted e-mails")
        }
        let rebuild = FormerEmailRebuild(url: url, keyring: keys.keyring, key: keys.search)
        let reports: [(tenant: TenantID, wrong: Int)]
        do {
            reports = try await rebuild.run(in: tenant)
        } catch let fault as FormerEmailFault {
            await rebuild.close()
            throw Fault(fault.description)
        }
        await rebuild.close()
        Terminal.print(
            reports.map {
                "tenant \($0.tenant): \($0.wrong) digests of former e-mails were wrong\n"
            }
            .joined())
        return .success
    }

    /// Returns the requested change of tables, or nil.
    ///
    /// - Throws: `UsageError` for more than one.
    private static func change(_ arguments: Arguments) throws -> OnlineRebuildCommand.Change? {
        let asked = OnlineRebuildCommand.Change.allCases.filter { arguments.has($0.rawValue) }
        guard let change = asked.first else { return nil }
        guard asked.count == 1 else {
            throw arguments.usageError(
                "--\(change.rawValue) and --\(asked[1].rawValue) exclude each other")
        }
        guard arguments["tenant"] == nil else {
            throw arguments.usageError("--\(change.rawValue) and --tenant exclude each other")
        }
        return change
    }

    private static func text(of report: RebuildReport) -> String {
        let start = "tenant \(report.tenant): \(report.projection)"
        if let fault = report.fault {
            return "\(start) stops at \(fault); nothing was changed\n"
        }
        let location = "at position \(report.position)"
        guard let first = report.first else {
            return "\(start) equals the log \(location)\n"
        }
        let columns = first.columns.isEmpty ? "" : " (\(first.columns))"
        return """
            \(start) differed and was repaired \(location): \(report.missing) rows missing, \
            \(report.surplus) surplus, \(report.different) different
              first: position \(first.position), account \(first.account), \
            \(first.kind.rawValue)\(columns)

            """
    }
}
