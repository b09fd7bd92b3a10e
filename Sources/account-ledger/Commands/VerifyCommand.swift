import Ledger
import LedgerPostgres

/// `verify`: folds the whole log and compares everything that is kept beside it.
enum VerifyCommand {
    static let syntax = Syntax(
        words: ["verify"], summary: "check the whole log and everything that follows from it",
        options: [
            LedgerReading.tenantOption,
            .init(
                name: "progress",
                meaning: "say on standard error how far it has come; by default on a terminal only"),
            .init(
                name: "checkpoint", placeholder: "FILE",
                meaning:
                    "a signed checkpoint that was kept elsewhere; the log it names has to agree with it"
            ),
            .init(
                name: "level", placeholder: "LEVEL",
                meaning: "the append-only level that is expected, 1 to 3; by default 1"),
        ] + OfflineVerification.options,
        settings: [.databaseURL, .keys, .sealerState, .origin, .mode],
        details: """
            Folds the log with the pure model and compares the result with the head, the decision state, the
            read models, the stored hashes of the Merkle log and every signed checkpoint, in one snapshot,
            while the ledger goes on. What is not as it was signed is named by its position, or by the two
            checkpoints it lies between. Prints what was checked and what was
            found, ids and positions only. Without LEDGER_KEYS, MACs, disclosures and what is derived from
            them are left out. With --vkey every log has to be signed by one of these keys. With
            LEDGER_SEALER_STATE each log has to agree with what its sealer signed last. A log without its
            guards, or with weaker ones than --level says, does not hold. Exits with 0 only when everything
            holds. With --offline nothing but the bundle is read.
            """)

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        if let bundle = try OfflineVerification.bundle(arguments) {
            return try OfflineVerification.run(bundle, arguments)
        }
        let level = try expectedLevel(arguments)
        let verifiers = try arguments.value(
            of: "vkey", as: OfflineVerification.wantedKeys, OfflineVerification.verifiers)
        let url = try environment.databaseURL
        let tenant = try LedgerReading.tenant(arguments, url: url)
        let keys = try LedgerReading.keys(environment)
        let tenants =
            if let tenant { [tenant] } else { try OpenedTenants.read(url: url).facts.keys.sorted() }
        let trust = try VerifyTrust.read(
            arguments, environment, keys: verifiers ?? [], tenants: tenants,
            isOfAll: tenant == nil)
        let survey = try SchemaCheck.withConnection(to: url) { try AppendOnlySurvey($0) }
        let weakness =
            survey.guards.level < level
            ? "append-only level \(survey.guards.level.rawValue), and \(level.rawValue) is expected"
            : nil
        let verifier = Verifier(
            url: url, keyring: keys?.wrapping, searchKey: keys?.searching.search, trust: trust)
        let isTold = arguments.has("progress") || Terminal.isWatched
        let report = try await verifier.run(tenant: tenant) { progress in
            guard isTold else { return }
            Terminal.complain(
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
            text += "disclosures and columns made of them not checked: LEDGER_KEYS is not set\n"
        }
        if !report.checksMACs { text += "MACs not checked: no MAC key is at hand\n" }
        return text
    }

    /// What is known now, in a few words each.
    private static func summary(_ report: VerificationReport) -> [String] {
        guard report.holds else { return ["\(report.events) entries looked at"] }
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
