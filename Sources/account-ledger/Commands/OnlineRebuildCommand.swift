import CommandLine
import LedgerEngine
import LedgerPostgres

/// `rebuild` with `--online`, `--roll-back` or `--drop-previous`: swaps tables.
enum OnlineRebuildCommand {
    /// A change to a projection's tables; the raw values are the flags.
    enum Change: String, CaseIterable {
        case online
        case rollBack = "roll-back"
        case dropPrevious = "drop-previous"
    }

    /// - Throws: `Fault` when the tables are unchanged.
    static func run(
        _ change: Change, of projection: ProjectionName, _ environment: Environment
    ) async throws -> ExitCode {
        // Reading them refuses a schema of another version.
        _ = try TenantOpenings.read(url: try environment.databaseURL)
        guard let keyring = try LedgerCommands.keyring(environment) else {
            throw Fault(
                "\(Setting.keys.name) is not set: the read model holds decrypted personal data")
        }
        let ownerURL = try environment.migrateURL
        try SchemaCheck.withConnection(to: ownerURL, named: environment.migrateSetting) { _ in }
        let rebuild = OnlineRebuild(
            ownerURL: ownerURL, keyring: keyring,
            onStep: { Terminal.printError("\(projection): \($0.rawValue)") })
        do {
            Terminal.print(try await text(of: change, of: projection, by: rebuild))
        } catch {
            await rebuild.close()
            guard let fault = error as? OnlineRebuildFault else { throw error }
            throw Fault(fault.description)
        }
        await rebuild.close()
        return .success
    }

    private static func text(
        of change: Change, of projection: ProjectionName, by rebuild: OnlineRebuild
    ) async throws -> String {
        switch change {
        case .online:
            let report = try await rebuild.run(projection)
            let differences = report.differences.map {
                "expected, because the version differs: \($0)\n"
            }
            let uncompared = report.uncompared.map {
                "tenant \($0) was not compared because \(report.previous) had stopped\n"
            }
            return (differences + uncompared).joined() + """
                \(projection) is now \(report.served); compared \(report.comparedRows) rows
                \(report.previous) is kept up to date for --roll-back until --drop-previous

                """
        case .rollBack:
            return "\(projection) is \(try await rebuild.rollBack(projection)) again\n"
        case .dropPrevious:
            return "\(try await rebuild.dropPrevious(projection)) is dropped\n"
        }
    }
}
