import CommandLine
import LedgerImport

extension Program<Environment> {
    /// The program, with its subcommands in the order of the help.
    static var accountLedger: Program {
        Program(
            name: Syntax.program,
            summary:
                "Records which sign-in identities belong to which account, in a log that can be verified.",
            version: Version.text, subcommands: subcommands + imports)
    }

    private static let imports = ImportFormat.allCases.map { format in
        let command = ImportAccountsCommand(format: format)
        return Subcommand<Environment>(syntax: command.syntax, body: command.run)
    }

    private static let subcommands: [Subcommand<Environment>] = [
        Subcommand(syntax: ServeCommand.syntax, body: ServeCommand.run),
        Subcommand(syntax: MigrateCommand.syntax, body: MigrateCommand.run),
        Subcommand(syntax: DoctorCommand.syntax, body: DoctorCommand.run),
        Subcommand(syntax: ReplayCommand.syntax, body: ReplayCommand.run),
        Subcommand(syntax: AccountCommand.syntax, body: AccountCommand.run),
        Subcommand(syntax: HistoryCommand.syntax, body: HistoryCommand.run),
        Subcommand(syntax: TimelineCommand.syntax, body: TimelineCommand.run),
        Subcommand(syntax: OwnerCommand.syntax, body: OwnerCommand.run),
        Subcommand(syntax: SearchCommand.syntax, body: SearchCommand.run),
        Subcommand(syntax: ConflictsCommand.syntax, body: ConflictsCommand.run),
        Subcommand(syntax: MessagesCommand.syntax, body: MessagesCommand.run),
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
        Subcommand(syntax: DisableCommand.syntax, body: DisableCommand.run),
        Subcommand(syntax: EnableCommand.syntax, body: EnableCommand.run),
        Subcommand(syntax: EndSessionsCommand.syntax, body: EndSessionsCommand.run),
        Subcommand(syntax: RemoveFactorCommand.syntax, body: RemoveFactorCommand.run),
        Subcommand(syntax: UnlinkIdentityCommand.syntax, body: UnlinkIdentityCommand.run),
        Subcommand(
            syntax: ImportPasswordsCommand.syntax, body: ImportPasswordsCommand.run),
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
        Subcommand(syntax: TenantCopyCommand.syntax, body: TenantCopyCommand.run),
        Subcommand(syntax: TenantDiscardCommand.syntax, body: TenantDiscardCommand.run),
        Subcommand(syntax: RulesShowCommand.syntax, body: RulesShowCommand.run),
        Subcommand(syntax: RulesCheckCommand.syntax, body: RulesCheckCommand.run),
        Subcommand(syntax: RulesSetCommand.syntax, body: RulesSetCommand.run),
    ]
}
