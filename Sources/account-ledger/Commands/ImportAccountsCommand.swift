import CommandLine
import Cryptography
import Foundation
import Ledger
import LedgerEngine
import LedgerImport
import LedgerPostgres
import LedgerSignIn

/// `import auth0`, `import firebase`, `import keycloak`, `import supabase`: imports accounts of another system.
struct ImportAccountsCommand: Sendable {
    private static let hashConfig = "hash-config"
    private static let identities = "identities"
    private static let hashes = "hashes"
    private static let hashConfigBytesMax = 65_536

    let format: ImportFormat

    var syntax: Syntax {
        Syntax(
            words: ["import", format.rawValue], summary: summary,
            operands: [.init(placeholder: "FILE", meaning: file)],
            options: [AdministeredCommand.reasonOption, APIKeyCommands.tenantOption] + options + [
                .init(
                    name: "provider", placeholder: "MAP",
                    meaning: "providers by their names in the export: name=ours, parted by commas"),
                .init(
                    name: "report", placeholder: "FILE",
                    meaning: "file to create with a JSON line for each problem"),
                .init(name: "dry-run", meaning: "check the file and change nothing"),
            ],
            settings: MergeCase.settings,
            details: """
                Each account is opened with its external id, the identities whose providers the tenant has, and its
                verified address with the password's hash or for codes. An account whose external id the ledger has
                is left as it is, so an interrupted import is repeated as it is. An identity or an address that
                another account has is left out and reported; nothing is ever merged.
                """)
    }

    private var summary: String {
        switch format {
        case .auth0: "import accounts that Auth0 exported"
        case .firebase: "import accounts that Firebase exported"
        case .keycloak: "import accounts of an exported realm of Keycloak"
        case .supabase: "import accounts of Supabase"
        }
    }

    private var file: String {
        switch format {
        case .auth0: "the export: an object in each line, or an array"
        case .firebase: "the output of firebase auth:export, as JSON or CSV"
        case .keycloak: "the export of the realm with its users"
        case .supabase: "CSV of auth.users with a header, or a dump of the schema auth"
        }
    }

    private var options: [Syntax.Option] {
        switch format {
        case .keycloak: []
        case .auth0:
            [
                .init(
                    name: Self.hashes, placeholder: "FILE",
                    meaning: "the password hashes that Auth0's support exported")
            ]
        case .firebase:
            [
                .init(
                    name: Self.hashConfig, placeholder: "FILE",
                    meaning: "the hash_config of the project, as its console shows it")
            ]
        case .supabase:
            [
                .init(
                    name: Self.identities, placeholder: "FILE",
                    meaning: "CSV of auth.identities with a header")
            ]
        }
    }

    func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        let isDryRun = arguments.has("dry-run")
        let reason = isDryRun ? "" : try AdministeredCommand.reason(arguments)
        let given =
            try arguments.value(of: "provider", as: "name=ours, parted by commas", Self.providers)
            ?? [:]
        let second = arguments[Self.identities] ?? arguments[Self.hashes]
        let paths = arguments.operands + [second].compactMap(\.self)
        let hashing = try arguments[Self.hashConfig].map(Self.hashing)
        do {
            if format == .firebase, hashing == nil, !isDryRun {
                try AccountFile.checkWithoutHashing(path: paths.first ?? "", now: .now)
            }
        } catch {
            throw Fault("\(error)")
        }
        let open = { () throws(Fault) -> AccountFile in
            do throws(ImportFault) {
                return try AccountFile(format, paths: paths, hashing: hashing, now: .now)
            } catch {
                throw Fault("\(error)")
            }
        }
        let file = try open()
        let command = try AdministeredCommand(arguments, environment)
        let rules = try MergeCase.rules(environment, command)
        for provider in given.values where rules.policy.providers[provider] == nil {
            throw Fault("the tenant has no provider \(provider)")
        }
        let report = try arguments["report"].map { path throws(Fault) in
            try ProblemFile(NewFile(path: path))
        }
        let secrets = rules.keyring.secrets
        let mapper = AccountMapper(
            format, under: rules.policy, given: given,
            names: AddressNames(current: secrets.currentID, keys: secrets.keys),
            tenant: command.tenant,
            localParts: try TenantSetup.localParts(of: command.tenant, environment),
            isPreview: isDryRun, reason: reason, peppers: try LedgerCommands.peppers(environment))
        if !isDryRun {
            var access = AccessRecord(by: nil, .importAccounts)
            access.reason = reason
            access.details = ["format": format.rawValue]
            try await command.record(access)
        }
        let faults = LastFault()
        let sequencer = command.sequencer(
            keyring: rules.keyring, policy: rules.policy, noticeLanguage: nil, faults: faults,
            batchLimit: AccountImporter.batchMax)
        let importer = AccountImporter(
            command: command, sequencer: sequencer, faults: faults, mapper: mapper,
            isDryRun: isDryRun, report: report)
        async let finished: Void = sequencer.run()
        let result = await importer.run(file, again: open)
        sequencer.close()
        await finished
        // The totals are printed before any fault, also of the report.
        Terminal.print(result.totals.text(isPreview: isDryRun))
        let reported: Result<Void, any Error> = Result { try report?.finish() }
        if let fault = result.fault { throw fault }
        try reported.get()
        return result.totals.refused == 0 ? .success : .fault
    }

    private static func providers(_ text: String) -> [String: ProviderName]? {
        var map: [String: ProviderName] = [:]
        for pair in text.split(separator: ",", omittingEmptySubsequences: false) {
            let parts = pair.split(separator: "=", omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty, let name = ProviderName(String(parts[1])),
                map.updateValue(name, forKey: String(parts[0])) == nil
            else { return nil }
        }
        return map
    }

    private static func hashing(_ path: String) throws(Fault) -> FirebaseHashing {
        let bytes = try? FileHandle(forReadingAtPath: path)?.read(upToCount: hashConfigBytesMax)
        guard let bytes, let hashing = FirebaseHashing(text: Array(bytes)) else {
            throw Fault("\(path) is not the hash_config of a project with the algorithm SCRYPT")
        }
        return hashing
    }
}
