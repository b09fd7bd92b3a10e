import Ledger
import LedgerTestSupport

@testable import LedgerEngine

/// A client's request; every arrival of it becomes its own command, as behind the API.
enum Request: Sendable {
    case open
    case rotateKey
    case signIn(Subject, email: Email?, createAccount: Bool)
    case link(Caller, Subject, token: Digest, key: IdempotencyKey?, isInvalid: Bool)
    case unlink(Caller, ProviderName, key: IdempotencyKey?)
    case signOut(Caller, SignedOut.Scope)
    case refresh(SessionID, presented: Digest)
    case erase(AccountID)
    case hold(AccountID)
    case lift(AccountID, HoldID)
    case changeAccess(AccountID, ChangeAccess.Change)
    case enrol(Caller, FactorKind)
    case removeFactor(RemoveFactor.Authority, FactorID)
    case planRemoval(AccountID, FactorID)
    case planUnlink(AccountID, IdentityID)
    case endUnlinkPlan(EndUnlinkPlan.Ending, IdentityID)
    /// A sign-in that an account refused without a second factor.
    case secondStep(Proof, AccountID)
    /// A change of the first address of the caller to the second one.
    case changeAddress(Caller, String, String)
    case takeBack(String)
    case recordRestore
    case setRules(TenantPolicy)
    case merge(MergeAccounts)
    case relink(AccountID, IdentityID)
    case unmerge(
        EventID, survivor: AccountID, absorbed: AccountID, key: IdempotencyKey?)
}

extension World {
    /// How long a client waits for an answer.
    static let patience: Int64 = 12_000_000

    /// Sends a request to a process slot and waits for the outcome.
    func call(_ request: Request, tenant: TenantID, slot: Int) async -> Call.Outcome {
        let call = Call()
        send(request, tenant: tenant, slot: slot, for: call)
        if strikes(.duplicate) {
            send(
                request, tenant: tenant, slot: dice.number(0...parameters.processes - 1),
                for: call)
        }
        scheduler.after(microseconds: Self.patience) { call.conclude(.lost) }
        return await call.wait()
    }

    /// The time of a transmission.
    private var transit: Int64 {
        strikes(.slowNetwork)
            ? dice.microseconds(10_000...4_000_000) : dice.microseconds(100...2000)
    }

    private func send(_ request: Request, tenant: TenantID, slot: Int, for call: Call) {
        scheduler.after(microseconds: transit) { [self] in
            guard let process = process(at: slot), let sequencer = process.sequencer else {
                return call.conclude(.lost)
            }
            process.expect(call)
            Task(executorPreference: process.lane) { [self] in
                await deliver(request, tenant: tenant, to: process, sequencer, for: call)
            }
        }
    }

    private func deliver(
        _ request: Request, tenant: TenantID, to process: SimulatedProcess,
        _ sequencer: Sequencer, for call: Call
    ) async {
        let command = command(request, tenant: tenant)
        if strikes(.poison) { poison(command.id) }
        let delivery = history.ask(command, of: process.number, after: database.journalCount)
        trace("asked \(delivery): \(command.summary)", in: process)
        if sequencer.statistics.queueDepth < parameters.queueLimit { process.queue(delivery) }
        let answer = await submit(command, to: sequencer)
        guard process.isAlive else { return }
        history.answer(delivery, answer, after: database.journalCount)
        trace("answered \(delivery): \(answer.summary)", in: process)
        guard !strikes(.replyLost) else { return }
        scheduler.after(microseconds: transit) {
            call.conclude(.answered(answer, command: command))
        }
    }

    private func submit(_ command: Command, to sequencer: Sequencer) async -> Sequencer.Answer {
        do throws(LedgerFault) {
            return .success(try await sequencer.submit(command))
        } catch {
            return .failure(error)
        }
    }

    private func command(_ request: Request, tenant: TenantID) -> Command {
        Command(
            id: dice.id(), tenant: tenant,
            origin: Command.Origin(request: dice.id(), clientIP: "203.0.113.7", userAgent: nil),
            intent: intent(request, in: tenant))
    }

    private func isAnonymous(_ subject: Subject) -> Bool {
        subject.provider == RandomCommands.anonymous
    }

