import Cryptography
import Ledger
import LedgerPostgres

/// What the commands have in common that change the ledger in the operator's name, each with a reason.
///
/// The reason goes to the access log before anything is done; no entry of the log has a place for it.
struct AdministeredCommand: Sendable {
    static let reasonOption = Syntax.Option(
        name: "reason", placeholder: "TEXT",
        meaning: "why, such as a case number; goes to the access log; required")

    let url: String
    let tenant: TenantID
    /// Authenticates what is appended; nil where LEDGER_KEYS is not set.
    private let macs: MACKeys?

    init(url: String, tenant: TenantID, macs: MACKeys? = nil) {
        self.url = url
        self.tenant = tenant
        self.macs = macs
    }

    /// - Throws: `Fault` when the database is away or has no such tenant.
    init(_ arguments: Arguments, _ environment: Environment) throws {
        url = try environment.databaseURL
        tenant = try LedgerReading.tenant(arguments, url: url) ?? .default
        macs = try LedgerReading.macKeys(environment)
    }

    /// - Throws: `UsageError` unless there is one.
    static func reason(_ arguments: Arguments) throws(UsageError) -> String {
        guard let reason = try optionalReason(arguments) else {
            throw arguments.misuse("--reason is missing")
        }
        return reason
    }

    /// The reason, where there may be none.
    ///
    /// - Throws: `UsageError` for a text that can be none.
    static func optionalReason(_ arguments: Arguments) throws(UsageError) -> String? {
        try arguments.value(of: "reason", as: AccessReason.form) {
            AccessReason.allows($0) ? $0 : nil
        }
    }

    /// - Throws: `UsageError` when it can be none.
    static func account(_ arguments: Arguments) throws(UsageError) -> AccountID {
        guard let account = arguments.operands.first.flatMap({ AccountID($0) }) else {
            throw arguments.misuse("ACCOUNT is the id of an account: a UUID")
        }
        return account
    }

    /// Writes down what is about to be done.
    ///
    /// - Throws: `Fault` when it cannot be written down.
    func record(_ access: AccessRecord) async throws(Fault) {
        let faults = FaultNote()
        let gate = AccessGate(url: url) { faults.note($0) }
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
            throw Fault("the access log can't be written: \(faults.last ?? "no reason known")")
        }
    }

    /// Writes down what is about to be done and carries commands out, one after the other; ends at the
    /// first that is refused, which has a second line in the access log.
    ///
    /// - Parameters:
    ///   - intents: what is to be done.
    ///   - access: what the access log is told; nil for what changes nothing.
    ///   - keyring: for commands that disclose something, which is kept under an account's key.
    ///   - policy: for commands that depend on the tenant's rules.
    /// - Returns: what each gave back.
    /// - Throws: `Fault` with the refusal, or when what became of it is not known.
    func carryOut(
        _ intents: [Command.Intent], as access: AccessRecord?, keyring: WrappingKeyring? = nil,
        policy: TenantPolicy = TenantPolicy(providers: [])
    ) async throws(Fault) -> [Reply] {
        do {
            if let access { try await record(access) }
        } catch {
            throw Fault("nothing was done: \(error)")
        }
        guard let keyring = keyring ?? macs.map(Self.keyring) else {
            throw Fault(
                "\(Setting.keys.name) is not set: a key of it authenticates what is appended")
        }
        let faults = FaultNote()
        let sequencer = Sequencer(
            configuration: SequencerConfiguration(url: url),
            policy: { _ in policy }, keyring: keyring,
            onCommit: { _ in }, onFault: { faults.note($0) })
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
            case .failure:
                // Each run sets another hold; everything else is done once, however often.
                let advice =
                    if case .setLegalHold = intent {
                        "look at \(Syntax.program) hold list before you repeat the command"
                    } else {
                        "repeat the command"
                    }
                fault = Fault(
                    "what became of it is not known: \(faults.last ?? "no reason known"); \(advice)"
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
            throw Fault("\(fault); the access log says nothing of that: \(error)")
        }
        throw fault
    }

    private func submit(
        _ intent: Command.Intent, to sequencer: Sequencer
    ) async -> Result<Result<Reply, Refusal>, LedgerFault> {
        let command = Command(
            id: CommandID(at: .now, random: SecureRandom.uint128()), tenant: tenant,
            origin: Command.Origin(request: nil, clientIP: nil, userAgent: nil), intent: intent)
        do throws(LedgerFault) {
            return .success(try await sequencer.submit(command))
        } catch {
            return .failure(error)
        }
    }

    /// Most of an operator's commands disclose nothing, so that they need no encryption key; an erasure must
    /// be possible when those are lost, too.
    static func keyring(_ macs: MACKeys) -> WrappingKeyring {
        WrappingKeyring(currentID: "none", current: .generate(), macs: macs)
    }

    private static func text(of refusal: Refusal) -> String {
        switch refusal {
        case .unknownAccount: "the tenant has no such account"
        case .accountErased: "the account has been erased"
        case .erasurePlanChanged:
            "other accounts would be erased than was agreed to: see --dry-run, and --plan agrees to it"
        case .legalHold: "the account is under a legal hold: see \(Syntax.program) hold list"
        case .tooManyHolds: "the account has \(SetLegalHold.holdsMax) holds: more it can't have"
        case .unknownHold: "the account has no such hold: see \(Syntax.program) hold list"
        case .accountMerged(let survivor):
            "another account stands for it: it was merged into \(survivor)"
        case .sameAccount: "these are one account"
        case .tooMuchToMerge: "the accounts are too large for one merge"
        case .nothingToChoose(let provider):
            "--keep-absorbed names \(provider), of which not both accounts have an identity"
        case .mergePlanChanged: "the accounts have changed since the plan was made"
        case .onlyProvider: "an account would have no way to sign in"
        case .mergeSuperseded(let obstacle):
            "the merge can't be taken back any more: \(obstacle.rawValue)"
        case .relinkRefused(let obstacle):
            "the identity can't be linked again: \(obstacle.rawValue)"
        default: "refused: \(refusal)"
        }
    }
}
