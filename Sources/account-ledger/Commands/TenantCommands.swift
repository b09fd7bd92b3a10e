import Ledger
import LedgerPostgres

/// `tenant create`: begins a tenant's log.
enum TenantCreateCommand {
    static let syntax = Syntax(
        words: ["tenant", "create"],
        summary: "begin the log of a tenant",
        operands: [.init(placeholder: "NAME", meaning: "lower-case letters, digits, - and _")],
        settings: [.databaseURL, .keys, .mode],
        details: """
            Creating a tenant that exists changes nothing. The tenant 'default' is begun by serve. What
            signs in to a tenant is configured in the file of LEDGER_PROVIDERS; serve reads it at its start.
            """)

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        guard let tenant = arguments.operands.first.flatMap(TenantID.init) else {
            throw arguments.misuse(
                "a tenant's name is at most 63 lower-case letters, digits, - and _,"
                    + " beginning with a letter or a digit")
        }
        let url = try environment.databaseURL
        let mode = try environment.mode
        let directory = KeyDirectory(path: try environment.required(.keys))
        let book = try OpenedTenants.read(url: url)
        let keys = try book.keys(from: directory, mode: mode)
        guard book.facts[tenant] == nil else {
            Terminal.print("tenant \(tenant) exists already\n")
            return .success
        }
        let faults = FaultNote()
        let sequencer = Sequencer(
            configuration: SequencerConfiguration(url: url), policy: { _ in nil },
            keyring: keys.wrapping, onCommit: { _ in }, onFault: { faults.note($0) })
        async let finished: Void = sequencer.run()
        let result = await TenantOpening.open(tenant, mode: mode, keys: keys, on: sequencer)
        sequencer.close()
        await finished
        switch result {
        case .success:
            Terminal.print("tenant \(tenant) created\n")
            return .success
        case .failure:
            throw Fault("tenant \(tenant) was not created: \(faults.last ?? "no reason known")")
        }
    }
}

/// `tenant list`: which tenants there are.
enum TenantListCommand {
    static let syntax = Syntax(
        words: ["tenant", "list"], summary: "print the tenants and how many events each has",
        settings: [.databaseURL])

    static func run(_: Arguments, _ environment: Environment) async throws -> ExitCode {
        let tenants = try await Tenants(url: try environment.databaseURL).list()
        Terminal.print(
            tenants.map { "\($0.tenant)\t\($0.events) events\n" }.joined())
        return .success
    }
}
