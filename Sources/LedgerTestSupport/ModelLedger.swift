package import Ledger

/// The ledger of a tenant in memory: the real model decides, records and keeps the whole log.
///
/// The simulator has a store of its own, since it imitates tables: a batch sees only the rows that it loads.
package struct ModelLedger {
    /// The rules of the next commands.
    package var policy: TenantPolicy
    /// The state after the last command.
    package internal(set) var state: DecisionState
    /// The recordings of the appended events.
    package private(set) var log: [Recording] = []
    fileprivate var generator: SeededGenerator
    fileprivate var now = Timestamp(seconds: 1_790_000_000)
    private let recorder: Recorder
    /// The ids of this ledger's merges in other ledgers.
    private var aliases: [EventID: EventID] = [:]
    /// The digests of this ledger's requests to undo merges, whose bytes have these ids, by those of other ledgers.
    private var requests: [Digest: Digest] = [:]

    /// Starts an empty ledger.
    ///
    /// - Parameters:
    ///   - policy: the rules of the first commands.
    ///   - tenant: the owner of the ledger.
    ///   - seed: determines the ids of everything that the ledger makes itself.
    ///   - random: returns the salts and the random part of event ids; derived from the seed if nil.
    package init(
        policy: TenantPolicy, tenant: TenantID = .default, seed: UInt64 = 1,
        random: (@Sendable (Int) -> [UInt8])? = nil
    ) {
        self.policy = policy
        state = DecisionState(ledger: LedgerState(tenant: tenant))
        generator = SeededGenerator(seed: seed)
        let seeded = SeededBytes(seed: seed &+ 1)
        recorder = Recorder(
            leafHash: leafHash, digest: sha256, random: random ?? { seeded.next($0) })
    }

    /// The appended events.
    package var events: [Event] { log.map(\.recorded.event) }

    /// Runs a command at a time.
    ///
    /// - Returns: the decision, whose result names the appended events.
    /// - Throws: `FoldFault` when decision and fold disagree.
    package mutating func execute(
        _ command: Command, at now: Timestamp
    ) throws(FoldFault) -> Decision {
        var decision = command.decide(given: state, at: now, under: policy)
        let recordings = try recorder.record(decision, of: command, into: &state, at: now)
        log += recordings
        decision.result = decision.result.map { $0.naming(recordings) }
        return decision
    }

    /// Runs a command, a millisecond after the previous one.
    ///
    /// - Throws: `FoldFault` when decision and fold disagree.
    package mutating func execute(_ command: Command) throws -> Result<Reply, Refusal> {
        now = Timestamp(microseconds: now.microseconds + 1000)
        let command = aliases.isEmpty ? command : command.renamed(by: aliases, requests)
        return try execute(command, at: now).result
    }

    /// Sets the challenges that proofs may answer.
    package mutating func openChallenges(_ challenges: Set<ChallengeID>) {
        state.openChallenges = challenges
    }

    /// Records the id of a merge in another ledger, or the digest of a request to undo one.
    package mutating func alias(_ own: Result<Reply, Refusal>, as other: Result<Reply, Refusal>) {
        switch (own, other) {
        case (.success(.merged(_, let own?)), .success(.merged(_, let other?))):
            aliases[other] = own
        case (.success(.unmergeAsked(let own)), .success(.unmergeAsked(let other))):
            requests[other] = own
        default: break
        }
    }
}

extension Command {
    fileprivate func renamed(
        by aliases: [EventID: EventID], _ requests: [Digest: Digest]
    ) -> Command {
        guard case .unmergeAccounts(let asked) = intent, let merge = aliases[asked.merge] else {
            return self
        }
        var step = asked.step
        if case .confirm(let request?, let hash) = step, let digest = requests[request.digest] {
            step = .confirm(TwoPersonStep.Request(asker: request.asker, digest: digest), hash)
        }
        return Command(
            id: id, tenant: tenant, origin: origin,
            intent: .unmergeAccounts(
                UnmergeAccounts(
                    merge: merge, survivor: asked.survivor, absorbed: asked.absorbed,
                    actor: asked.actor, reason: asked.reason, caseReference: asked.caseReference,
                    isPreview: asked.isPreview, step: step)))
    }
}

