import CommandLine
import Ledger
import LedgerAudit

/// `replay`: prints the history of an account, or a range of the log.
enum ReplayCommand {
    static let syntax = Syntax(
        words: ["replay"], summary: "print the history of an account or a range of the log",
        options: [
            .init(name: "tenant", placeholder: "NAME", meaning: "tenant; default: default"),
            .init(
                name: "account", placeholder: "ID", meaning: "every event that touches this account"
            ),
            .init(name: "from", placeholder: "POSITION", meaning: "first event; default: 0"),
            .init(name: "to", placeholder: "POSITION", meaning: "last event; default: the end"),
            .init(
                name: "format", placeholder: "FORMAT",
                meaning: "text, or json: one line per event with the exact entry; default: text"),
            DisclosureOptions.option, DisclosureOptions.reasonOption,
        ],
        settings: [.databaseURL, .keys],
        details: """
            Requires --account, or --from or --to or both. Reads one snapshot and checks it: gaps and broken
            chains and, with LEDGER_KEYS, events that no server has appended are reported on standard error,
            and the exit code is then 1. Prints no personal data unless --disclose and --reason are given,
            which the access log records.
            """)

    private enum Format: String {
        case text
        case json
    }

    private enum Part {
        case account(AccountID)
        case range(from: LogPosition, through: LogPosition)
    }

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        let part = try part(arguments)
        let format =
            try arguments.value(of: "format", as: "text or json", Format.init(rawValue:)) ?? .text
        let disclosing = try DisclosureOptions(arguments, environment)
        let url = try environment.databaseURL
        let tenant = try LedgerCommands.tenant(arguments, url: url) ?? .default
        let replay = Replay(
            url: url, keyring: disclosing?.keyring,
            macs: try LedgerCommands.macKeysIfAny(environment))
        let output = BufferedOutput()
        let emit: @Sendable (ReplayedEvent) throws -> Void = { event in
            try output.add(format == .json ? event.jsonLine : event.text + "\n")
        }
        let summary: ReplaySummary
        switch part {
        case .account(let account):
            try await disclosing?.record(
                .readHistory, account: account, details: [:], in: tenant, url: url)
            guard let found = try await replay.account(account, in: tenant, emit: emit) else {
                throw Fault("no account \(account) in tenant \(tenant)")
            }
            summary = found
        case .range(let first, let last):
            try await disclosing?.record(
                .listEvents, details: ["from": arguments["from"], "to": arguments["to"]],
                in: tenant, url: url)
            summary = try await replay.range(from: first, through: last, in: tenant, emit: emit)
        }
        await replay.close()
        try output.finish()
        return report(summary)
    }

    private static func part(_ arguments: Arguments) throws(UsageError) -> Part {
        let account = try arguments.value(of: "account", as: "an account id") { AccountID($0) }
        let from = try arguments.value(of: "from", as: "a position", position)
        let to = try arguments.value(of: "to", as: "a position", position)
        if let account {
            guard from == nil, to == nil else {
                throw arguments.usageError("--account excludes --from and --to")
            }
            return .account(account)
        }
        guard from != nil || to != nil else {
            throw arguments.usageError("one of --account, --from and --to is required")
        }
        // The reader's range is half-open.
        let range = (from ?? LogPosition(0), to ?? LogPosition(.max - 1))
        guard range.0 <= range.1 else { throw arguments.usageError("--from is after --to") }
        return .range(from: range.0, through: range.1)
    }

    private static func position(_ text: String) -> LogPosition? {
        Int64(text).flatMap { (0..<Int64.max).contains($0) ? LogPosition($0) : nil }
    }

    private static func report(_ summary: ReplaySummary) -> ExitCode {
        for finding in summary.findings {
            Terminal.printError("\(finding)")
        }
        let more = summary.findingCount - summary.findings.count
        if more > 0 { Terminal.printError("and \(more) more findings") }
        return summary.isWhole ? .success : .fault
    }
}
