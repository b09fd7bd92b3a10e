import CommandLine
import Ledger
import LedgerAudit
import LedgerExport
import LedgerImport
import TransparencyLog

/// `export`: writes the events of an account, or all events, to a file.
enum ExportCommand {
    static let syntax = Syntax(
        words: ["export"], summary: "write events to a file that others can verify or read",
        options: [
            .init(name: "tenant", placeholder: "NAME", meaning: "tenant; default: default"),
            .init(
                name: "account", placeholder: "ID", meaning: "every event that touches this account"
            ),
            .init(name: "all", meaning: "every event"),
            .init(
                name: "format", placeholder: "FORMAT",
                meaning: "bundle, jsonl or csv; with --all also auth0 or firebase; default: bundle"),
            .init(name: "output", placeholder: "FILE", meaning: "file to create; must not exist"),
            .init(
                name: "since", placeholder: "SIZE",
                meaning: "also prove consistency with the checkpoint of this size"),
            DisclosureOptions.option, DisclosureOptions.reasonOption,
        ],
        settings: [.databaseURL, .keys],
        details: """
            A bundle is a tar file with the exact entries up to the last signed checkpoint, the proofs, and
            VERIFY.md, which explains how to verify it independently. No bundle is written when an entry or a
            hash in it differs from what was signed. jsonl and csv go to the end of the log and are not
            verified against a checkpoint; csv is not exact. With LEDGER_KEYS an event that no server has
            appended ends the export. With --account the log is searched for events after those that the
            tables name; --disclose then includes personal data of this account only. auth0 and firebase are
            the accounts, as these systems import them.
            """)

    private enum Format: String {
        case bundle
        case jsonl
        case csv
    }

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        if let target = arguments["format"].flatMap(UserWriter.Target.init) {
            return try await AccountExportCommand(target: target).run(arguments, environment)
        }
        let account = try scope(arguments)
        let format =
            try arguments.value(of: "format", as: "bundle, jsonl or csv", Format.init(rawValue:))
            ?? .bundle
        let since = try arguments.value(of: "since", as: "the size of a checkpoint") { text in
            Int64(text).flatMap { $0 > 0 ? $0 : nil }
        }
        guard since == nil || format == .bundle else {
            throw arguments.usageError("--since requires --format bundle")
        }
        guard let path = arguments["output"] else {
            throw arguments.usageError("missing option --output")
        }
        let disclosing = try DisclosureOptions(arguments, environment)
        let url = try environment.databaseURL
        let tenant = try LedgerCommands.tenant(arguments, url: url) ?? .default
        let file = try NewFile(path: path)
        let exporter = Exporter(
            url: url, keyring: disclosing?.keyring,
            macs: try LedgerCommands.macKeysIfAny(environment))
        try await disclosing?.record(
            .exportLog, account: account,
            details: ["format": format.rawValue, "scope": account == nil ? "all" : "account"],
            in: tenant, url: url)
        let basis =
            format == .bundle ? try await exporter.basis(of: tenant, since: since) : nil
        let sink: any ExportSink =
            if let basis {
                try BundleSink(file, tenant, account, basis, isDisclosed: disclosing != nil)
            } else {
                try LineSink(file, isCSV: format == .csv, isDisclosed: disclosing != nil)
            }
        var later = 0
        var strays = 0
        if let account {
            later = try await exporter.account(account, in: tenant, basis: basis) {
                try sink.add($0)
            }
        } else {
            strays = try await exporter.all(in: tenant, basis: basis) { try sink.add($0) }
        }
        await exporter.close()
        try sink.finish()
        try file.keep()
        Terminal.print(summary(sink, basis, path: path, isOfAccount: account != nil, later: later))
        if strays > 0 {
            Terminal.printError(
                "left out \(strays) checkpoints without a signature; verify lists them")
        }
        return .success
    }

    private static func scope(_ arguments: Arguments) throws(UsageError) -> AccountID? {
        let account = try arguments.value(of: "account", as: "an account id") { AccountID($0) }
        guard (account == nil) == arguments.has("all") else {
            throw arguments.usageError("exactly one of --account and --all is required")
        }
        return account
    }

    private static func summary(
        _ sink: any ExportSink, _ basis: ExportBasis?, path: String, isOfAccount: Bool,
        later: Int
    ) -> String {
        var text = "wrote \(sink.events) events to \(path)\n"
        if let basis {
            let checkpoint = basis.checkpoint
            text += "up to the checkpoint of \(checkpoint.size) entries of \(checkpoint.origin)\n"
        }
        if later > 0 {
            text += "\(later) later events of the account are not included\n"
        }
        if isOfAccount {
            text += "the stored log was scanned to its end and has no other events of the account\n"
        }
        if let withheld = sink.withheld {
            text += """
                \(withheld.count) disclosures from position \(withheld.position) on are missing, and no erasure \
                up to the checkpoint explains it: a verifier will report them as WITHHELD

                """
        }
        return text
    }
}