extension ModelLedger {
    /// An unexpected result of a command.
    package struct Unexpected: Error {
        package let result: Result<Reply, Refusal>

        /// Wraps the result.
        package init(result: Result<Reply, Refusal>) {
            self.result = result
        }
    }

    /// Signs in, and opens an account for an unknown subject.
    ///
    /// - Throws: `Unexpected` when it is refused.
    package mutating func signIn(
        _ subject: Subject, methods: AuthenticationMethods = .federated
    ) throws -> Caller {
        let intent = SignIn(
            proof(subject, authenticatedAt: now, methods: methods), createAccount: true,
            refreshToken: digest(generator.bytes(32)), newAccount: generator.id(),
            newIdentity: generator.id(), newSession: generator.id())
        let result = try execute(.signIn(intent))
        guard case .success(.signedIn(let grant, _)) = result else {
            throw Unexpected(result: result)
        }
        return Caller(account: grant.account, session: grant.session)
    }

    /// Links to Google with a credential that a number stands for.
    ///
    /// - Throws: `FoldFault`.
    package mutating func link(
        _ caller: Caller, _ check: Result<Proof, Credential.Flaw>, token: Int
    ) throws -> Result<Reply, Refusal> {
        let intent = LinkProvider(
            caller: caller,
            credential: Credential(
                provider: provider("google"),
                digest: digest(Array(repeating: UInt8(truncatingIfNeeded: token), count: 32)),
                check: check),
            idempotency: nil, newIdentity: generator.id())
        return try execute(.linkProvider(intent))
    }

    /// Unlinks a provider, or one identity of it.
    ///
    /// - Throws: `FoldFault`.
    package mutating func unlink(
        _ caller: Caller, _ name: String, identity: IdentityID? = nil
    ) throws -> Result<Reply, Refusal> {
        try execute(
            .unlinkProvider(
                UnlinkProvider(
                    caller: caller, provider: provider(name), identity: identity,
                    idempotency: nil)))
    }

    /// Undoes an unlink, or previews it.
    ///
    /// - Throws: `FoldFault`.
    package mutating func relink(
        _ identity: IdentityID, to account: AccountID, isPreview: Bool = false
    ) throws -> Result<Reply, Refusal> {
        try execute(
            .relinkProvider(
                RelinkProvider(
                    account: account, identity: identity,
                    former: FormerLink(of: identity, in: log), actor: .system,
                    reason: "by mistake", caseReference: "9", isPreview: isPreview)))
    }

    /// Returns an account in its current state.
    package func account(_ id: AccountID) -> Account? { state.ledger.accounts[id] }

    /// Runs an intent as a separate command.
    ///
    /// - Throws: `FoldFault`.
    package mutating func execute(_ intent: Command.Intent) throws -> Result<Reply, Refusal> {
        let origin = Command.Origin(request: nil, clientIP: nil, userAgent: nil)
        return try execute(
            Command(id: generator.id(), tenant: .default, origin: origin, intent: intent))
    }

    /// Sets the clock forward, or back by a negative number.
    package mutating func advanceClock(bySeconds seconds: Int64) {
        now = now.adding(seconds: seconds)
    }

    /// Returns the digest of the caller's current refresh token.
    package func refreshToken(of caller: Caller) -> Digest? {
        state.refreshTokens[caller.session]?.current
    }

    /// Exchanges a refresh token.
    ///
    /// - Throws: `FoldFault`.
    package mutating func refresh(
        _ caller: Caller, presenting token: Digest
    ) throws -> Result<Reply, Refusal> {
        try execute(
            .refreshSession(
                RefreshSession(
                    session: caller.session, presented: token,
                    successor: digest(generator.bytes(32)), sealedSuccessor: [])))
    }

    /// Returns the caller's identities of a provider.
    package func identities(of caller: Caller, _ name: String) -> [IdentityID] {
        let links = state.ledger.accounts[caller.account]?.links ?? []
        return links.filter { $0.provider == provider(name) }.map(\.identity)
    }
}

