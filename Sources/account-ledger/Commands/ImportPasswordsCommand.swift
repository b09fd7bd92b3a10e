import BlockingCalls
import CommandLine
import Cryptography
import Foundation
import Ledger
import LedgerEngine
import LedgerPostgres
import LedgerSignIn
import Passwords

/// `import passwords`: imports passwords of another system.
enum ImportPasswordsCommand {
    static let syntax = Syntax(
        words: ["import", "passwords"],
        summary: "import addresses and password hashes of another system",
        operands: [.init(placeholder: "FILE", meaning: "JSON objects, one in each line")],
        options: [
            AdministeredCommand.reasonOption, APIKeyCommands.tenantOption,
            .init(
                name: "provider", placeholder: "NAME",
                meaning: "the provider of type password; default: the only one"),
            .init(name: "dry-run", meaning: "check the file and change nothing"),
        ],
        settings: MergeCase.settings,
        details: """
            Each line is {"email":"...","email_verified":true,"hash":"..."}. The account that has the address
            gets the password; without one, an account is opened. With "provider" and "provider_id" it is the
            account of that identity. An account that has a password keeps it, and one that has unlinked it stays
            without, so the command may be repeated.
            Lines that can't be imported are listed by number, and the others are imported.
            """)

    private static let groupMax = 64
    private static let linesPerReport = 10_000

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        let isDryRun = arguments.has("dry-run")
        let reason = isDryRun ? "" : try AdministeredCommand.reason(arguments)
        let named = try arguments.value(of: "provider", as: "a provider name", ProviderName.init)
        let path = arguments.operands.first ?? ""
        guard var lines = FileLines(of: path) else { throw Fault("\(path) can't be read") }
        let command = try AdministeredCommand(arguments, environment)
        let rules = try MergeCase.rules(environment, command)
        let candidates = rules.policy.providers.filter { $0.value.type == .password }.keys
        guard let provider = named ?? (candidates.count == 1 ? candidates.first : nil),
            candidates.contains(provider)
        else { throw Fault("the tenant has no such provider of type password") }
        if !isDryRun {
            var access = AccessRecord(by: nil, .importPasswords)
            access.reason = reason
            access.details = ["provider": provider.description]
            try await command.record(access)
        }
        let secrets = rules.keyring.secrets
        let importer = PasswordImporter(
            provider: provider, tenant: command.tenant, isDryRun: isDryRun,
            names: AddressNames(current: secrets.currentID, keys: secrets.keys))
        var counts: [PasswordImporter.Outcome: Int] = [:]
        try await command.withSequencer(keyring: rules.keyring, policy: rules.policy) { submit in
            var number = 0
            while true {
                var group: [(number: Int, line: [UInt8])] = []
                while group.count < groupMax, let line = try lines.next() {
                    number += 1
                    if !line.isEmpty { group.append((number: number, line: line)) }
                }
                guard !group.isEmpty else { break }
                for (number, outcome) in try await importer.run(group, submit) {
                    counts[outcome.counted, default: 0] += 1
                    if case .refused(let reason) = outcome {
                        Terminal.printError("line \(number): \(reason)")
                    }
                }
                if number / linesPerReport > (number - group.count) / linesPerReport {
                    Terminal.printError("\(number) lines so far")
                }
            }
        }
        return report(counts, isDryRun)
    }

    private static func report(
        _ counts: [PasswordImporter.Outcome: Int], _ isDryRun: Bool
    ) -> ExitCode {
        let refused = counts[.refused(""), default: 0]
        if isDryRun {
            Terminal.print("\(counts[.valid, default: 0]) valid lines, \(refused) others\n")
        } else {
            Terminal.print(
                """
                opened accounts: \(counts[.imported(.opened), default: 0])
                passwords of accounts that had none: \(counts[.imported(.added), default: 0])
                accounts that have, or gave up, a password or the address: \(counts[.imported(.kept), default: 0])
                lines that were not imported: \(refused)

                """)
        }
        return refused == 0 ? .success : .fault
    }
}

/// Imports groups of lines, each line by a command of its own.
private struct PasswordImporter: Sendable {
    enum Outcome: Hashable, Sendable {
        case imported(ImportPassword.Effect)
        /// In a dry run.
        case valid
        case refused(String)

        /// The outcome without a reason.
        var counted: Outcome { if case .refused = self { .refused("") } else { self } }
    }

    typealias Submit = @Sendable (Command.Intent) async throws(Fault) -> Result<Reply, Refusal>

    let provider: ProviderName
    let tenant: TenantID
    let isDryRun: Bool
    let names: AddressNames
    private let hasher = PasswordHasher()
    private let pool = BlockingPool(
        label: "account-ledger import", threads: ProcessInfo.processInfo.activeProcessorCount,
        waitingMax: .max / 2)

    init(provider: ProviderName, tenant: TenantID, isDryRun: Bool, names: AddressNames) {
        self.provider = provider
        self.tenant = tenant
        self.isDryRun = isDryRun
        self.names = names
    }

    /// Returns the outcome of each line, in order.
    func run(
        _ group: [(number: Int, line: [UInt8])], _ submit: @escaping Submit
    ) async throws -> [(number: Int, outcome: Outcome)] {
        let outcomes = try await withThrowingTaskGroup { tasks in
            for (number, line) in group {
                tasks.addTask {
                    (number: number, outcome: try await outcome(of: line, submit))
                }
            }
            return try await tasks.reduce(into: []) { $0.append($1) }
        }
        return outcomes.sorted { $0.number < $1.number }
    }

    private func outcome(of line: [UInt8], _ submit: Submit) async throws -> Outcome {
        guard line.count <= FileLines.bytesMax else {
            return .refused("the line is longer than \(FileLines.bytesMax) bytes")
        }
        let read: PasswordImport
        do { read = try PasswordImport(line) } catch { return .refused(error.rawValue) }
        let hash: PasswordHash
        do {
            hash = try await pool.admit().run { [hasher, isDryRun] in
                isDryRun ? try PasswordHash(read.hash) : try hasher.adopt(read.hash)
            }
        } catch let fault as AdoptionFault {
            return .refused(fault.text)
        } catch let fault as PasswordHashFault {
            return .refused(AdoptionFault.hash(fault).text)
        }
        guard !isDryRun else { return .valid }
        let command = read.command(
            NewPassword(hash: hash.text), for: provider, in: tenant, names: names,
            newID: SecureRandom.uint128, at: .now)
        guard let command else { throw Fault("the key directory has no key for addresses") }
        switch try await submit(command.intent) {
        case .success(let reply):
            guard let success = ImportPassword.success(in: reply) else {
                throw Fault("unexpected reply to a command")
            }
            return .imported(success.effect)
        case .failure(.accountNotFound): return .refused("no account has the identity")
        case .failure(.providerConflict): return .refused("another account has the address")
        case .failure(let refusal): return .refused("refused: \(refusal)")
        }
    }
}

extension AdoptionFault {
    fileprivate var text: String {
        switch self {
        case .hash(.tooLong): "the hash is too long"
        case .hash(.unsupported): "the hash is of no supported scheme"
        case .hash(.malformed): "the hash is malformed"
        case .hash(.costTooHigh): "the hash costs too much to verify"
        case .hashing: "the hash can't be wrapped"
        }
    }
}
