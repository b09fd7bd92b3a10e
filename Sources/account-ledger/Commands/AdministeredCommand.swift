import Cryptography
import Ledger
import LedgerPostgres

/// What the commands have in common that change the ledger in the operator's name, each with a reason.
///
/// The reason goes to the access log before anything is done; no entry of the log has a place for it.
struct AdministeredCommand: Sendable {
    /// The longest reason, in characters; the same as over HTTP.
    private static let reasonCharactersMax = 255

    static let reasonOption = Syntax.Option(
        name: "reason", placeholder: "TEXT",
        meaning: "why, such as a case number; goes to the access log; required")

    let url: String
    let tenant: TenantID

    init(url: String, tenant: TenantID) {
        self.url = url
        self.tenant = tenant
    }

    /// - Throws: `Fault` when the database is away or has no such tenant.
    init(_ arguments: Arguments, _ environment: Environment) throws {
        url = try environment.databaseURL
        tenant = try LedgerReading.tenant(arguments, url: url) ?? .default
    }

    /// - Throws: `UsageError` unless there is one.
    static func reason(_ arguments: Arguments) throws(UsageError) -> String {
        let wanted = "1 to \(reasonCharactersMax) printable ASCII characters"
        let reason = try arguments.value(of: "reason", as: wanted) { text in
            let isPrintable = text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
            return isPrintable && text.utf8.count <= reasonCharactersMax ? text : nil
        }
        guard let reason else { throw arguments.misuse("--reason is missing") }
        return reason
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
            throw Fault(
                "nothing was done, because the access log can't be written: "
                    + (faults.last ?? "no reason known"))
        }
    }

    /// Carries commands out, one after the other; ends at the first that is refused.
    ///
    /// - Throws: `Fault` with the refusal, or when what became of it is not known.
    ///
    /// - Parameters:
    ///   - keyring: for commands that disclose something, which is kept under an account's key.
    ///   - policy: for commands that depend on the tenant's rules.
    func carryOut(
        _ intents: [Command.Intent], keyring: WrappingKeyring? = nil,
        policy: TenantPolicy = TenantPolicy(providers: [])
    ) async throws(Fault) -> [Reply] {
        let faults = FaultNote()
        let sequencer = Sequencer(
            configuration: SequencerConfiguration(url: url),
            policy: { _ in policy }, keyring: keyring ?? Self.noKeyring,
            onCommit: { _ in }, onFault: { faults.note($0) })
        async let finished: Void = sequencer.run()
        var replies: [Reply] = []
        var fault: Fault?
        for intent in intents where fault == nil {
            switch await submit(intent, to: sequencer) {
            case .success(.success(let reply)): replies.append(reply)
            case .success(.failure(let refusal)): fault = Fault(Self.text(of: refusal))
            case .failure:
                fault = Fault(
                    "what became of it is not known: \(faults.last ?? "no reason known");"
                        + " repeat the command")
            }
        }
        sequencer.close()
        await finished
        if let fault { throw fault }
        return replies
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

    /// Most of an operator's commands disclose nothing, so that they need no key; an erasure must be
    /// possible when keys are lost, too.
    private static var noKeyring: WrappingKeyring {
        guard let key = SymmetricKey(bytes: SecureRandom.bytes(32)) else {
            preconditionFailure("a key has 32 bytes")
        }
        return WrappingKeyring(currentID: "none", current: key)
    }

    private static func text(of refusal: Refusal) -> String {
        switch refusal {
        case .unknownAccount: "the tenant has no such account"
        case .accountErased: "the account has been erased"
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
        default: "refused: \(refusal)"
        }
    }
}
