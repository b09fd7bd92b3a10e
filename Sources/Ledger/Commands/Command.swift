/// What a caller asks for; decided by a pure function, ends as events or as a refusal.
package struct Command: Sendable {
    /// The closed list of commands; each decides itself in a file of its own.
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
    }

    /// Where the command came from: becomes disclosures and the entry's `request`.
    package struct Origin: Hashable, Sendable {
        package let request: RequestID?
        package let clientIP: String?
        package let userAgent: String?

        /// Describes a request.
        package init(request: RequestID?, clientIP: String?, userAgent: String?) {
            self.request = request
            self.clientIP = clientIP
            self.userAgent = userAgent
        }

        /// What can be disclosed of the request.
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
    ///   - state: what the batch loaded, as the commands before this one left it.
    ///   - now: the clock that was read after the tenant's head was locked.
    ///   - policy: the tenant's rules.
    /// - Returns: what to append, what to keep beside the log, and what to answer.
    package func decide(
        given state: DecisionState, at now: Timestamp, under policy: TenantPolicy
    ) -> Decision {
        switch intent {
        case .openLedger(let command): command.decide(given: state)
        case .rotateKey(let command): command.decide(given: state)
        case .signIn(let command): command.decide(given: state, at: now, under: policy)
        case .linkProvider(let command): command.decide(given: state, at: now, under: policy)
        case .unlinkProvider(let command): command.decide(given: state, at: now, under: policy)
        case .signOut(let command): command.decide(given: state, at: now)
        case .refreshSession(let command): command.decide(given: state, at: now, under: policy)
        case .eraseAccount(let command): command.decide(given: state)
        case .setLegalHold(let command): command.decide(given: state)
        case .liftLegalHold(let command): command.decide(given: state)
        case .recordRestore(let command): command.decide(given: state)
        case .mergeAccounts(let command): command.decide(given: state, at: now, under: policy)
        case .unmergeAccounts(let command): command.decide(given: state, under: policy)
        case .relinkProvider(let command): command.decide(given: state, under: policy)
        }
    }
}

/// How a command ends: what to append, what to keep beside it, and what to say.
package struct Decision: Sendable {
    /// A fact that is to be appended, with what is to be disclosed about its first account.
    package struct Draft: Sendable {
        package let event: Event
        package let actor: Actor
        /// About the event's first account; the origin's disclosures are added to them.
        package let disclosures: [Disclosure]
        /// Whether the request tells something about the event's first account: not when somebody else
        /// made it.
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

        /// A fact about an account that an operator or an administrator caused.
        static func administered(_ event: Event, by actor: Actor) -> Draft {
            Draft(event, actor: actor, disclosesRequest: false)
        }
    }

    /// What changes beside the log.
    package enum Effect: Sendable {
        /// A subject got an identity of its own.
        case identityNamed(ProviderIdentity, IdentityID)
        /// An account's budget remembers an attempt.
        case attempted(AccountID, DecisionState.Attempt, Timestamp)
        /// A session has other refresh tokens from now on.
        case refreshTokens(SessionID, RefreshTokenState)
        /// An idempotency key has its answer.
        case answered(IdempotencyScope, DecisionState.IdempotencyRecord)
        /// An ID token opened its first session.
        case idTokenSpent(SingleUseIDToken, Timestamp)
        /// What budgets, idempotency keys and sessions remember of an account is gone.
        case forgotten(AccountID)

        /// The same with the name of the event that was recorded.
        package func naming(_ recorded: some BidirectionalCollection<Recording>) -> Effect {
            guard case .answered(let scope, let record) = self else { return self }
            return .answered(
                scope,
                DecisionState.IdempotencyRecord(
                    fingerprint: record.fingerprint, answer: record.answer.naming(recorded)))
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

    /// Remembers the answer for the key, when there is a key and something is appended.
    func remembered(under key: IdempotencyKey?) -> Decision {
        guard let key, !drafts.isEmpty, let answer = StoredAnswer(result) else { return self }
        var decision = self
        decision.effects.append(
            .answered(
                key.scope,
                DecisionState.IdempotencyRecord(fingerprint: key.fingerprint, answer: answer)))
        return decision
    }
}

/// The answer that an idempotency key has already, or the refusal to use it for something else.
func earlierAnswer(to key: IdempotencyKey?, in state: DecisionState) -> Decision? {
    guard let key, let record = state.idempotency[key.scope] else { return nil }
    guard record.fingerprint == key.fingerprint else { return .refused(.idempotencyKeyReused) }
    return Decision(record.answer.result)
}
