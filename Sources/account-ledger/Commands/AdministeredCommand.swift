import CommandLine
import Cryptography
import Ledger
import LedgerEngine
import LedgerMessages
import LedgerPostgres

/// Shared parts of the commands that change the ledger in the operator's name, each with a reason.
///
/// The reason goes to the access log before the command runs; entries of the log have no field for it.
struct AdministeredCommand: Sendable {
    static let reasonOption = Syntax.Option(
        name: "reason", placeholder: "TEXT",
        meaning: "reason such as a case number, for the access log; required")

    private static let identifiers = IdentifierBits()

    let url: String
    let tenant: TenantID
    /// The keys that authenticate appended events; nil when LEDGER_KEYS is not set.
    private let macs: MACKeys?

    init(url: String, tenant: TenantID, macs: MACKeys? = nil) {
        self.url = url
        self.tenant = tenant
        self.macs = macs
    }

    /// - Throws: `Fault` when the database can't be reached or has no such tenant.
    init(_ arguments: Arguments, _ environment: Environment) throws {
        url = try environment.databaseURL
        tenant = try LedgerCommands.tenant(arguments, url: url) ?? .default
        macs = try LedgerCommands.macKeys(environment)
    }

    /// Returns the reason.
    ///
    /// - Throws: `UsageError` when it is missing or malformed.
    static func reason(_ arguments: Arguments) throws(UsageError) -> String {
        guard let reason = try optionalReason(arguments) else {
            throw arguments.usageError("missing option --reason")
        }
        return reason
    }

    /// Returns the reason, or nil when it is absent.
    ///
    /// - Throws: `UsageError` when it is malformed.
    static func optionalReason(_ arguments: Arguments) throws(UsageError) -> String? {
        try arguments.value(of: "reason", as: AccessReason.form) {
            AccessReason.allows($0) ? $0 : nil
        }
    }

    /// Returns the id in the operand ACCOUNT.
    ///
    /// - Throws: `UsageError` when it is malformed.
    static func account(_ arguments: Arguments) throws(UsageError) -> AccountID {
        guard let account = arguments.operands.first.flatMap({ AccountID($0) }) else {
            throw arguments.usageError("ACCOUNT must be an account id: a UUID")
        }
        return account
    }

    /// Records a command in the access log before it runs.
    ///
    /// - Throws: `Fault` when the access log can't be written, or the tenant is being moved.
    func record(_ access: AccessRecord) async throws(Fault) {
        let faults = LastFault()
        let gate = AccessGate(url: url, refusesMoved: true) { faults.note($0) }
        async let finished: Void = gate.run()
        let result: Result<Void, LedgerFault>
        do throws(LedgerFault) {
            try await gate.record(access, in: tenant)
            result = .success(())
        } catch {
            result = .failure(error)
        }
        gate.close()
        await finished
        guard case .success = result else {
            throw Fault("can't write the access log: \(faults.last ?? "unknown cause")")
        }
    }

    /// Records commands in the access log and runs them one after the other; stops at the first refusal,
    /// which gets a second line in the access log.
    ///
    /// - Parameters:
    ///   - intents: the commands.
    ///   - access: the access log's record; nil for commands that change nothing.
    ///   - keyring: for commands whose disclosures are encrypted with an account's key.
    ///   - policy: for commands that depend on the tenant's rules, if none are recorded.
    ///   - noticeLanguage: for commands that account holders are told of; nil for a tenant without addresses.
    /// - Returns: the reply of each command.
    /// - Throws: `Fault` with the refusal, or when the outcome is unknown.
    func run(
        _ intents: [Command.Intent], as access: AccessRecord?, keyring: WrappingKeyring? = nil,
        policy: TenantPolicy = TenantPolicy(providers: []), noticeLanguage: MessageLanguage? = nil
    ) async throws(Fault) -> [Reply] {
        do {
            if let access { try await record(access) }
        } catch {
            throw Fault("nothing was changed: \(error)")
        }
        guard let keyring = keyring ?? macs.map(Self.keyring) else {
            throw Fault(
                "\(Setting.keys.name) is not set: it must hold the MAC key that authenticates events"
            )
        }
        let faults = LastFault()
        let sequencer = sequencer(
            keyring: keyring, policy: policy, noticeLanguage: noticeLanguage, faults: faults)
        async let finished: Void = sequencer.run()
        var replies: [Reply] = []
        var fault: Fault?
        var isRefused = false
        for intent in intents where fault == nil {
            switch await submit(intent, to: sequencer) {
            case .success(.success(let reply)): replies.append(reply)
            case .success(.failure(let refusal)):
                isRefused = true
                fault = Fault(Self.text(of: refusal))
            case .failure(.tenantMoved):
                fault = Fault("nothing was changed: \(faults.last ?? "the tenant was moved")")
            case .failure:
                // Each run sets another hold; all other commands are idempotent.
                let advice =
                    if case .setLegalHold = intent {
                        "check \(Syntax.program) hold list before repeating the command"
                    } else {
                        "repeat the command"
                    }
                fault = Fault(
                    "the outcome is unknown: \(faults.last ?? "unknown cause"); \(advice)"
                )
            }
        }
        sequencer.close()
        await finished
        guard let fault else { return replies }
        guard isRefused, var refused = access else { throw fault }
        refused.outcome = .refused
        do {
            try await record(refused)
        } catch {
            throw Fault("\(fault); the access log does not record the refusal: \(error)")
        }
        throw fault
    }

