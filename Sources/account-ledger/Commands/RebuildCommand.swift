import Ledger
import LedgerPostgres

/// `rebuild`: folds a read model anew and repairs what differs.
enum RebuildCommand {
    static let syntax = Syntax(
        words: ["rebuild"],
        summary: "fold a read model anew from position 0, and repair or replace it",
        operands: [
            .init(
                placeholder: "PROJECTION",
                meaning: (ProjectionName.allCases.map(\.rawValue) + [FormerEmailRebuild.name])
                    .joined(separator: " or "))
        ],
        options: [
            LedgerReading.tenantOption,
            .init(name: "online", meaning: "into a new table, which then replaces the live one"),
            .init(name: "roll-back", meaning: "go back to the table before an online rebuild"),
            .init(name: "drop-previous", meaning: "drop that table: there is no way back then"),
        ],
        settings: [.databaseURL, .migrateURL, .keys],
        details: """
            Works beside a ledger that serves: readers see the table as it was until the repair commits.
            Reports how the table differed from the log. Exits with 0 when it is right now, whether or not
            it was, and with 1 when an event can't be folded; then nothing is changed.

            With --online the read model of all tenants is folded into a new table, kept up beside the live
            one, compared with it at the same position, and shown in its place. The former table is kept,
            and kept up, until --drop-previous. When it was ended early, start it again. Needs the login of
            LEDGER_MIGRATE_URL, because it makes and drops tables.

            former_emails are digests beside identities that belong to nobody: those that are not what the
            log discloses are made anew, beside a ledger that serves, without --online.
            """)

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        let name = arguments.operands.first ?? ""
        if name == FormerEmailRebuild.name {
            return try await formerEmails(arguments, environment)
        }
        guard let projection = ProjectionName(rawValue: name) else {
            throw arguments.misuse("there is no projection '\(Arguments.quoted(name))'")
        }
        if let change = try change(arguments) {
            return try await OnlineRebuildCommand.run(change, of: projection, environment)
        }
        let url = try environment.databaseURL
        let tenant = try LedgerReading.tenant(arguments, url: url)
        // Without them a refold would take every e-mail address out of the table.
        guard let keyring = try LedgerReading.keyring(environment) else {
            throw Fault(
                "\(Setting.keys.name) is not set: a read model holds what only keys decrypt")
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

    /// Makes the digests of former e-mails anew where they are wrong.
    private static func formerEmails(
        _ arguments: Arguments, _ environment: Environment
    ) async throws -> ExitCode {
        if let option = OnlineRebuildCommand.Change.allCases.first(where: {
            arguments.has($0.rawValue)
        }) {
            throw arguments.misuse("--\(option.rawValue) is for tables of projections")
        }
        let url = try environment.databaseURL
        let tenant = try LedgerReading.tenant(arguments, url: url)
        guard let keys = try LedgerReading.keys(environment)?.searching else {
            throw Fault("\(Setting.keys.name) is not set: digests are made of what it decrypts")
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

    /// What is to be done to the tables, if anything is.
    ///
    /// - Throws: `UsageError` for two things at once.
    private static func change(_ arguments: Arguments) throws -> OnlineRebuildCommand.Change? {
        let asked = OnlineRebuildCommand.Change.allCases.filter { arguments.has($0.rawValue) }
        guard let change = asked.first else { return nil }
        guard asked.count == 1 else {
            throw arguments.misuse(
                "--\(change.rawValue) and --\(asked[1].rawValue) exclude each other")
        }
        guard arguments["tenant"] == nil else {
            throw arguments.misuse("--\(change.rawValue) is for all tenants")
        }
        return change
    }

    private static func text(of report: RebuildReport) -> String {
        let start = "tenant \(report.tenant): \(report.projection)"
        if let fault = report.fault {
            return "\(start) stops at \(fault); nothing was changed\n"
        }
        let place = "at position \(report.position)"
        guard let first = report.first else {
            return "\(start) is what the log says \(place)\n"
        }
        let columns = first.columns.isEmpty ? "" : " (\(first.columns))"
        return """
            \(start) differed and is repaired \(place): \(report.missing) rows missing, \
            \(report.surplus) surplus, \(report.different) different
              first: position \(first.position), account \(first.account), \
            \(first.kind.rawValue)\(columns)

            """
    }
}
