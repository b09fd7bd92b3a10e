package import Ledger

/// The pure model with nothing around it: decides, records and keeps everything in memory.
package struct ModelLedger {
    private let policy: TenantPolicy
    fileprivate var state: DecisionState
    fileprivate var generator = SeededGenerator(seed: 1)
    fileprivate var now = Timestamp(seconds: 1_790_000_000)
    /// Everything that was appended.
    package private(set) var events: [Event] = []

    /// Starts an empty ledger.
    package init(policy: TenantPolicy) {
        self.policy = policy
        state = DecisionState(ledger: LedgerState(tenant: .default))
    }

    /// Carries out a command; each one comes a millisecond after the one before it.
    ///
    /// - Throws: `FoldFault` when decision and fold disagree.
    package mutating func carryOut(_ command: Command) throws -> Result<Reply, Refusal> {
        now = Timestamp(microseconds: now.microseconds + 1000)
        let decision = command.decide(given: state, at: now, under: policy)
        let bytes = generator.bytes(256)
        let recorder = Recorder(
            leafHash: leafHash, digest: sha256, random: { Array(bytes.prefix($0)) })
        let recordings = try recorder.record(decision, of: command, into: &state, at: now)
        events += recordings.map(\.recorded.event)
        return decision.result
    }
}

extension ModelLedger {
    /// A command that is none of the possible ones for what a test wants of it.
    package struct Unexpected: Error {
        package let result: Result<Reply, Refusal>
    }

    /// Signs in, opening an account when there is none.
    ///
    /// - Throws: `Unexpected` when that is refused.
    package mutating func signIn(_ identity: ProviderIdentity) throws -> Caller {
        let intent = SignIn(
            identity: identity, email: nil, authenticatedAt: now, createAccount: true,
            refreshToken: digest(generator.bytes(32)), newAccount: generator.id(),
            newIdentity: generator.id(), newSession: generator.id())
        let result = try carryOut(.signIn(intent))
        guard case .success(.signedIn(let grant, _)) = result else {
            throw Unexpected(result: result)
        }
        return Caller(account: grant.account, session: grant.session)
    }

    /// Links to Google with a token that a number stands for.
    ///
    /// - Throws: `FoldFault`.
    package mutating func link(
        _ caller: Caller, _ credential: LinkProvider.Credential, token: Int
    ) throws -> Result<Reply, Refusal> {
        let intent = LinkProvider(
            caller: caller, provider: provider("google"), credential: credential,
            tokenDigest: digest(Array(repeating: UInt8(token), count: 32)), idempotency: nil,
            newIdentity: generator.id())
        return try carryOut(.linkProvider(intent))
    }

    /// Unlinks a provider, or one identity of it.
    ///
    /// - Throws: `FoldFault`.
    package mutating func unlink(
        _ caller: Caller, _ name: String, identity: IdentityID? = nil
    ) throws -> Result<Reply, Refusal> {
        try carryOut(
            .unlinkProvider(
                UnlinkProvider(
                    caller: caller, provider: provider(name), identity: identity,
                    idempotency: nil)))
    }

    /// Sets the clock forward, or back by a negative number.
    package mutating func turnClock(bySeconds seconds: Int64) {
        now = now.adding(seconds: seconds)
    }

    /// The digest of the caller's refresh token that is good now.
    package func refreshToken(of caller: Caller) -> Digest? {
        state.refreshTokens[caller.session]?.current
    }

    /// Exchanges a refresh token.
    ///
    /// - Throws: `FoldFault`.
    package mutating func refresh(
        _ caller: Caller, presenting token: Digest
    ) throws -> Result<Reply, Refusal> {
        try carryOut(
            .refreshSession(
                RefreshSession(
                    session: caller.session, presented: token,
                    successor: digest(generator.bytes(32)), sealedSuccessor: [])))
    }

    /// The caller's identities of a provider.
    package func identities(of caller: Caller, _ name: String) -> [IdentityID] {
        let links = state.ledger.accounts[caller.account]?.links ?? []
        return links.filter { $0.provider == provider(name) }.map(\.identity)
    }

    private mutating func carryOut(_ intent: Command.Intent) throws -> Result<Reply, Refusal> {
        let origin = Command.Origin(request: nil, clientIP: nil, userAgent: nil)
        return try carryOut(
            Command(id: generator.id(), tenant: .default, origin: origin, intent: intent))
    }
}

extension Event {
    /// The event without what depends on the clock.
    package var comparable: Event {
        guard case .signedIn(let fact) = self else { return self }
        return .signedIn(
            SignedIn(
                account: fact.account, authenticatedAt: Timestamp(seconds: 0),
                identity: fact.identity, provider: fact.provider, session: fact.session))
    }
}

extension Result<Reply, Refusal> {
    /// The result without what depends on the clock.
    package var comparable: Self {
        switch self {
        case .success(.signedIn(let grant, let isNewUser)):
            .success(.signedIn(grant.comparable, isNewUser: isNewUser))
        case .success(.refreshed(let grant, let exchange)):
            .success(.refreshed(grant.comparable, exchange))
        // A model's log has no opening.
        case .success(.erased(_, let isNew)):
            .success(.erased(at: LogPosition(0), isNew: isNew))
        case .success, .failure: self
        }
    }
}

extension Grant {
    fileprivate var comparable: Grant {
        Grant(
            account: account, session: session, authenticatedAt: Timestamp(seconds: 0),
            linkedProviders: linkedProviders)
    }
}