    /// Records a command in the access log, runs it, and returns its own result.
    ///
    /// - Throws: `Fault` with the refusal, or when the outcome is unknown.
    func run<Request: LedgerRequest>(
        _ request: Request, as access: AccessRecord?, keyring: WrappingKeyring? = nil,
        policy: TenantPolicy = TenantPolicy(providers: []), noticeLanguage: MessageLanguage? = nil
    ) async throws(Fault) -> Request.Success {
        let replies = try await run(
            [request.intent], as: access, keyring: keyring, policy: policy,
            noticeLanguage: noticeLanguage)
        guard let success = replies.first.flatMap(Request.success) else {
            throw Fault("unexpected reply to a command")
        }
        return success
    }

    /// Creates a sequencer for the tenant's commands; the caller runs and closes it.
    func sequencer(
        keyring: WrappingKeyring, policy: TenantPolicy, noticeLanguage: MessageLanguage?,
        faults: LastFault, batchLimit: Int? = nil
    ) -> Sequencer {
        var configuration = SequencerConfiguration(url: url)
        if let batchLimit {
            configuration.batchLimit = batchLimit
            // The caller limits the number of waiting commands.
            configuration.waitMax = .seconds(3600)
        }
        configuration.noticeLanguage = { _ in noticeLanguage }
        return Sequencer(
            configuration: configuration, policy: { _ in policy }, keyring: keyring,
            onCommit: { _ in }, onFault: { faults.note($0) })
    }

    /// Makes a command of no request.
    func command(_ intent: Command.Intent) -> Command {
        Command(
            id: CommandID(at: .now, random: Self.identifiers.next()), tenant: tenant,
            origin: Command.Origin(request: nil, clientIP: nil, userAgent: nil), intent: intent)
    }

    /// Submits a command to a sequencer.
    func submit(
        _ intent: Command.Intent, to sequencer: Sequencer
    ) async -> Result<Result<Reply, Refusal>, LedgerFault> {
        do throws(LedgerFault) {
            return .success(try await sequencer.submit(command(intent)))
        } catch {
            return .failure(error)
        }
    }

    /// Returns a keyring without encryption keys.
    ///
    /// Most of an operator's commands disclose nothing and need none; an erasure must be possible even
    /// when the keys are lost.
    static func keyring(_ macs: MACKeys) -> WrappingKeyring {
        WrappingKeyring(currentID: "none", current: .generate(), macs: macs)
    }

    private static func text(of refusal: Refusal) -> String {
        switch refusal {
        case .unknownAccount: "the tenant has no such account"
        case .accountErased: "the account has been erased"
        case .accountDisabled:
            "the account is disabled: \(Syntax.program) enable allows sign-ins, links and merges again"
        case .erasurePlanChanged:
            "the accounts to erase differ from the plan: run --dry-run and pass its plan with --plan"
        case .legalHold: "the account is under a legal hold; see \(Syntax.program) hold list"
        case .tooManyHolds: "the account already has \(SetLegalHold.holdsMax) holds, the maximum"
        case .unknownHold: "the account has no such hold; see \(Syntax.program) hold list"
        case .accountMerged(let survivor):
            "the account was merged into account \(survivor)"
        case .sameAccount: "the two accounts are the same account"
        case .tooMuchToMerge: "the accounts have too many identities or sessions for one merge"
        case .nothingToChoose(let provider):
            "--keep-absorbed names \(provider), but not both accounts have an identity of it"
        case .mergePlanChanged: "the accounts have changed since the dry run"
        case .onlyProvider: "the command would leave an account without a way to sign in"
        case .mergeSuperseded(let obstacle):
            "the merge can no longer be undone: \(obstacle.rawValue)"
        case .factorRefused(.sameKind):
            "the account could not be signed in to with its other second factors"
        case .providerNotLinked: "the account has no such identity"
        case .relinkRefused(let obstacle):
            "the identity can't be linked again: \(obstacle.rawValue)"
        case .providerPinned(let provider):
            "\(provider) has identities, and the configuration gives it another type or other issuers, whose"
                + " people would inherit the accounts: if the recorded ones are wrong, --accept-issuer"
                + " \(provider) records the others"
        case .accountsLockedOut(let providers):
            "accounts that have only \(providers.map(\.description).joined(separator: ", ")), or a second"
                + " factor of it, would be locked out: \(Syntax.program) rules check lists them,"
                + " --accept-lock-outs accepts it"
        case .rulesTooLong: "the providers are too long for an entry of the log"
        default: "refused: \(refusal)"
        }
    }
}
