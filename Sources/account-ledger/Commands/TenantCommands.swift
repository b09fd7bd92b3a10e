import CommandLine
import Ledger
import LedgerEngine
import LedgerPostgres

/// `tenant create`: creates a tenant and begins its log.
enum TenantCreateCommand {
    static let syntax = Syntax(
        words: ["tenant", "create"],
        summary: "create a tenant and begin its log",
        operands: [.init(placeholder: "NAME", meaning: "lower-case letters, digits, - and _")],
        settings: [.databaseURL, .keys, .mode],
        details: """
            Creating an existing tenant changes nothing. serve creates the tenant 'default'. The file of
            LEDGER_PROVIDERS configures each tenant's providers; serve reads it at startup.
            """)

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        guard let tenant = arguments.operands.first.flatMap(TenantID.init) else {
            throw arguments.usageError(
                "NAME must be at most 63 lower-case letters, digits, - and _,"
                    + " beginning with a letter or a digit")
        }
        let url = try environment.databaseURL
        let mode = try environment.mode
        let directory = KeyDirectory(path: try environment.required(.keys))
        let book = try TenantOpenings.read(url: url, macs: try directory.loadMACKeys())
        let keys = try book.keys(from: directory, mode: mode)
        let refused = book.refused(with: keys.wrapping.macs, from: directory)
        if let move = book.moves[tenant] { throw Fault("tenant \(tenant) \(move.description)") }
        if let fault = refused[tenant.description] {
            throw Fault("tenant \(tenant) can't be created: \(fault)")
        }
        // A log from before the first pepper names it from then on.
        let unnamed = book.keys(of: .pepper, in: tenant).isEmpty ? keys.announcedPepperID : nil
        let exists = book.tenants.contains(tenant)
        guard !exists || unnamed != nil else {
            Terminal.print("tenant \(tenant) already exists\n")
            return .success
        }
        let faults = LastFault()
        let sequencer = Sequencer(
            configuration: SequencerConfiguration(url: url), policy: { _ in nil },
            keyring: keys.wrapping, onCommit: { _ in }, onFault: { faults.note($0) })
        async let finished: Void = sequencer.run()
        let result =
            if exists, let unnamed {
                await TenantOpening.record(pepper: unnamed, of: tenant, on: sequencer)
            } else {
                await TenantOpening.open(tenant, mode: mode, keys: keys, on: sequencer)
            }
        sequencer.close()
        await finished
        switch result {
        case .success:
            Terminal.print("tenant \(tenant) created\n")
            return .success
        case .failure:
            throw Fault("tenant \(tenant) was not created: \(faults.last ?? "unknown cause")")
        }
    }
}

/// `tenant list`: prints the tenants.
enum TenantListCommand {
    static let syntax = Syntax(
        words: ["tenant", "list"],
        summary: "print the tenants with their numbers of events, and where moved ones are",
        settings: [.databaseURL])

    static func run(_: Arguments, _ environment: Environment) async throws -> ExitCode {
        let directory = Tenants(url: try environment.databaseURL)
        let moves = try await directory.moves()
        Terminal.print(
            try await directory.list().map { tenant, events in
                let move = moves[tenant].map { "\t\($0.description)" } ?? ""
                return "\(tenant)\t\(events) events\(move)\n"
            }.joined())
        return .success
    }
}
