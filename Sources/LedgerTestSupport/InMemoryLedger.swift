internal import Cryptography
package import Ledger
internal import Synchronization

/// The ledger without a database: the real model decides and records, and memory is the disk.
///
/// It serves every port, so that what stands on the ports can be tested whole. What a loaded batch
/// would leave out (sign-ins and attempts outside the window, old idempotency records) is left out
/// here, too.
package final class InMemoryLedger: CommandQueue, AccountReader, TenantDirectory {
    /// How long, in seconds, an idempotency key keeps its answer.
    package static let idempotencySeconds: Int64 = 86_400

    fileprivate struct Tenant {
        var state: DecisionState
        var recordings: [Recording] = []
        var signInTimes: [IdentityID: [Timestamp]] = [:]
        var answeredAt: [IdempotencyScope: Timestamp] = [:]
        var emails: [IdentityID: Email] = [:]
    }

    private struct Memory {
        var tenants: [TenantID: Tenant] = [:]
        var fault: LedgerFault?
        var commandCount = 0
    }

    private let memory = Mutex(Memory())
    private let policy: @Sendable (TenantID) -> TenantPolicy?
    private let now: @Sendable () -> Timestamp

    /// Makes ledgers without an event.
    ///
    /// - Parameters:
    ///   - tenants: those that exist.
    ///   - policy: the rules of a tenant.
    ///   - now: the clock that decisions go by.
    package init(
        tenants: [TenantID] = [.default], policy: @escaping @Sendable (TenantID) -> TenantPolicy?,
        now: @escaping @Sendable () -> Timestamp
    ) {
        self.policy = policy
        self.now = now
        memory.withLock { memory in
            for tenant in tenants {
                memory.tenants[tenant] = Tenant(
                    state: DecisionState(ledger: LedgerState(tenant: tenant)))
            }
        }
    }

    /// Makes every port throw a fault, or work again.
    package func fail(with fault: LedgerFault?) {
        memory.withLock { $0.fault = fault }
    }

    /// How many commands have come.
    package var commandCount: Int { memory.withLock { $0.commandCount } }

    /// What a tenant's log holds.
    package func recordings(of tenant: TenantID = .default) -> [Recording] {
        memory.withLock { $0.tenants[tenant]?.recordings ?? [] }
    }

    /// The facts of a tenant's log.
    package func events(of tenant: TenantID = .default) -> [Event] {
        recordings(of: tenant).map(\.recorded.event)
    }

    /// Decides the command and keeps what it says; nothing else happens meanwhile.
    package func submit(_ command: Command) async throws(LedgerFault) -> Result<Reply, Refusal> {
        try memory.withLock { memory throws(LedgerFault) in
            memory.commandCount += 1
            if let fault = memory.fault { throw fault }
            guard let policy = policy(command.tenant),
                var tenant = memory.tenants.removeValue(forKey: command.tenant)
            else { return .failure(.unknownTenant) }
            // Taken out and put back, so that nothing is copied to be changed.
            defer { memory.tenants[command.tenant] = tenant }
            let now = now()
            tenant.forget(at: now, under: policy, idempotencySeconds: Self.idempotencySeconds)
            let decision = command.decide(given: tenant.state, at: now, under: policy)
            let recorded: [Recording]
            do {
                recorded = try Self.recorder.record(
                    decision, of: command, into: &tenant.state, at: now)
            } catch {
                throw .internalFailure
            }
            tenant.recordings += recorded
            tenant.remember(decision, of: command, at: now)
            return decision.result.map { $0.naming(recorded) }
        }
    }

    /// The identities of the caller's account as they are now: there is no read model to lag.
    package func identities(
        of caller: Caller, in tenant: TenantID
    ) async throws(LedgerFault) -> Result<[LinkedIdentity], Refusal> {
        try memory.withLock { memory throws(LedgerFault) in
            if let fault = memory.fault { throw fault }
            guard let tenant = memory.tenants[tenant] else { return .failure(.unknownTenant) }
            guard let session = tenant.state.ledger.sessions[caller.session],
                session.account == caller.account, session.endedPosition == nil,
                let tokens = tenant.state.refreshTokens[caller.session], now() < tokens.expiresAt,
                let account = tenant.state.ledger.accounts[caller.account]
            else { return .failure(.sessionEnded) }
            return .success(
                account.links.map { link in
                    LinkedIdentity(
                        id: link.identity, provider: link.provider,
                        email: tenant.emails[link.identity], linkedAt: link.linkedAt)
                })
        }
    }

    /// Whether the ledger was made with the tenant.
    package func contains(_ tenant: TenantID) async throws(LedgerFault) -> Bool {
        try memory.withLock { memory throws(LedgerFault) in
            if let fault = memory.fault { throw fault }
            return memory.tenants[tenant] != nil
        }
    }

    private static let recorder = Recorder(
        leafHash: leafHash, digest: sha256, random: { SecureRandom.bytes($0) })
}

extension InMemoryLedger.Tenant {
    /// Drops what a batch would not load any more.
    fileprivate mutating func forget(
        at now: Timestamp, under policy: TenantPolicy, idempotencySeconds: Int64
    ) {
        let start = now.adding(seconds: -policy.signInBudget.windowSeconds)
        for (identity, times) in signInTimes {
            let recent = times.filter { $0 > start }
            signInTimes[identity] = recent
            state.signIns[identity] = recent.min().map {
                DecisionState.SignInCount(count: recent.count, earliest: $0)
            }
        }
        let oldest = now.adding(seconds: -idempotencySeconds)
        for (scope, time) in answeredAt where time <= oldest {
            answeredAt[scope] = nil
            state.idempotency[scope] = nil
        }
    }

    /// Keeps the times and the addresses that the state does not hold.
    fileprivate mutating func remember(
        _ decision: Decision, of command: Command, at now: Timestamp
    ) {
        for draft in decision.drafts {
            let identity: IdentityID
            switch draft.event {
            case .signedIn(let fact):
                identity = fact.identity
                signInTimes[identity, default: []].append(now)
            case .providerLinked(let fact):
                identity = fact.identity
            case .accountErased:
                emails = emails.filter { identity, _ in
                    state.ledger.identities[identity].map { !state.ledger.isForgotten($0) } ?? false
                }
                continue
            case .ledgerOpened, .keyRotated, .accountOpened, .providerUnlinked, .conflictRejected,
                .linkRejected, .unlinkRejected, .signedOut, .sessionRevoked, .legalHoldSet,
                .legalHoldLifted, .ledgerRestored, .accountsMerged, .accountsUnmerged:
                continue
            }
            if let email = DisclosedValues(draft.disclosures).email { emails[identity] = email }
        }
        for case .answered(let scope, _) in decision.effects {
            answeredAt[scope] = now
        }
    }
}
