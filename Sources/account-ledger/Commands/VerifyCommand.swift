import CommandLine
import Ledger
import LedgerAudit
import LedgerPostgres

/// `verify`: folds the whole log and compares it with all stored data.
enum VerifyCommand {
    static let syntax = Syntax(
        words: ["verify"], summary: "verify the whole log and all data derived from it",
        options: [
            LedgerCommands.tenantOption,
            .init(
                name: "progress",
                meaning: "report progress on standard error; default: on a terminal only"),
            .init(
                name: "checkpoint", placeholder: "FILE",
                meaning:
                    "a signed checkpoint kept elsewhere; the log it names must agree with it"
            ),
            .init(
                name: "level", placeholder: "LEVEL",
                meaning: "expected append-only level, 1 to 3; default: 1"),
        ] + OfflineVerification.options,
        settings: [.databaseURL, .keys, .sealerState, .origin, .mode],
        details: """
            Folds the log and compares the result with the head, the decision state, the read models, the
            stored hashes of the Merkle log and every signed checkpoint, in one snapshot, while the ledger
            serves. Differences from the signed log are reported by position, or by the two checkpoints around
            them. Prints counts and findings, with ids and positions only. Without LEDGER_KEYS, MACs,
            disclosures and data derived from them are not checked. With --vkey every log must be signed by
            one of these keys. With LEDGER_SEALER_STATE each log must agree with the last signature of its
            sealer. A log without its guards, or with weaker ones than --level requires, fails. Exits with 0
            only when everything holds. With --offline nothing but the bundle is read.
            """)

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        if let bundle = try OfflineVerification.bundle(arguments) {
            return try OfflineVerification.run(bundle, arguments)
        }
        let level = try expectedLevel(arguments)
        let verifiers = try arguments.value(
            of: "vkey", as: OfflineVerification.wantedKeys, OfflineVerification.verifiers)
        let url = try environment.databaseURL
        let tenant = try LedgerCommands.tenant(arguments, url: url)
        let keys = try LedgerCommands.keys(environment)
        let opened = try TenantOpenings.read(url: url)
        let halves = opened.moves.filter {
            $0.value.state == .arriving || $0.value.state == .discarded
        }
        if tenant == nil {
            for (half, move) in halves.sorted(by: { $0.key < $1.key }) {
                LedgerCommands.reportMoved(half, move)
            }
        }
        for (moved, move) in opened.moves.sorted(by: { $0.key < $1.key })
        where move.state == .moved && (tenant ?? moved) == moved {
            Terminal.printError(
                "tenant \(moved) \(move.description): its log here is not compared with the sealer's record"
            )
        }
        let tenants =
            tenant.map { [$0] } ?? opened.tenants.filter { halves[$0] == nil }
        let trust = try VerifyTrust.read(
            arguments, environment, keys: verifiers ?? [], tenants: tenants,
            isOfAll: tenant == nil, moves: opened.moves)
        let survey = try SchemaCheck.withConnection(to: url) { try AppendOnlySurvey($0) }
        let weakness =
            survey.guards.level < level
            ? "append-only level \(survey.guards.level.rawValue), expected \(level.rawValue)"
            : nil
        let verifier = Verifier(
            url: url, keyring: keys?.wrapping, searchKey: keys?.searching.search, trust: trust)
        let isReported = arguments.has("progress") || Terminal.isTerminal
        let report = try await verifier.run(tenant: tenant) { progress in
            guard isReported else { return }
            Terminal.printError(
                "tenant \(progress.tenant): \(progress.events) of \(progress.total) events"
                    + " (\(progress.events * 100 / max(1, progress.total)) %)")
        }
        await verifier.close()
        Terminal.print(
            text(of: report) + survey.text + summary(report).joined(separator: ", ") + "\n"
                + verdict(report, weakness))
        return report.holds && weakness == nil ? .success : .fault
    }

    private static func expectedLevel(
        _ arguments: Arguments
    ) throws(UsageError) -> AppendOnlyLevel {
        try arguments.value(of: "level", as: "a level from 1 to 3") { text in
            let level = Int(text).flatMap(AppendOnlyLevel.init(rawValue:))
            return level == .unguarded ? nil : level
        } ?? .triggers
    }

    private static func text(of report: VerificationReport) -> String {
        var text = "tenants: \(report.tenants), events: \(report.events)\n"
        for check in VerificationCheck.allCases {
            let name = check.rawValue
            let padding = String(repeating: " ", count: max(1, 16 - name.count))
            text += "  \(name)\(padding)\(report.counts[check] ?? 0) checked\n"
        }
        text += "checkpoints cover \(report.signedEvents) of \(report.events) events\n"
        if report.opensDisclosures {
            text += "\(report.withheldDisclosures) disclosures withheld\n"
        } else {
            text +=
                "disclosures and columns derived from them not checked: LEDGER_KEYS is not set\n"
        }
        if !report.checksMACs { text += "MACs not checked: there is no MAC key\n" }
        return text
    }

    /// Returns the parts of the one-line summary.
    private static func summary(_ report: VerificationReport) -> [String] {
        guard report.holds else { return ["\(report.events) entries checked"] }
        var parts = [
            "\(report.events) entries",
            "\(report.counts[.checkpoints] ?? 0) checkpoints consistent",
            "\(report.completeAccounts) accounts complete",
        ]
        if report.tenants == 1 {
            parts += report.equalTables.map {
                $0.size == LogPosition(0)
                    ? "\($0.projection) empty"
                    : "\($0.projection) equal at position \($0.size.value - 1)"
            }
        } else {
            parts.append("\(report.equalTableCount) read models equal at their positions")
        }
        return parts
    }

    private static func verdict(_ report: VerificationReport, _ weakness: String?) -> String {
        guard !report.holds || weakness != nil else { return "everything holds\n" }
        let more = report.findingCount - report.findings.count
        return "DOES NOT HOLD: \(report.findingCount + (weakness == nil ? 0 : 1)) findings\n"
            + (weakness.map { "  \($0)\n" } ?? "")
            + report.findings.map { "  \($0)\n" }.joined()
            + (more > 0 ? "  and \(more) more\n" : "")
    }
}
