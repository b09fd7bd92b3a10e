import Ledger
import LedgerExport
import LedgerPostgres
import TransparencyLog

/// `export`: writes an account's events, or all, to a file.
enum ExportCommand {
    private static let reasonCharactersMax = 255

    static let syntax = Syntax(
        words: ["export"], summary: "write events to a file that others can verify or read",
        options: [
            .init(name: "tenant", placeholder: "NAME", meaning: "the tenant; default: default"),
            .init(name: "account", placeholder: "ID", meaning: "every event that touches it"),
            .init(name: "all", meaning: "every event"),
            .init(
                name: "format", placeholder: "FORMAT",
                meaning: "bundle, jsonl or csv; default: bundle"),
            .init(name: "output", placeholder: "FILE", meaning: "the file, which must not exist"),
            .init(
                name: "since", placeholder: "SIZE",
                meaning: "prove that the log continues the checkpoint of this size"),
            .init(name: "disclose", meaning: "with personal data; needs LEDGER_KEYS and --reason"),
            .init(name: "reason", placeholder: "TEXT", meaning: "why; kept in the access log"),
        ],
        settings: [.databaseURL, .keys],
        details: """
            A bundle is a tar file with the exact entries up to the last signed checkpoint, the proofs, and
            VERIFY.md that tells how anybody can check it; none is written when an entry, a hash or a
            checkpoint in it is not what was signed. jsonl and csv go to the end of the log, are held against
            no checkpoint, and csv is not exact. With --account the log is looked through for later events
            than tables name; --disclose then shows what is about this account alone.
            """)

    private enum Format: String {
        case bundle
        case jsonl
        case csv
    }

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        let account = try scope(arguments)
        let format =
            try arguments.value(of: "format", as: "bundle, jsonl or csv", Format.init(rawValue:))
            ?? .bundle
        let since = try arguments.value(of: "since", as: "a checkpoint's size") { text in
            Int64(text).flatMap { $0 > 0 ? $0 : nil }
        }
        guard since == nil || format == .bundle else {
            throw arguments.misuse("--since goes with --format bundle")
        }
        guard let path = arguments["output"] else { throw arguments.misuse("--output is missing") }
        let reason = try reason(arguments)
        let url = try environment.databaseURL
        let tenant = try LedgerReading.tenant(arguments, url: url) ?? .default
        let file = try NewFile(path: path)
        let exporter = Exporter(
            url: url, keyring: try reason.map { _ in try disclosingKeyring(environment) })
        if let reason {
            try await exporter.record(access(account, format, reason), in: tenant)
        }
        let basis =
            format == .bundle ? try await exporter.basis(of: tenant, since: since) : nil
        let sink: any ExportSink =
            if let basis {
                try BundleSink(file, tenant, account, basis, isDisclosed: reason != nil)
            } else {
                try LineSink(file, isCSV: format == .csv, isDisclosed: reason != nil)
            }
        var later = 0
        if let account {
            later = try await exporter.account(account, in: tenant, basis: basis) {
                try sink.add($0)
            }
        } else {
            try await exporter.all(in: tenant, basis: basis) { try sink.add($0) }
        }
        await exporter.close()
        try sink.finish()
        try file.keep()
        Terminal.print(summary(sink, basis, path: path, isOfAccount: account != nil, later: later))
        return .success
    }

    private static func scope(_ arguments: Arguments) throws(UsageError) -> AccountID? {
        let account = try arguments.value(of: "account", as: "an account's id") { AccountID($0) }
        guard (account == nil) == arguments.has("all") else {
            throw arguments.misuse("either --account or --all has to be given")
        }
        return account
    }

    private static func reason(_ arguments: Arguments) throws(UsageError) -> String? {
        let reason = try arguments.value(
            of: "reason", as: "1 to \(reasonCharactersMax) printable characters"
        ) { text in
            let isFit = text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
            return isFit && (1...reasonCharactersMax).contains(text.utf8.count) ? text : nil
        }
        guard arguments.has("disclose") == (reason != nil) else {
            throw arguments.misuse("--disclose and --reason go together")
        }
        return reason
    }

    private static func disclosingKeyring(
        _ environment: Environment
    ) throws(Fault) -> WrappingKeyring {
        guard let keyring = try LedgerReading.keyring(environment) else {
            throw Fault("\(Setting.keys.name) is not set: --disclose has to decrypt")
        }
        return keyring
    }

    private static func access(
        _ account: AccountID?, _ format: Format, _ reason: String
    ) -> AccessRecord {
        var access = AccessRecord(by: nil, .exportLog)
        access.account = account
        access.details = ["format": format.rawValue, "scope": account == nil ? "all" : "account"]
        access.isDisclosed = true
        access.reason = reason
        return access
    }

    private static func summary(
        _ sink: any ExportSink, _ basis: ExportBasis?, path: String, isOfAccount: Bool,
        later: Int
    ) -> String {
        var text = "\(sink.events) events written to \(path)\n"
        if let basis {
            let checkpoint = basis.checkpoint
            text += "up to the checkpoint of \(checkpoint.size) entries of \(checkpoint.origin)\n"
        }
        if later > 0 {
            text += "\(later) events of the account came after it and are not in there\n"
        }
        if isOfAccount {
            text += "the log, as it is stored, was looked through to its end and has no others\n"
        }
        if let withheld = sink.withheld {
            text += """
                \(withheld.count) disclosures from position \(withheld.position) on are gone, and no erasure \
                up to the checkpoint says why: a verifier will call them WITHHELD

                """
        }
        return text
    }
}
