/// A caller's request to the ledger; decided by a pure function, it ends as events or as a refusal.
package final class Command: Sendable {
    /// The closed list of commands; each has its decision in a file of its own.
    package enum Intent: Sendable {
        case openLedger(OpenLedger)
        case rotateKey(RotateKey)
        case signIn(SignIn)
        case linkProvider(LinkProvider)
        case unlinkProvider(UnlinkProvider)
        case signOut(SignOut)
        case refreshSession(RefreshSession)
        case eraseAccount(EraseAccount)
        case setLegalHold(SetLegalHold)
        case liftLegalHold(LiftLegalHold)
        case recordRestore(RecordRestore)
        case mergeAccounts(MergeAccounts)
        case unmergeAccounts(UnmergeAccounts)
        case relinkProvider(RelinkProvider)
        case setRules(SetRules)
        case changePassword(ChangePassword)
        case resetPassword(ResetPassword)
        case changeAddress(ChangeAddress)
        case takeBackAddress(TakeBackAddress)
        case recordThrottling(RecordThrottling)
        case importPassword(ImportPassword)
        case importAccount(ImportAccount)
        case changeAccess(ChangeAccess)
        case enrolFactor(EnrolFactor)
        case removeFactor(RemoveFactor)
        case planFactorRemoval(PlanFactorRemoval)
        case planUnlink(PlanUnlink)
        case endUnlinkPlan(EndUnlinkPlan)
    }

    /// The origin of a command: becomes disclosures and the entry's `request`.
    package struct Origin: Hashable, Sendable {
        package let request: RequestID?
        package let clientIP: String?
        package let userAgent: String?
        /// The request's place in its client's trace; beside the log, never in it.
        package let trace: TraceContext?

        /// Describes a request.
        package init(
            request: RequestID?, clientIP: String?, userAgent: String?, trace: TraceContext? = nil
        ) {
            self.trace = trace
            self.request = request
            self.clientIP = clientIP
            self.userAgent = userAgent
        }

        /// The disclosures about the request.
        var disclosures: [Disclosure] {
            [
                clientIP.map { Disclosure(.clientIP, $0) },
                userAgent.map { Disclosure(.userAgent, $0) },
            ].compactMap(\.self)
        }
    }

    package let id: CommandID
    package let tenant: TenantID
    package let origin: Origin
    package let intent: Intent

    /// Describes a command.
    package init(id: CommandID, tenant: TenantID, origin: Origin, intent: Intent) {
        self.id = id
        self.tenant = tenant
        self.origin = origin
        self.intent = intent
    }

    /// Decides the command.
    ///
    /// - Parameters:
    ///   - state: the loaded state, as left by the earlier commands of the batch.
    ///   - now: the clock, read after the tenant's head was locked.
    ///   - configured: the rules of a tenant whose log has none.
    /// - Returns: the events to append, the changes beside the log, and the answer.
    package func decide(
        given state: DecisionState, at now: Timestamp, under configured: TenantPolicy
    ) -> Decision {
        let policy = state.ledger.rules?.policy ?? configured
        return switch intent {
        case .openLedger(let command): command.decide(given: state)
        case .rotateKey(let command): command.decide(given: state)
        case .signIn(let command): command.decide(given: state, at: now, under: policy)
        case .linkProvider(let command): command.decide(given: state, at: now, under: policy)
        case .unlinkProvider(let command): command.decide(given: state, at: now, under: policy)
        case .signOut(let command): command.decide(given: state, at: now)
        case .refreshSession(let command): command.decide(given: state, at: now, under: policy)
        case .eraseAccount(let command): command.decide(given: state, at: now, under: policy)
        case .setLegalHold(let command): command.decide(given: state)
        case .liftLegalHold(let command): command.decide(given: state)
        case .recordRestore(let command): command.decide(given: state)
        case .mergeAccounts(let command): command.decide(given: state, at: now, under: policy)
        case .unmergeAccounts(let command): command.decide(given: state, under: policy)
        case .relinkProvider(let command): command.decide(given: state, under: policy)
        case .setRules(let command): command.decide(given: state)
        case .changePassword(let command): command.decide(given: state, at: now, under: policy)
        case .resetPassword(let command): command.decide(given: state, under: policy)
        case .changeAddress(let command): command.decide(given: state, at: now, under: policy)
        case .takeBackAddress(let command): command.decide(given: state, at: now, under: policy)
        case .recordThrottling(let command): command.decide(given: state, at: now, under: policy)
        case .importPassword(let command): command.decide(given: state, at: now, under: policy)
        case .importAccount(let command): command.decide(given: state, at: now, under: policy)
        case .changeAccess(let command): command.decide(given: state)
        case .enrolFactor(let command): command.decide(given: state, at: now, under: policy)
        case .removeFactor(let command): command.decide(given: state, at: now, under: policy)
        case .planFactorRemoval(let command): command.decide(given: state, at: now, under: policy)
        case .planUnlink(let command): command.decide(given: state, at: now, under: policy)
        case .endUnlinkPlan(let command): command.decide(given: state, at: now, under: policy)
        }
    }
}

