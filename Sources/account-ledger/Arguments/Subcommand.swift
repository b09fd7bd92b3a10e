/// A subcommand of the program: its syntax and its implementation.
struct Subcommand: Sendable {
    /// Runs the subcommand; a thrown error is one line for the operator.
    typealias Body = @Sendable (Arguments, Environment) async throws -> ExitCode

    let syntax: Syntax
    let body: Body

    /// All subcommands, in the order in which the help lists them.
    static let all = [
        Subcommand(syntax: ServeCommand.syntax, body: ServeCommand.run),
        Subcommand(syntax: MigrateCommand.syntax, body: MigrateCommand.run),
        Subcommand(syntax: ReplayCommand.syntax, body: ReplayCommand.run),
        Subcommand(syntax: AccountCommand.syntax, body: AccountCommand.run),
        Subcommand(syntax: HistoryCommand.syntax, body: HistoryCommand.run),
        Subcommand(syntax: TimelineCommand.syntax, body: TimelineCommand.run),
        Subcommand(syntax: OwnerCommand.syntax, body: OwnerCommand.run),
        Subcommand(syntax: SearchCommand.syntax, body: SearchCommand.run),
        Subcommand(syntax: ConflictsCommand.syntax, body: ConflictsCommand.run),
        Subcommand(syntax: RebuildCommand.syntax, body: RebuildCommand.run),
        Subcommand(syntax: VerifyCommand.syntax, body: VerifyCommand.run),
        Subcommand(syntax: ProtectCommand.syntax, body: ProtectCommand.run),
        Subcommand(syntax: ExportCommand.syntax, body: ExportCommand.run),
        Subcommand(syntax: SealCommand.syntax, body: SealCommand.run),
        Subcommand(syntax: KeysInitCommand.syntax, body: KeysInitCommand.run),
        Subcommand(syntax: KeysListCommand.syntax, body: KeysListCommand.run),
        Subcommand(syntax: KeysRotateCommand.syntax, body: KeysRotateCommand.run),
        Subcommand(syntax: KeysRewrapCommand.syntax, body: KeysRewrapCommand.run),
        Subcommand(syntax: KeysRemoveCommand.syntax, body: KeysRemoveCommand.run),
        Subcommand(syntax: APIKeyCreateCommand.syntax, body: APIKeyCreateCommand.run),
        Subcommand(syntax: APIKeyListCommand.syntax, body: APIKeyListCommand.run),
        Subcommand(syntax: APIKeyRevokeCommand.syntax, body: APIKeyRevokeCommand.run),
        Subcommand(syntax: AccessLogCommand.syntax, body: AccessLogCommand.run),
        Subcommand(syntax: EraseCommand.syntax, body: EraseCommand.run),
        Subcommand(syntax: MergeCommand.syntax, body: MergeCommand.run),
        Subcommand(syntax: UnmergeCommand.syntax, body: UnmergeCommand.run),
        Subcommand(syntax: RelinkCommand.syntax, body: RelinkCommand.run),
        Subcommand(syntax: HoldSetCommand.syntax, body: HoldSetCommand.run),
        Subcommand(syntax: HoldLiftCommand.syntax, body: HoldLiftCommand.run),
        Subcommand(syntax: HoldListCommand.syntax, body: HoldListCommand.run),
        Subcommand(syntax: WebhookAddCommand.syntax, body: WebhookAddCommand.run),
        Subcommand(syntax: WebhookListCommand.syntax, body: WebhookListCommand.run),
        Subcommand(syntax: WebhookRemoveCommand.syntax, body: WebhookRemoveCommand.run),
        Subcommand(syntax: WebhookEnableCommand.syntax, body: WebhookEnableCommand.run),
        Subcommand(syntax: WebhookDisableCommand.syntax, body: WebhookDisableCommand.run),
        Subcommand(syntax: WebhookRotateCommand.syntax, body: WebhookRotateCommand.run),
        Subcommand(syntax: DeadLettersCommand.syntax, body: DeadLettersCommand.run),
        Subcommand(syntax: WebhookReplayCommand.syntax, body: WebhookReplayCommand.run),
        Subcommand(syntax: RestoreCheckCommand.syntax, body: RestoreCheckCommand.run),
        Subcommand(syntax: TenantCreateCommand.syntax, body: TenantCreateCommand.run),
        Subcommand(syntax: TenantListCommand.syntax, body: TenantListCommand.run),
    ]

    /// Finds the subcommand that the words name and runs it, or prints the requested help.
    static func carryOut(_ words: [String], environment: Environment) async throws -> ExitCode {
        guard let first = words.first else {
            throw UsageError(problem: "missing subcommand", command: [])
        }
        switch first {
        case "--version":
            Terminal.print("\(Syntax.program) \(Version.text)\n")
            return .success
        case "--help", "-h":
            return try help(about: [])
        case "help":
            return try help(about: Array(words.dropFirst()))
        default:
            break
        }
        guard let subcommand = all.first(where: { words.starts(with: $0.syntax.words) }) else {
            return try incomplete(words)
        }
        let arguments = try Arguments(
            words.dropFirst(subcommand.syntax.words.count), syntax: subcommand.syntax)
        guard !arguments.asksForHelp else {
            Terminal.print(HelpText.subcommand(subcommand.syntax))
            return .success
        }
        return try await subcommand.body(arguments, environment)
    }

    private static func help(about words: [String]) throws(UsageError) -> ExitCode {
        if words.isEmpty {
            Terminal.print(HelpText.program(all.map(\.syntax)))
        } else if let subcommand = all.first(where: { $0.syntax.words == words }) {
            Terminal.print(HelpText.subcommand(subcommand.syntax))
        } else if !members(of: words).isEmpty {
            Terminal.print(HelpText.group(words.joined(separator: " "), members(of: words)))
        } else {
            throw unknown(words.joined(separator: " "), in: [])
        }
        return .success
    }

    /// Handles a group without a subcommand, a group with an unknown one, and an unknown word.
    private static func incomplete(_ words: [String]) throws(UsageError) -> ExitCode {
        var group: [String] = []
        for word in words {
            guard !members(of: group + [word]).isEmpty else { break }
            group.append(word)
        }
        guard !group.isEmpty else { throw unknown(words[0], in: []) }
        guard words.count > group.count else {
            throw UsageError(
                problem: "\(group.joined(separator: " ")) requires a subcommand", command: group)
        }
        let next = words[group.count]
        guard next != "--help", next != "-h" else { return try help(about: group) }
        throw unknown(next, in: group)
    }

    private static func members(of group: [String]) -> [Syntax] {
        all.map(\.syntax).filter { $0.words.count > group.count && $0.words.starts(with: group) }
    }

    private static func unknown(_ word: String, in group: [String]) -> UsageError {
        let kind = word.hasPrefix("-") ? "option" : "subcommand"
        return UsageError(problem: "unknown \(kind) '\(Arguments.quoted(word))'", command: group)
    }
}