    private func intent(_ request: Request, in tenant: TenantID) -> Command.Intent {
        switch request {
        case .open:
            .openLedger(
                OpenLedger(
                    LedgerOpened(mode: .development, encryptionKey: "test", tokenKey: "test")))
        case .rotateKey:
            .rotateKey(RotateKey(KeyRotated(kind: .token, key: "test", former: "test")))
        case .signIn(let subject, let email, let createAccount):
            .signIn(
                SignIn(
                    proof(
                        subject, email: isAnonymous(subject) ? nil : email,
                        authenticatedAt: database.now,
                        methods: isAnonymous(subject) ? .anonymous : .federated, in: tenant),
                    createAccount: createAccount, refreshToken: dice.digest(),
                    newAccount: dice.id(), newIdentity: dice.id(), newSession: dice.id()))
        case .link(let caller, let subject, let token, let key, let isInvalid):
            .linkProvider(
                LinkProvider(
                    caller: caller,
                    credential: Credential(
                        provider: subject.provider, digest: token,
                        check: isInvalid
                            ? .failure(.invalid) : .success(proof(subject, in: tenant))),
                    idempotency: key, newIdentity: dice.id()))
        case .unlink(let caller, let provider, let key):
            .unlinkProvider(
                UnlinkProvider(
                    caller: caller, provider: provider, identity: nil, idempotency: key))
        case .signOut(let caller, let scope):
            .signOut(SignOut(caller: caller, scope: scope))
        case .refresh(let session, let presented):
            refresh(session, presented: presented)
        case .erase(let account):
            .eraseAccount(
                EraseAccount(account: account, basis: .dataSubjectRequest, actor: .system))
        case .hold(let account):
            .setLegalHold(SetLegalHold(account: account, newHold: dice.id(), actor: .system))
        case .lift(let account, let hold):
            .liftLegalHold(LiftLegalHold(account: account, hold: hold, actor: .system))
        case .changeAccess(let account, let change):
            .changeAccess(
                ChangeAccess(
                    change, of: account, actor: .system, reason: "stolen", caseReference: "6"))
        case .enrol(let caller, let kind):
            .enrolFactor(
                EnrolFactor(
                    caller: caller, factor: factor(kind), recoveryCodes: factor(.recoveryCodes),
                    token: nil, refreshToken: dice.digest(), newSession: dice.id()))
        case .removeFactor(let authority, let factor):
            .removeFactor(RemoveFactor(factor, by: authority))
        case .planRemoval(let account, let factor):
            .planFactorRemoval(
                PlanFactorRemoval(
                    dice.chance(0.7) ? .plan : .stop, of: factor, of: account, actor: .system,
                    reason: "lost", caseReference: "5"))
        case .planUnlink(let account, let identity):
            .planUnlink(
                PlanUnlink(
                    dice.chance(0.8) ? .plan : .stop, of: identity, of: account, actor: .system,
                    reason: "not theirs", caseReference: "4"))
        case .endUnlinkPlan(let ending, let identity):
            .endUnlinkPlan(EndUnlinkPlan(of: identity, ending))
        case .secondStep(let proof, let account):
            .signIn(
                SignIn(
                    proof, secondFactor: secondFactor(of: account, in: tenant),
                    createAccount: false, refreshToken: dice.digest(), newAccount: dice.id(),
                    newIdentity: dice.id(), newSession: dice.id()))
        case .changeAddress(let caller, let present, let address):
            .changeAddress(
                ChangeAddress(
                    SessionRenewal(
                        caller: caller, password: nil, refreshToken: dice.digest(),
                        newSession: dice.id()),
                    from: Self.names(of: present, new: dice.id()),
                    to: proof(Self.addressSubject(address), in: tenant),
                    newFormer: dice.id()))
        case .takeBack(let address):
            .takeBackAddress(
                TakeBackAddress(
                    proof(Self.addressSubject(address), in: tenant), password: nil))
        case .recordRestore:
            .recordRestore(RecordRestore(LedgerRestored(origin: 2, root: dice.digest(), size: 1)))
        case .setRules(let policy):
            .setRules(SetRules(policy, condition: .withoutLockOuts))
        case .merge(let merge): .mergeAccounts(merge)
        case .relink(let account, let identity):
            // The link's disclosures are read first, and the command is decided later.
            .relinkProvider(
                RelinkProvider(
                    account: account, identity: identity,
                    former: FormerLink(of: identity, in: database.log(of: tenant)),
                    actor: .system, reason: "by mistake", caseReference: "9",
                    isPreview: dice.chance(0.1)))
        case .unmerge(let merge, let survivor, let absorbed, let key):
            .unmergeAccounts(
                UnmergeAccounts(
                    merge: merge, survivor: survivor, absorbed: absorbed, actor: .system,
                    reason: "two people", caseReference: "8",
                    isPreview: key == nil && dice.chance(0.2), idempotency: key))
        }
    }

