import CommandLine
import Cryptography
import Encodings
import Ledger
import LedgerAPI
import LedgerPostgres

/// `erase`: destroys the personal data of an account.
enum EraseCommand {
    /// Time to wait for the read models before the rest is left to `serve`.
    private static let patience = Duration.seconds(5)

    static let syntax = Syntax(
        words: ["erase"],
        summary: "destroy the personal data of an account",
        operands: [.init(placeholder: "ACCOUNT", meaning: "account id")],
        options: [
            AdministeredCommand.reasonOption,
            .init(
                name: "basis", placeholder: "WORD",
                meaning: "data_subject_request, retention or operator; default: operator"),
            APIKeyCommands.tenantOption,
            .init(name: "dry-run", meaning: "print what would be destroyed and change nothing"),
            .init(
                name: "plan", placeholder: "DIGEST",
                meaning: "plan printed by --dry-run; required for merged accounts"),
        ],
        settings: [.databaseURL, .keys],
        details: """
            Appends AccountErased and, in the same transaction, destroys the account's key, its identities and
            its row, and ends its sessions. Disclosures, which no key can decrypt any more, and rows of read
            models are deleted right away or by serve. The log and its proofs stay unchanged. Refused while
            the account is under a legal hold. For accounts joined by merges, all are erased, as --dry-run
            shows, and --plan is required. Repeating the command is harmless. It needs no second person, also in a
            tenant with erase_needs_two: an operator sets the rules and holds the keys.
            """)

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        let account = try AdministeredCommand.account(arguments)
        let basis =
            try arguments.value(of: "basis", as: "data_subject_request, retention or operator") {
                AccountErased.Basis(rawValue: $0).flatMap { $0.isRequestable ? $0 : nil }
            } ?? .operator
        if arguments.has("dry-run") {
            let command = try AdministeredCommand(arguments, environment)
            return try preview(of: account, command)
        }
        let agreement = try arguments.value(of: "plan", as: "a plan printed by --dry-run") {
            Base64URL.decode($0).flatMap { Digest($0) }.map {
                EraseAccount.Agreement.plan($0, planDigest)
            }
        }
        let reason = try AdministeredCommand.reason(arguments)
        let command = try AdministeredCommand(arguments, environment)
        var access = AccessRecord(by: nil, .eraseAccount)
        access.account = account
        access.reason = reason
        access.details = ["basis": basis.rawValue]
        let intent = EraseAccount(
            account: account, basis: basis, agreement: agreement ?? .named, actor: .system)
        let done = try await command.run(intent, as: access)
        guard case .erased(let erased) = done else {
            throw Fault("the account was not erased: \(done)")
        }
        let before = erased.isNew ? "was erased" : "had already been erased"
        Terminal.print("account \(account) \(before), at position \(erased.position)\n")
        let others = erased.covering.filter { $0 != account }
        if !others.isEmpty {
            Terminal.print(
                "also erased, because they had been merged: "
                    + others.map(\.description).joined(separator: ", ") + "\n")
        }
        Terminal.print(
            try await destroy(erased.covering, of: command.tenant, command.url) + "\n")
        return .success
    }

    /// Deletes the data that erasures have left, as `serve` does, and returns a line about the result.
    static func destroy(
        _ accounts: [AccountID], of tenant: TenantID, _ url: String
    ) async throws -> String {
        let faults = LastFault()
        let worker = ErasureWorker(url: url) { faults.note($0) }
        let deadline = ContinuousClock.now + patience
        while true {
            // Another process may do the same, and another account may block it: only the recorded
            // state of these accounts counts.
            _ = try? await worker.round()
            let outcome: String? = try SchemaCheck.withConnection(to: url) {
                guard try ErasurePreview.areDestroyed(accounts, of: tenant, on: $0) else {
                    return nil
                }
                return ended(
                    besides: try ErasurePreview.formerSurvivors(of: accounts, in: tenant, on: $0))
            }
            if let outcome { return outcome }
            guard ContinuousClock.now < deadline else { break }
            try await Task.sleep(for: .milliseconds(100))
        }
        return "the remaining data, which no key can decrypt or the read models still have to fold,"
            + " is deleted by serve"
    }

    /// The line for a completed erasure.
    private static func ended(besides formerSurvivors: [AccountID]) -> String {
        guard !formerSurvivors.isEmpty else { return "all of its data is deleted" }
        return
            "its own data is deleted; one of its merges was undone, and the data recorded while it"
            + " was in effect is deleted with the erasure of "
            + formerSurvivors.map(\.description).joined(separator: ", ")
    }

    private static func covering(_ accounts: [AccountID]) -> String {
        guard !accounts.isEmpty else { return "" }
        let names = accounts.map(\.description).joined(separator: ", ")
        return ", and also, because they were merged, \(names)"
    }

    private static func preview(
        of account: AccountID, _ command: AdministeredCommand
    ) throws -> ExitCode {
        let preview = try SchemaCheck.withConnection(to: command.url) {
            try ErasurePreview.read(account, in: command.tenant, on: $0)
        }
        switch preview {
        case .unknown: throw Fault("no account \(account) in tenant \(command.tenant)")
        case .erased(let position):
            Terminal.print("account \(account) was already erased, at position \(position)\n")
            return .success
        case .living(let rows):
            Terminal.print(
                """
                account \(account) would be erased\(Self.covering(rows.covering.filter { $0 != account })):
                  events with disclosures about it (at most): \(rows.events)
                  identities to delete: \(rows.identities)
                  sessions to end: \(rows.liveSessions)
                  key: \(rows.hasKey ? "would be destroyed" : "does not exist")
                  legal holds: \(rows.holds.count)
                  plan: \(planDigest(rows.plan(of: account).bytes))

                """)
            guard rows.holds.isEmpty else {
                throw Fault("refused because of the legal holds: nothing would be erased")
            }
            return .success
        }
    }
}
