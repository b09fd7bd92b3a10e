import CommandLine
import Foundation
import Ledger
import LedgerEngine
import LedgerPostgres
import LedgerSignIn
import OpenID
import Postgres

/// `doctor`: checks the configuration and everything that a server depends on, and what to do about it.
enum DoctorCommand {
    static let syntax = Syntax(
        words: ["doctor"], summary: "check the configuration and what a server depends on",
        options: [
            .init(name: "offline", meaning: "without requests to identity providers")
        ],
        settings: Setting.allCases.filter { $0 != .migrateURL },
        details: """
            Checks, with the environment of serve: the settings and files, the key directory, the database with its
            version, durability, clock, schema, guards and projections, the rules of tenants, the sealer's
            record, free space, and whether the key sets of identity providers can be fetched. Changes nothing.
            Prints a line for each check and what to do; exits with 1 when there is a problem.
            """)

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        var isBad = false
        func report(_ diagnoses: [Diagnosis]) {
            for diagnosis in diagnoses {
                isBad = isBad || diagnosis.level == .problem
                Terminal.print(diagnosis.text)
            }
        }
        let configuration: ServeConfiguration
        do throws(Fault) {
            configuration = try ServeConfiguration(environment)
        } catch {
            report([.problem("settings", error.description, "see docs/configuration.md")])
            return .fault
        }
        report(
            [.good("settings", "are valid for the mode \(configuration.mode.rawValue)")]
                + environment.unknownNames.map {
                    .warning("settings", "\($0) is unknown", "correct its name or unset it")
                })
        report([FileDiagnosis.keys(configuration.keys)])
        report([FileDiagnosis.space("keys", configuration.keys.path)])
        report(database(configuration))
        report(rules(environment))
        report(await providers(configuration, asks: !arguments.has("offline")))
        return isBad ? .fault : .success
    }

    private static func database(_ configuration: ServeConfiguration) -> [Diagnosis] {
        do throws(PostgresError) {
            let connection = try Connection(
                url: configuration.databaseURL, applicationName: "account-ledger doctor")
            defer { connection.close() }
            var found = try DatabaseDiagnosis.all(on: connection)
            guard let directory = configuration.sealerDirectory else {
                return found + [
                    .warning(
                        "sealer", "\(Setting.sealerState.name) is not set",
                        "one process has to seal: docs/sealing.md")
                ]
            }
            found += try FileDiagnosis.record(directory, on: connection)
            return found + [FileDiagnosis.space("the sealer's record", directory.path)]
        } catch {
            return [
                .problem("database", "\(error)", "check \(Setting.databaseURL.name) and the server")
            ]
        }
    }

    private static func rules(_ environment: Environment) -> [Diagnosis] {
        do {
            let url = try environment.databaseURL
            let opened = try TenantOpenings.read(url: url).tenants
            let recorded = try SchemaCheck.withConnection(to: url) {
                try RecordedRules.read(on: $0)
            }
            let differing = try RulesSetup.all(environment, of: opened).filter { tenant, policy in
                guard case .success(let rules) = recorded[tenant] else { return false }
                return rules.policy != policy
            }.keys.sorted()
            guard !differing.isEmpty else {
                return [.good("rules", "are those of the configuration")]
            }
            let names = differing.map(\.description).joined(separator: ", ")
            return [
                .problem(
                    "rules", "differ from the configuration for \(names)",
                    "run \(Syntax.program) rules check, then rules set: docs/rules.md")
            ]
        } catch {
            return [
                .problem("rules", "\(error)", "correct the providers file: docs/configuration.md")
            ]
        }
    }

    private static func providers(
        _ configuration: ServeConfiguration, asks: Bool
    ) async -> [Diagnosis] {
        guard let path = configuration.providersPath else {
            return [.good("providers", "are those of the development mode")]
        }
        let tenants: [TenantID: TenantConfiguration]
        do throws(Fault) {
            tenants = try TenantSetup.read(path: path, limits: configuration.limits)
        } catch {
            return [.problem("providers", error.description, "see docs/configuration.md")]
        }
        var found: [Diagnosis] = []
        for (tenant, configured) in tenants.sorted(by: { $0.key < $1.key }) {
            for (name, provider) in configured.providers.sorted(by: { $0.key < $1.key }) {
                guard asks, case .oidc(let settings) = provider.settings else { continue }
                do {
                    try await settings.keys.reach()
                    found.append(.good("provider", "\(name) of \(tenant): its keys can be fetched"))
                } catch {
                    found.append(
                        .problem(
                            "provider", "\(name) of \(tenant): no keys: \(error)",
                            "check jwks_uri, and this machine's way to it (https_proxy)"))
                }
            }
        }
        return found.isEmpty ? [.good("providers", "the file is valid")] : found
    }
}