    private func refresh(_ session: SessionID, presented: Digest) -> Command.Intent {
        // Not sealed, so that a client can read the successor.
        let successor = dice.digest()
        return .refreshSession(
            RefreshSession(
                session: session, presented: presented, successor: successor,
                sealedSuccessor: successor.bytes))
    }
}

extension Command {
    /// The command in short, for a trace.
    var summary: String {
        let start = "\(tenant) "
        switch intent {
        case .openLedger: return start + "open"
        case .rotateKey: return start + "rotate key"
        case .signIn(let intent):
            let subject = intent.proof.subject
            return start + "sign-in \(subject.provider)/\(subject.providerID)"
                + (intent.secondFactor == nil ? "" : ", second step")
        case .linkProvider(let intent):
            guard let subject = intent.credential.proof?.subject else {
                return start + "link of nothing to \(short(intent.caller.account))"
            }
            return start + "link \(subject.provider)/\(subject.providerID) to "
                + short(intent.caller.account) + (intent.idempotency == nil ? "" : " with key")
        case .unlinkProvider(let intent):
            return start + "unlink \(intent.provider) of \(short(intent.caller.account))"
                + (intent.idempotency == nil ? "" : " with key")
        case .signOut(let intent):
            return start + "sign-out \(intent.scope) of \(short(intent.caller.account))"
        case .refreshSession(let intent):
            return start + "refresh \(short(intent.session))"
        case .eraseAccount(let intent): return start + "erase \(short(intent.account))"
        case .setLegalHold(let intent): return start + "hold \(short(intent.account))"
        case .liftLegalHold(let intent):
            return start + "lift \(short(intent.hold)) of \(short(intent.account))"
        case .changeAccess(let intent):
            return start + "\(intent.change) \(short(intent.account))"
        case .enrolFactor(let intent):
            return start + "enrol \(intent.factor.kind) for \(short(intent.caller.account))"
        case .removeFactor(let intent):
            return start + "remove \(short(intent.factor)) of \(short(intent.account))"
        case .planFactorRemoval(let intent):
            return start + "\(intent.change) removal of \(short(intent.factor))"
        case .planUnlink(let intent):
            return start + "\(intent.change) unlink of \(short(intent.identity))"
        case .endUnlinkPlan(let intent):
            return start + "end of the planned unlink of \(short(intent.identity))"
        case .recordRestore: return start + "restored"
        case .setRules: return start + "set rules"
        case .changePassword(let intent):
            return start + "change the password of \(short(intent.renewal.caller.account))"
        case .changeAddress(let intent):
            return start + "change an address of \(short(intent.renewal.caller.account))"
        case .takeBackAddress: return start + "take an address back"
        case .recordThrottling: return start + "record refused sign-ins"
        case .resetPassword: return start + "reset a password"
        case .importPassword: return start + "import a password"
        case .importAccount: return start + "import an account"
        case .mergeAccounts(let intent):
            return start + (intent.agreed == nil ? "plan of a merge" : "merge")
        case .relinkProvider(let intent):
            return start + "relink \(short(intent.identity)) to \(short(intent.account))"
        case .unmergeAccounts(let intent):
            return start + "unmerge \(short(intent.absorbed)) from \(short(intent.survivor))"
        }
    }
}

/// The first letters of an identifier.
func short<Kind>(_ id: EntityID<Kind>) -> Substring {
    id.description.prefix(8)
}

extension Sequencer.Answer {
    /// The answer in short, for a trace.
    var summary: String {
        switch self {
        case .failure(let fault): "fault \(fault)"
        case .success(.failure(let refusal)): "refused \(refusal)"
        case .success(.success(.signedIn(let grant, let isNewUser))):
            "signed in \(short(grant.account))\(isNewUser ? ", new" : "") \(grant.linkedProviders)"
        case .success(.success(.refreshed(let grant, _))): "refreshed \(short(grant.session))"
        case .success(.success(.rulesRecorded(let rules, let isNew, _))):
            "rules of version \(rules.rulesVersion)\(isNew ? "" : ", as before")"
        case .success(.success(let reply)): "\(reply)"
        }
    }
}