extension Command.Intent {
    /// Whether a process may decide the command only with the tenant's rules in its configuration.
    ///
    /// The others read no rules, or, like a refresh, only recorded lifetimes, which are the same for every
    /// process.
    package var needsConfiguredRules: Bool {
        switch self {
        case .signIn, .linkProvider, .unlinkProvider, .mergeAccounts, .unmergeAccounts,
            .relinkProvider, .changePassword, .resetPassword, .changeAddress, .takeBackAddress,
            .importPassword, .importAccount, .enrolFactor:
            true
        // A stop takes nothing.
        case .removeFactor(let command):
            if case .keptByHolder = command.authority { false } else { true }
        case .planFactorRemoval(let command): command.change != .stop
        case .planUnlink(let command): command.change != .stop
        case .endUnlinkPlan(let command):
            if case .kept = command.ending { false } else { true }
        case .eraseAccount(let command):
            // Retention erases only what the rules call anonymous.
            if case .unused = command.agreement { true } else { false }
        case .openLedger, .rotateKey, .signOut, .refreshSession, .setLegalHold,
            .liftLegalHold, .recordRestore, .setRules, .changeAccess, .recordThrottling:
            false
        }
    }
}

/// The result of a command: the events to append, the changes beside the log, and the answer.
package struct Decision: Sendable {
    /// A fact to append, with the disclosures about its first account.
    package struct Draft: Sendable {
        package let event: Event
        package let actor: Actor
        /// About the event's first account; the disclosures of the origin are added.
        package let disclosures: [Disclosure]
        /// Whether the request's data are about the event's first account: false when another
        /// person made the request.
        package let disclosesRequest: Bool

        init(
            _ event: Event, actor: Actor, disclosures: [Disclosure] = [],
            disclosesRequest: Bool = true
        ) {
            self.event = event
            self.actor = actor
            self.disclosures = disclosures
            self.disclosesRequest = disclosesRequest
        }

        /// Returns a fact about an account that an operator or an administrator caused.
        static func administered(_ event: Event, by actor: Actor) -> Draft {
            Draft(event, actor: actor, disclosesRequest: false)
        }
    }

    /// A change beside the log.
    package enum Effect: Sendable {
        /// A subject got its identity.
        case identityNamed(Subject, IdentityID)
        /// An attempt counts against an account's budget.
        case attempted(AccountID, DecisionState.Attempt, Timestamp)
        /// A session's refresh tokens changed.
        case refreshTokens(SessionID, RefreshTokenState)
        /// An idempotency key got its answer.
        case answered(IdempotencyScope, DecisionState.IdempotencyRecord)
        /// An administrator asked for an erasure.
        case erasureAsked(ErasureRequest)
        /// The request to erase an account ended.
        case erasureRequestEnded(AccountID)
        /// An ID token opened its first session.
        case idTokenSpent(SingleUseIDToken, Timestamp)
        /// An account got an address.
        case addressNamed(AddressName, AddressID)
        /// An account got an external id, by the event at this position; nil until it is recorded.
        case accountNamed(ExternalName, LogPosition?)
        /// An identity got a password.
        case passwordStored(IdentityID, NewPassword)
        /// An account got a second factor.
        case factorStored(NewFactor)
        /// The removal of a factor was planned or stopped.
        case factorChanged(FactorID)
        /// The last time step or the used codes of a factor changed.
        case factorUsed(FactorID, Int64)
        /// All challenges of an address ended.
        case challengesEnded([AddressName])
        /// All challenges of the addresses of accounts ended, and with ``devicesEndedOf(_:)``.
        case challengesEndedOf([AccountID])
        /// All device tokens of the addresses of accounts, and of the accounts, ended.
        case devicesEndedOf([AccountID])
        /// A challenge was used.
        case challengeSpent(ChallengeID)
        /// The account's budgets, idempotency keys and refresh tokens are deleted.
        case forgotten(AccountID)

        /// Returns the effect with the id or the position of the recorded event filled in.
        package func naming(_ recorded: some BidirectionalCollection<Recording>) -> Effect {
            switch self {
            case .answered(let scope, let record):
                .answered(
                    scope,
                    DecisionState.IdempotencyRecord(
                        fingerprint: record.fingerprint, key: record.key,
                        answer: record.answer.naming(recorded)))
            case .accountNamed(let name, nil):
                .accountNamed(
                    name,
                    recorded.first { $0.recorded.event.name == .accountNamed }?.recorded.position)
            default: self
            }
        }
    }

    package var drafts: [Draft]
    package var effects: [Effect]
    package var result: Result<Reply, Refusal>

    init(_ result: Result<Reply, Refusal>, drafts: [Draft] = [], effects: [Effect] = []) {
        self.result = result
        self.drafts = drafts
        self.effects = effects
    }

    static func refused(_ refusal: Refusal) -> Decision {
        Decision(.failure(refusal))
    }

    /// Stores the answer under the key, if there is a key and something is appended.
    func remembered(under key: IdempotencyKey?) -> Decision {
        guard let key, !drafts.isEmpty, let answer = StoredAnswer(result) else { return self }
        var decision = self
        decision.effects.append(
            .answered(
                key.scope,
                DecisionState.IdempotencyRecord(
                    fingerprint: key.fingerprint, key: key.key, answer: answer)))
        return decision
    }
}

/// Returns the stored answer of an idempotency key, or the refusal to reuse it for another request.
func earlierAnswer(to key: IdempotencyKey?, in state: DecisionState) -> Decision? {
    for form in key?.all ?? [] {
        guard let record = state.idempotency[form.scope] else { continue }
        guard record.fingerprint == form.fingerprint else {
            return .refused(.idempotencyKeyReused)
        }
        return Decision(record.answer.result)
    }
    return nil
}
