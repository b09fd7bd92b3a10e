import Cryptography
import Ledger
import LedgerAPI
import LedgerPostgres

/// `erase`: destroys what is kept about the person of an account.
enum EraseCommand {
    /// How long the command waits for the read models before it leaves the rest to `serve`.
    private static let patience = Duration.seconds(5)

    static let syntax = Syntax(
        words: ["erase"],
        summary: "destroy what is kept about the person of an account",
        operands: [.init(placeholder: "ACCOUNT", meaning: "the account's id")],
        options: [
            AdministeredCommand.reasonOption,
            .init(
                name: "basis", placeholder: "WORD",
                meaning: "data_subject_request, retention or operator; default: operator"),
            APIKeyCommands.tenantOption,
            .init(name: "dry-run", meaning: "say what would be destroyed, and change nothing"),
            .init(
                name: "plan", placeholder: "DIGEST",
                meaning: "what --dry-run said; needed where merges made several accounts one"),
        ],
        settings: [.databaseURL, .keys],
        details: """
            Appends AccountErased and, in the same transaction, destroys the account's key, its identities
            and its row, and ends its sessions. The disclosures, which no key opens any more, and what the
            read models hold follow at once or when serve comes to them. The log and its proofs stay as they are. Refused while the account
            is under a legal hold. Where merges made several accounts one, all of them are erased, as
            --dry-run shows, and --plan agrees to that. Repeating it is harmless.
            """)

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        let account = try AdministeredCommand.account(arguments)
        let basis =
            try arguments.value(of: "basis", as: "data_subject_request, retention or operator") {
                AccountErased.Basis(rawValue: $0).flatMap { $0.canBeAsked ? $0 : nil }
            } ?? .operator
        if arguments.has("dry-run") {
            let command = try AdministeredCommand(arguments, environment)
            return try preview(of: account, command)
        }
        let agreement = try arguments.value(of: "plan", as: "what --dry-run said") {
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
        let replies = try await command.carryOut([.eraseAccount(intent)], as: access)
        guard case .erased(let position, let isNew, let covering) = replies.first else {
            throw Fault("the ledger gave another answer than to an erasure")
        }
        let before = isNew ? "is erased" : "was erased before"
        Terminal.print("account \(account) \(before), at position \(position)\n")
        let others = covering.filter { $0 != account }
        if !others.isEmpty {
            Terminal.print(
                "with it, because merges had made them one: "
                    + others.map(\.description).joined(separator: ", ") + "\n")
        }
        Terminal.print(
            try await destroy(covering, of: command.tenant, command.url) + "\n")
        return .success
    }

    /// Destroys what the erasures of accounts have left, as `serve` does, and says how far that came.
    static func destroy(
        _ accounts: [AccountID], of tenant: TenantID, _ url: String
    ) async throws -> String {
        let faults = FaultNote()
        let worker = ErasureWorker(url: url) { faults.note($0) }
        let deadline = ContinuousClock.now + patience
        while true {
            // Another process may be at it, and another account may stand in its way: only what is
            // noted of these is believed.
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
        return "what is left of it, which no key opens any more or the read models have to fold"
            + " first, goes as soon as serve has come to it"
    }

    /// What to say of an erasure that is done.
    private static func ended(besides formerSurvivors: [AccountID]) -> String {
        guard !formerSurvivors.isEmpty else { return "nothing of it is left" }
        return
            "what was its own is gone; a merge of it was taken back, and what was recorded while that"
            + " stood goes with the erasure of "
            + formerSurvivors.map(\.description).joined(separator: ", ")
    }

    private static func covering(_ accounts: [AccountID]) -> String {
        guard !accounts.isEmpty else { return "" }
        let names = accounts.map(\.description).joined(separator: ", ")
        return ", and with it, because merges have made them one, \(names)"
    }

    private static func preview(
        of account: AccountID, _ command: AdministeredCommand
    ) throws -> ExitCode {
        let preview = try SchemaCheck.withConnection(to: command.url) {
            try ErasurePreview.read(account, in: command.tenant, on: $0)
        }
        switch preview {
        case .unknown: throw Fault("tenant \(command.tenant) has no account \(account)")
        case .erased(let position):
            Terminal.print("account \(account) was erased before, at position \(position)\n")
            return .success
        case .living(let rows):
            Terminal.print(
                """
                account \(account) would be erased\(Self.covering(rows.covering.filter { $0 != account })):
                  events with disclosures about it, at most: \(rows.events)
                  identities that would be forgotten: \(rows.identities)
                  sessions that would end: \(rows.liveSessions)
                  key: \(rows.hasKey ? "would be destroyed" : "is not there")
                  legal holds: \(rows.holds.count)
                  plan: \(planDigest(rows.plan(of: account).bytes))

                """)
            guard rows.holds.isEmpty else {
                throw Fault("refused while the legal holds stand: nothing would be done")
            }
            return .success
        }
    }
}
