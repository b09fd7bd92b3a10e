internal import Cryptography
package import Ledger
internal import Synchronization

/// A ``ModelLedger`` for each tenant behind the ports, so that the layers above can be tested as a whole.
///
/// It drops what a loaded batch would not contain: sign-ins and attempts outside the window, and old
/// idempotency records.
package final class InMemoryLedger: CommandQueue, AccountReader, TenantDirectory {
    /// The lifetime of the answer of an idempotency key, in seconds.
    package static let idempotencySeconds: Int64 = 86_400

    fileprivate struct Tenant {
        var model: ModelLedger
        var signInTimes: [IdentityID: [Timestamp]] = [:]
        var answeredAt: [IdempotencyScope: Timestamp] = [:]
        var emails: [IdentityID: Email] = [:]
        var passwords: [IdentityID: NewPassword] = [:]
        var factors: [FactorID: NewFactor] = [:]
    }

    private struct Memory {
        var tenants: [TenantID: Tenant] = [:]
        var fault: LedgerFault?
        var commandCount = 0

        /// Throws the fault, unless other rules concern neither reads nor this command.
        func check(_ command: Command? = nil) throws(LedgerFault) {
            guard let fault else { return }
            if fault == .rulesDiffer, command?.intent.needsConfiguredRules != true { return }
            throw fault
        }
    }

    private let memory = Mutex(Memory())
    private let policy: @Sendable (TenantID) -> TenantPolicy?
    private let challenges: InMemoryChallenges?
    private let now: @Sendable () -> Timestamp

    /// Makes ledgers without an event.
    ///
    /// - Parameters:
    ///   - tenants: those that exist.
    ///   - policy: the policy of a tenant.
    ///   - challenges: the challenges that commands may use.
    ///   - now: the clock for decisions.
    package init(
        tenants: [TenantID] = [.default], policy: @escaping @Sendable (TenantID) -> TenantPolicy?,
        challenges: InMemoryChallenges? = nil, now: @escaping @Sendable () -> Timestamp
    ) {
        self.policy = policy
        self.challenges = challenges
        self.now = now
        memory.withLock { memory in
            for tenant in tenants {
                memory.tenants[tenant] = Tenant(
                    model: ModelLedger(
                        policy: TenantPolicy(providers: []), tenant: tenant,
                        random: { SecureRandom.bytes($0) }))
            }
        }
    }

    /// Makes every port throw a fault or work again; with other rules, only commands that need them.
    package func fail(with fault: LedgerFault?) {
        memory.withLock { $0.fault = fault }
    }

    /// The number of submitted commands.
    package var commandCount: Int { memory.withLock { $0.commandCount } }

    /// Returns the recordings of a tenant's log.
    package func recordings(of tenant: TenantID = .default) -> [Recording] {
        memory.withLock { $0.tenants[tenant]?.model.log ?? [] }
    }

    /// Replaces the hash of an identity's password.
    func replacePassword(
        of identity: IdentityID, _ hash: String, by renewed: NewPassword, in tenant: TenantID
    ) {
        memory.withLock { memory in
            guard memory.tenants[tenant]?.passwords[identity]?.hash == hash else { return }
            memory.tenants[tenant]?.passwords[identity] = renewed
        }
    }

    /// Returns a tenant's state with the passwords beside it.
    func passwords(
        of tenant: TenantID
    ) -> (state: DecisionState, passwords: [IdentityID: NewPassword])? {
        memory.withLock { memory in
            memory.tenants[tenant].map { ($0.model.state, $0.passwords) }
        }
    }

    /// Returns a tenant's state with the secrets of factors beside it.
    func factors(
        of tenant: TenantID
    ) -> (state: DecisionState, secrets: [FactorID: NewFactor])? {
        memory.withLock { memory in
            memory.tenants[tenant].map { ($0.model.state, $0.factors) }
        }
    }

    /// Returns the account that has an identity; nil without one.
    func holder(
        of identity: IdentityID, in tenant: TenantID
    ) throws(LedgerFault) -> AccountID? {
        try memory.withLock { memory throws(LedgerFault) in
            try memory.check()
            return memory.tenants[tenant]?.model.state.ledger.identities[identity]?.account
        }
    }

    /// Returns the requests for erasures that can be confirmed.
    func erasureRequests(of tenant: TenantID) throws(LedgerFault) -> [ErasureRequest] {
        try memory.withLock { memory throws(LedgerFault) in
            try memory.check()
            let requests = memory.tenants[tenant]?.model.state.erasureRequests ?? [:]
            return requests.values.filter { now() < $0.expiresAt }
        }
    }

    /// Returns the recordings of a tenant's log for a port.
    package func read(_ tenant: TenantID) throws(LedgerFault) -> [Recording] {
        try memory.withLock { memory throws(LedgerFault) in try memory.check() }
        return recordings(of: tenant)
    }

    /// Returns the events of a tenant's log.
    package func events(of tenant: TenantID = .default) -> [Event] {
        memory.withLock { $0.tenants[tenant]?.model.events ?? [] }
    }

    /// Decides the command and stores the result, without concurrency.
    package func submit(_ command: Command) async throws(LedgerFault) -> Result<Reply, Refusal> {
        try memory.withLock { memory throws(LedgerFault) in
            memory.commandCount += 1
            try memory.check(command)
            guard let policy = policy(command.tenant),
                var tenant = memory.tenants.removeValue(forKey: command.tenant)
            else { return .failure(.unknownTenant) }
            // Moved out and back, so that the state is not copied.
            defer { memory.tenants[command.tenant] = tenant }
            let now = now()
            tenant.forget(at: now, under: policy, idempotencySeconds: Self.idempotencySeconds)
            tenant.model.policy = policy
            tenant.model.openChallenges(challenges?.open(in: command.tenant, at: now) ?? [])
            do throws(FoldFault) {
                let decision = try tenant.model.execute(command, at: now)
                tenant.remember(decision, at: now)
                challenges?.end(decision.effects, in: tenant.model.state, at: now)
                for case .passwordStored(let identity, let password) in decision.effects {
                    tenant.passwords[identity] = password
                }
                for case .factorStored(let factor) in decision.effects {
                    tenant.factors[factor.id] = factor
                }
                return decision.result
            } catch {
                throw .internalFailure
            }
        }
    }

    /// Returns the caller's account as it is now.
    package func linkedAccount(
        of caller: Caller, in tenant: TenantID
    ) async throws(LedgerFault) -> Result<LinkedAccount, Refusal> {
        try memory.withLock { memory throws(LedgerFault) in
            try memory.check()
            guard let tenant = memory.tenants[tenant] else { return .failure(.unknownTenant) }
            let state = tenant.model.state
            guard let session = state.ledger.sessions[caller.session],
                session.account == caller.account, session.endedPosition == nil,
                let tokens = state.refreshTokens[caller.session], now() < tokens.expiresAt,
                let account = state.ledger.accounts[caller.account]
            else { return .failure(.sessionEnded) }
            let identities = account.links.map { link in
                LinkedIdentity(
                    id: link.identity, provider: link.provider,
                    email: tenant.emails[link.identity], linkedAt: link.linkedAt,
                    unlinkDue: state.ledger.identities[link.identity]?.unlinkDue)
            }
            return .success(
                LinkedAccount(
                    identities: identities,
                    hasPlannedRemoval: account.secondFactors.contains {
                        state.ledger.factors[$0]?.removalDue != nil
                    }))
        }
    }

    /// Checks whether the tenant exists and is served here; fails only as a directory does.
    package func contains(_ tenant: TenantID) async throws(LedgerFault) -> Bool {
        try memory.withLock { memory throws(LedgerFault) in
            // Commands have their own faults, and a tenant that was not met before needs a look-up.
            if tenant != .default || [.tenantMoved, .unavailable].contains(memory.fault) {
                try memory.check()
            }
            return memory.tenants[tenant] != nil
        }
    }

    /// Checks whether the tenant exists, wherever it is served.
    package func exists(_ tenant: TenantID) async throws(LedgerFault) -> Bool {
        try memory.withLock { memory throws(LedgerFault) in
            if memory.fault == .unavailable { try memory.check() }
            return memory.tenants[tenant] != nil
        }
    }
}

