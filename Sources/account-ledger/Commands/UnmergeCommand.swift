import CommandLine
import Ledger
import LedgerEngine
import LedgerPostgres

/// `unmerge`: undoes a merge.
enum UnmergeCommand {
    static let syntax = Syntax(
        words: ["unmerge"],
        summary: "undo a merge",
        operands: [.init(placeholder: "MERGE", meaning: "event id of the AccountsMerged")],
        options: [
            AdministeredCommand.reasonOption, MergeCase.option, APIKeyCommands.tenantOption,
            .init(name: "dry-run", meaning: "print what would be done and change nothing"),
        ],
        settings: MergeCase.settings,
        details: """
            Appends AccountsUnmerged: every identity returns to the account that it came from, with its place
            in linking order. Refused, with the reason, when something has changed since: an identity was
            unlinked or relinked, an account was erased, or another merge followed.
            """)

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        guard let merge = arguments.operands.first.flatMap({ EventID($0) }) else {
            throw arguments.usageError("MERGE must be an event id: a UUID")
        }
        let isDryRun = arguments.has("dry-run")
        let reason = isDryRun ? "" : try AdministeredCommand.reason(arguments)
        let reference = isDryRun ? "" : try MergeCase.read(arguments)
        let command = try AdministeredCommand(arguments, environment)
        let rules = try MergeCase.rules(environment, command)
        let fact = try await merged(merge, command, rules.keyring)
        var access = AccessRecord(by: nil, .undoMerge)
        access.event = merge
        access.account = fact.survivor
        access.reason = reason
        access.details = [
            "case": reference, "survivor": fact.survivor.description,
            "absorbed": fact.absorbed.description,
        ]
        guard !isDryRun else {
            let planned = try await command.run(
                UnmergeAccounts.Preview(
                    merge: merge, survivor: fact.survivor, absorbed: fact.absorbed, actor: .system),
                as: nil, keyring: rules.keyring, policy: rules.policy,
                noticeLanguage: rules.noticeLanguage)
            Terminal.print(planned.plan.text)
            return .success
        }
        let done = try await command.run(
            UnmergeAccounts(
                merge: merge, survivor: fact.survivor, absorbed: fact.absorbed, actor: .system,
                reason: reason, caseReference: reference, isPreview: false),
            as: access, keyring: rules.keyring, policy: rules.policy,
            noticeLanguage: rules.noticeLanguage)
        // Only principals are asked for another person.
        guard case .undone(let unmerged) = done else { throw Fault("the merge was not undone") }
        Terminal.print(unmerged.plan.text + "done\n")
        return .success
    }

    private static func merged(
        _ merge: EventID, _ command: AdministeredCommand, _ keyring: WrappingKeyring
    ) async throws(Fault) -> AccountsMerged {
        let faults = LastFault()
        let reads = EventReads(url: command.url, keyring: keyring) { faults.note($0) }
        let found: ShownEvent?
        do throws(LedgerFault) {
            found = try await reads.event(merge, in: command.tenant, isDisclosing: false)
        } catch {
            throw Fault(faults.last ?? "unknown cause")
        }
        guard case .accountsMerged(let fact) = found?.recorded?.event else {
            throw Fault("no merge \(merge) in tenant \(command.tenant)")
        }
        return fact
    }
}

extension UnmergeAccounts.Plan {
    /// The effects, one per line.
    fileprivate var text: String {
        var lines = ["separate account \(absorbed) from account \(survivor):"]
        for (account, links, providers) in [
            (absorbed, returned, absorbedProviders), (survivor, restored, survivorProviders),
        ] {
            lines += links.map {
                "  \($0.provider)  identity \($0.identity)  to account \(account)"
            }
            let names = providers.map(\.description).joined(separator: ", ")
            lines.append("  sign-in to account \(account) is then possible with \(names)")
        }
        return lines.map { $0 + "\n" }.joined()
    }
}