extension Event {
    /// The event without values that depend on the clock or on event ids.
    package var comparable: Event {
        switch self {
        case .signedIn(let fact):
            .signedIn(
                SignedIn(
                    account: fact.account, authenticatedAt: Timestamp(seconds: 0),
                    device: fact.device, identity: fact.identity, methods: fact.methods,
                    provider: fact.provider,
                    session: fact.session))
        case .accountsMerged(let fact):
            .accountsMerged(
                AccountsMerged(
                    survivor: fact.survivor, absorbed: fact.absorbed, cause: fact.cause,
                    moved: fact.moved.map(\.comparable), dropped: fact.dropped.map(\.comparable),
                    replaced: fact.replaced.map(\.comparable),
                    links: fact.links.map(\.comparable), factors: fact.factors,
                    plan: fact.plan, asker: fact.asker))
        case .secondFactorRemovalPlanned(let fact):
            .secondFactorRemovalPlanned(
                SecondFactorRemovalPlanned(
                    account: fact.account, due: Timestamp(seconds: 0), factor: fact.factor,
                    kind: fact.kind))
        case .providerUnlinkPlanned(let fact):
            .providerUnlinkPlanned(
                ProviderUnlinkPlanned(
                    account: fact.account, due: Timestamp(seconds: 0), identity: fact.identity,
                    provider: fact.provider))
        case .accountsUnmerged(let fact):
            .accountsUnmerged(
                AccountsUnmerged(
                    survivor: fact.survivor, absorbed: fact.absorbed, merge: EventID(bits: 0),
                    returned: fact.returned.map(\.comparable),
                    restored: fact.restored.map(\.comparable),
                    links: fact.links.map(\.comparable), factors: fact.factors,
                    asker: fact.asker))
        default: self
        }
    }
}

extension Account.Link {
    fileprivate var comparable: Account.Link {
        Account.Link(
            identity: identity, provider: provider, linkedAt: Timestamp(seconds: 0),
            position: position)
    }
}

extension Result<Reply, Refusal> {
    /// The result without values that depend on the clock.
    package var comparable: Self {
        switch self {
        case .success(.signedIn(let grant, let isNewUser)):
            .success(.signedIn(grant.comparable, isNewUser: isNewUser))
        case .success(.refreshed(let grant, let exchange)):
            .success(.refreshed(grant.comparable, exchange))
        case .success(.passwordChanged(let grant)):
            .success(.passwordChanged(grant.comparable))
        case .success(.addressChanged(let grant)):
            .success(.addressChanged(grant.comparable))
        // The event contains the plan.
        case .success(.mergePlanned(let plan, _)), .success(.merged(let plan, _)):
            .success(.linked(plan.linkedProviders))
        case .success(.unmergeAsked): .success(.unmergeAsked(.zero))
        case .success(.relinkPlanned(let plan)), .success(.relinked(let plan, _)):
            .success(.linked(plan.linkedProviders))
        case .success(.unmergePlanned(let plan, _)), .success(.unmerged(let plan, _)):
            .success(.linked(plan.survivorProviders + plan.absorbedProviders))
        case .success(.factorEnrolled(let isFirst, let grant)):
            .success(.factorEnrolled(isFirst: isFirst, grant?.comparable))
        // The time of the removal depends on the clock.
        case .success(.factorRemovalPlanned(let plan, _)),
            .success(.factorRemovalUnchanged(let plan)):
            plan.due == nil ? .success(.factorRemoved) : .success(.signedOut)
        case .success(.unlinkPlanned(let plan, _)), .success(.unlinkUnchanged(let plan)):
            plan.due == nil
                ? .success(.unlinkPlanEnded(.stopped)) : .success(.linked(plan.linkedProviders))
        case .success(.accessChanged(let plan, _)): .success(.accessChanged(plan, nil))
        case .success, .failure: self
        }
    }
}

extension Grant {
    fileprivate var comparable: Grant {
        Grant(
            account: account, session: session, authenticatedAt: Timestamp(seconds: 0),
            methods: methods, linkedProviders: linkedProviders)
    }
}