extension InMemoryLedger.Tenant {
    /// Drops what a batch would no longer load.
    fileprivate mutating func forget(
        at now: Timestamp, under policy: TenantPolicy, idempotencySeconds: Int64
    ) {
        let start = now.adding(seconds: -policy.signInBudget.windowSeconds)
        for (identity, times) in signInTimes {
            let recent = times.filter { $0 > start }
            signInTimes[identity] = recent
            model.state.signIns[identity] = recent.min().map {
                DecisionState.SignInCount(count: recent.count, earliest: $0)
            }
        }
        let oldest = now.adding(seconds: -idempotencySeconds)
        for (scope, time) in answeredAt where time <= oldest {
            answeredAt[scope] = nil
            model.state.idempotency[scope] = nil
        }
    }

    /// Stores the times and the e-mails that the state does not contain.
    fileprivate mutating func remember(_ decision: Decision, at now: Timestamp) {
        let ledger = model.state.ledger
        for draft in decision.drafts {
            let identity: IdentityID
            switch draft.event.identityEffect {
            case .signedIn(let fact):
                identity = fact.identity
                signInTimes[identity, default: []].append(now)
            case .linked(let fact):
                identity = fact.identity
                signInTimes[identity] = nil
            case .erased:
                emails = emails.filter { identity, _ in
                    ledger.identities[identity].map { !ledger.isForgotten($0) } ?? false
                }
                continue
            case .unlinked, .merged, .unmerged, .none: continue
            }
            if let email = DisclosedValues(draft.disclosures).email { emails[identity] = email }
        }
        for case .answered(let scope, _) in decision.effects {
            answeredAt[scope] = now
        }
    }
}
