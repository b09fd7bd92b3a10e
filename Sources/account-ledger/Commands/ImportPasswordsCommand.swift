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
        guard let lines = FileLines(of: path) else { throw Fault("\(path) can't be read") }
        let command = try AdministeredCommand(arguments, environment)
        let rules = try MergeCase.rules(environment, command)
        let candidates = rules.policy.providers.filter { $0.value.type == .password }.keys
        guard let provider = named ?? (candidates.count == 1 ? candidates.first : nil),
            candidates.contains(provider)
        else { throw Fault("the tenant has no such provider of type password") }
        let localParts = try TenantSetup.localParts(of: command.tenant, environment)
        if !isDryRun {
            var access = AccessRecord(by: nil, .importPasswords)
            access.reason = reason
            access.details = ["provider": provider.description]
            try await command.record(access)
        }
        let secrets = rules.keyring.secrets
        let faults = LastFault()
        let sequencer = command.sequencer(
            keyring: rules.keyring, policy: rules.policy, noticeLanguage: nil, faults: faults)
        let importer = PasswordImporter(
            command: command, sequencer: sequencer, faults: faults, provider: provider,
            isDryRun: isDryRun,
            hasher: PasswordHasher(peppers: try LedgerCommands.peppers(environment)),
            names: AddressNames(current: secrets.currentID, keys: secrets.keys),
            localParts: localParts)
        async let finished: Void = sequencer.run()
        let counted = await importAll(lines, importer)
        sequencer.close()
        await finished
        return report(try counted.get(), isDryRun)
    }

    /// Imports the lines and returns the number of each outcome.
    private static func importAll(
        _ file: FileLines, _ importer: PasswordImporter
    ) async -> Result<[PasswordImporter.Outcome: Int], any Error> {
        var lines = file
        var counts: [PasswordImporter.Outcome: Int] = [:]
        var number = 0
        do {
            while true {
                let group = try nextGroup(&lines, &number)
                guard !group.isEmpty else { return .success(counts) }
                for result in try await importer.run(group) {
                    counts[result.outcome.counted, default: 0] += 1
                    if case .refused(let reason) = result.outcome {
                        Terminal.printError("line \(result.number): \(reason)")
                    }
                }
                if number / linesPerReport > (number - group.count) / linesPerReport {
                    Terminal.printError("\(number) lines so far")
                }
            }
        } catch {
            return .failure(error)
        }
    }

    /// Returns the next lines that are not empty, each with its number.
    private static func nextGroup(
        _ lines: inout FileLines, _ number: inout Int
    ) throws(Fault) -> [PasswordImporter.Line] {
        var group: [PasswordImporter.Line] = []
        while group.count < groupMax, let line = try lines.next() {
            number += 1
            if !line.isEmpty { group.append(PasswordImporter.Line(number: number, bytes: line)) }
        }
        return group
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

    struct Line: Sendable {
        let number: Int
        let bytes: [UInt8]
    }

    struct Imported: Sendable {
        let number: Int
        let outcome: Outcome
    }

    let command: AdministeredCommand
    let sequencer: Sequencer
    let faults: LastFault
    let provider: ProviderName
    let isDryRun: Bool
    let names: AddressNames
    let localParts: EmailLocalParts
    private let hasher: PasswordHasher
    private let pool = BlockingPool(
        label: "account-ledger import", threads: ProcessInfo.processInfo.activeProcessorCount,
        waitingMax: .max / 2)

    init(
        command: AdministeredCommand, sequencer: Sequencer, faults: LastFault,
        provider: ProviderName, isDryRun: Bool, hasher: PasswordHasher, names: AddressNames,
        localParts: EmailLocalParts
    ) {
        self.command = command
        self.sequencer = sequencer
        self.faults = faults
        self.provider = provider
        self.isDryRun = isDryRun
        self.hasher = hasher
        self.names = names
        self.localParts = localParts
    }

    /// Returns the outcome of each line, in order.
    func run(_ group: [Line]) async throws -> [Imported] {
        var results: [Imported] = []
        try await withThrowingTaskGroup(of: Imported.self) { tasks in
            for line in group {
                tasks.addTask {
                    Imported(number: line.number, outcome: try await outcome(of: line.bytes))
                }
            }
            for try await result in tasks { results.append(result) }
        }
        return results.sorted { $0.number < $1.number }
    }

    private func outcome(of line: [UInt8]) async throws -> Outcome {
        guard line.count <= FileLines.bytesMax else {
            return .refused("the line is longer than \(FileLines.bytesMax) bytes")
        }
        let read: PasswordImport
        do { read = try PasswordImport(line, localParts) } catch { return .refused(error.rawValue) }
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
        let request = read.command(
            NewPassword(hash: hash.text), for: provider, in: command.tenant, names: names,
            newID: SecureRandom.uint128, at: .now)
        guard let request else { throw Fault("the key directory has no key for addresses") }
        switch await command.submit(request.intent, to: sequencer) {
        case .failure:
            throw Fault(
                "the outcome is unknown: \(faults.last ?? "unknown cause"); repeat the command")
        case .success(.success(let reply)):
            guard let success = ImportPassword.success(in: reply) else {
                throw Fault("unexpected reply to a command")
            }
            return .imported(success.effect)
        case .success(.failure(.accountNotFound)): return .refused("no account has the identity")
        case .success(.failure(.providerConflict)):
            return .refused("another account has the address")
        case .success(.failure(let refusal)): return .refused("refused: \(refusal)")
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
