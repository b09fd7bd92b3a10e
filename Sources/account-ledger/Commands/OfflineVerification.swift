import LedgerExport
import TransparencyLog

/// `verify --offline`: verifies a bundle, without a database and without settings.
enum OfflineVerification {
    static let options: [Syntax.Option] = [
        .init(name: "offline", placeholder: "BUNDLE", meaning: "verify what export made instead"),
        .init(
            name: "vkey", placeholder: "VKEY",
            meaning: "trust checkpoints of this key, or of several with commas between, only"),
    ]

    /// The bundle to verify, when one is named.
    static func bundle(_ arguments: Arguments) throws(UsageError) -> String? {
        guard let bundle = arguments["offline"] else { return nil }
        for option in ["tenant", "checkpoint", "level"] where arguments[option] != nil {
            throw arguments.misuse("--offline goes without --\(option)")
        }
        return bundle
    }

    /// Prints what holds, or the first thing that does not.
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

    static let wantedKeys = "verifier keys as the log's operator told them"

    /// Reads the keys of `--vkey`.
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
                "             this key is the bundle's own: compare it with the one that you know\n"
        }
        text += """
            scope        \(scope)
            events       \(report.events), of \(report.accounts) accounts without a gap
            checkpoints  \(report.checkpoints) consistent

            """
        if report.unsignedCheckpoints > 0 {
            text +=
                "             \(report.unsignedCheckpoints) of them signed by keys that were not given\n"
        }
        text += "disclosures  \(report.disclosures)\n"
        if report.redactedDisclosures > 0 {
            text +=
                "             \(report.redactedDisclosures) redacted: their accounts were erased\n"
        }
        if report.leftOutDisclosures > 0 {
            text +=
                "             \(report.leftOutDisclosures) left out: they are about other accounts\n"
        }
        return text + report.conclusion + "\n"
    }
}
