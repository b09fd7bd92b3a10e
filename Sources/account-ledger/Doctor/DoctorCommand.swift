import CommandLine
import Foundation
import Ledger
import LedgerEngine
import LedgerMessages
import LedgerPostgres
import LedgerSignIn
import Postgres

/// `doctor`: checks the configuration and everything that a server depends on, and what to do about it.
enum DoctorCommand {
    static let syntax = Syntax(
        words: ["doctor"], summary: "check the configuration and what a server depends on",
        options: [
            .init(name: "offline", meaning: "without connections to others than the database")
        ],
        settings: Setting.allCases.filter { $0 != .migrateURL },
        details: """
            Checks, with the environment of serve: the settings and the files they name, the database with its
            version, durability, standbys, archive, clock, schema, guards and projections, the keys that its logs
            require, the rules of tenants, the sealer's record, free space, whether the key sets of identity
            providers can be fetched and their other endpoints connected to, whether the mail server takes a
            session, and whether the SMS service can be connected to. Changes nothing, and sends no mail, SMS or
            token. Prints a line for each check and what to do; exits with 1 when there is a problem. Listening
            addresses and receivers of webhooks are not tried.
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
        var files: ConfiguredFiles?
        do throws(Fault) {
            files = try ConfiguredFiles(configuration)
            report([.good("files", "of providers and staff are valid")])
            report(texts(files?.tenants ?? [:]))
        } catch {
            report([.problem("files", error.description, "see docs/configuration.md")])
        }
        report([FileDiagnosis.space("the keys", configuration.keys.path)])
        let database = DatabaseDiagnosis(url: configuration.databaseURL)
        report(database.found)
        if database.isUsable {
            report([KeyDiagnosis.keys(configuration)])
            report(files == nil ? [] : RulesDiagnosis.all(configuration, environment))
            report(await FileDiagnosis.sealer(configuration))
        }
        if !arguments.has("offline") {
            report(await ReachDiagnosis.all(files?.tenants ?? [:], configuration.messaging))
        }
        return isBad ? .fault : .success
    }

    /// Lists the texts of tenants that replace the built-in ones.
    private static func texts(_ tenants: [TenantID: TenantConfiguration]) -> [Diagnosis] {
        tenants.sorted { $0.key < $1.key }.compactMap { tenant, configured in
            let own = configured.messages.texts.keys.map(\.description).sorted()
            return own.isEmpty
                ? nil
                : .good("texts", "tenant \(tenant) has its own \(own.joined(separator: ", "))")
        }
    }
}
