import CommandLine
import LedgerExport
import TransparencyLog

/// `verify --offline`: verifies a bundle without a database and without settings.
enum OfflineVerification {
    static let options: [Syntax.Option] = [
        .init(
            name: "offline", placeholder: "BUNDLE",
            meaning: "verify a bundle that export wrote instead"),
        .init(
            name: "vkey", placeholder: "VKEY",
            meaning: "trust only checkpoints signed by these comma-separated keys"),
    ]

    /// Returns the bundle to verify; nil without `--offline`.
    static func bundle(_ arguments: Arguments) throws(UsageError) -> String? {
        guard let bundle = arguments["offline"] else { return nil }
        for option in ["tenant", "checkpoint", "level"] where arguments[option] != nil {
            throw arguments.usageError("--offline and --\(option) exclude each other")
        }
        return bundle
    }

    /// Verifies the bundle, and prints the result or the first problem.
    static func run(_ bundle: String, _ arguments: Arguments) throws(UsageError) -> ExitCode {
        let keys = try arguments.value(
            of: "vkey", as: wantedKeys, verifiers)
        do throws(BundleFault) {
            let report = try BundleVerification(path: bundle, verifiers: keys).run()
            Terminal.print(text(of: report))
            return .success
        } catch {
            Terminal.print("DOES NOT HOLD: \(error)\n")
            return .fault
        }
    }

    static let wantedKeys = "verifier keys as published by the log's operator"

    /// Parses the keys of `--vkey`.
    static func verifiers(_ text: String) -> [NoteVerifier]? {
        if let key = NoteVerifier(text) { return [key] }
        let texts = text.split(separator: ",", omittingEmptySubsequences: false)
        let keys = texts.compactMap { NoteVerifier(String($0)) }
        return keys.count == texts.count ? keys : nil
    }

    private static func text(of report: BundleReport) -> String {
        let checkpoint = report.head.checkpoint
        let scope =
            switch report.head.scope {
            case .all: "every entry"
            case .account(let account): "account \(account)"
            }
        var text = """
            log          \(checkpoint.origin), \(checkpoint.size) entries, root \(checkpoint.root)
            signed by    \(report.signers.joined(separator: " "))

            """
        if report.trustsOwnKeys {
            text +=
                "             this key comes from the bundle: compare it with the key you know\n"
        }
        text += """
            scope        \(scope)
            events       \(report.events), \(report.accounts) accounts without gaps
            checkpoints  \(report.checkpoints) consistent

            """
        if report.unsignedCheckpoints > 0 {
            text +=
                "             \(report.unsignedCheckpoints) of them not signed by the given keys\n"
        }
        text += "disclosures  \(report.disclosures)\n"
        if report.redactedDisclosures > 0 {
            text +=
                "             \(report.redactedDisclosures) redacted: their accounts were erased\n"
        }
        if report.leftOutDisclosures > 0 {
            text +=
                "             \(report.leftOutDisclosures) left out: they belong to other accounts\n"
        }
        return text + report.conclusion + "\n"
    }
}
