import Ledger
import LedgerTestSupport
import Synchronization
import Testing

@testable import LedgerEngine

/// The commands that a server decides for a tenant whose rules are not those of its configuration.
@Suite struct OtherRulesTests {
    private static let caller = Caller(account: AccountID(bits: 1), session: SessionID(bits: 2))
    private static let zero = Digest.zero

    private static let proving: [Command.Intent] = [
        .signIn(
            SignIn(
                proof(subject("google", "ada")), createAccount: true, refreshToken: zero,
                newAccount: AccountID(bits: 3), newIdentity: IdentityID(bits: 4),
                newSession: SessionID(bits: 5))),
        .linkProvider(
            LinkProvider(
                caller: caller, credential: Credential(subject("google", "ada"), digest: zero),
                idempotency: nil, newIdentity: IdentityID(bits: 4))),
        .unlinkProvider(
            UnlinkProvider(
                caller: caller, provider: provider("google"), identity: nil, idempotency: nil)),
        .mergeAccounts(
            MergeAccounts(
                authority: .accountHolder(
                    caller, Credential(subject("google", "ada"), digest: zero)),
                keepsAbsorbed: [], agreed: nil, digest: sha256)),
        .unmergeAccounts(
            UnmergeAccounts(
                merge: EventID(bits: 6), survivor: caller.account, absorbed: AccountID(bits: 3),
                actor: .system, reason: "", caseReference: "", isPreview: true)),
        .relinkProvider(
            RelinkProvider(
                account: caller.account, identity: IdentityID(bits: 4), former: nil,
                actor: .system, reason: "", caseReference: "", isPreview: true)),
        .eraseAccount(
            EraseAccount(
                account: caller.account, basis: .retention, agreement: .unused(since: now),
                actor: .system)),
    ]

    private static let others: [Command.Intent] = [
        .refreshSession(
            RefreshSession(
                session: caller.session, presented: zero, successor: zero, sealedSuccessor: [])),
        .signOut(SignOut(caller: caller, scope: .everywhere)),
        .eraseAccount(
            EraseAccount(account: caller.account, basis: .dataSubjectRequest, actor: .system)),
        .setLegalHold(
            SetLegalHold(account: caller.account, newHold: HoldID(bits: 7), actor: .system)),
        .liftLegalHold(
            LiftLegalHold(account: caller.account, hold: HoldID(bits: 7), actor: .system)),
        .recordRestore(RecordRestore(LedgerRestored(origin: 2, root: zero, size: 1))),
    ]

    private static let recorded = TenantPolicy(providers: [provider("google")])
    private static let configurations: [TenantPolicy?] = [
        nil, TenantPolicy(providers: [provider("apple")]),
        changed { $0.secondFactorMethods = [provider("google"): .federated] },
        changed { $0.counterRollbackProviders = [provider("google")] },
    ]

    /// The recorded rules with a change.
    private static func changed(_ change: (inout TenantPolicy) -> Void) -> TenantPolicy {
        var policy = recorded
        change(&policy)
        return policy
    }

    @Test(arguments: proving.indices, configurations)
    func `a command that needs the rules is refused`(
        index: Int, configured: TenantPolicy?
    ) throws {
        for recorded in [nil, Self.recorded] {
            let answer = try Self.answer(to: Self.proving[index], configured, recorded)
            #expect(answer == .failure(.rulesDiffer))
        }
    }

    @Test(arguments: others.indices, configurations)
    func `a command that needs no rules is decided`(index: Int, configured: TenantPolicy?) throws {
        for recorded in [nil, Self.recorded] {
            let answer = try Self.answer(to: Self.others[index], configured, recorded)
            guard case .success = answer else {
                Issue.record("\(answer)")
                continue
            }
        }
    }

    @Test(arguments: (proving + others).indices)
    func `with the configured rules every command is decided`(index: Int) throws {
        let intent = (Self.proving + Self.others)[index]
        let answer = try Self.answer(to: intent, Self.recorded, Self.recorded)
        guard case .success = answer else {
            Issue.record("\(answer)")
            return
        }
    }

    @Test func `a refresh has the recorded lifetimes, on every server`() throws {
        var recorded = Self.recorded
        recorded.sessionIdleSeconds = 77
        let session = Session(
            id: Self.caller.session, account: Self.caller.account, identity: IdentityID(bits: 4),
            authenticatedAt: Self.now, methods: .federated, openedAt: Self.now,
            openedPosition: LogPosition(1), endedPosition: nil)
        for configured in Self.configurations + [recorded] {
            let batch = Self.batch(recorded)
            batch.state.ledger.load(
                Account(
                    id: session.account, openedPosition: LogPosition(1), nextSequence: 3,
                    lastLeaf: Self.zero, lastPosition: LogPosition(2), links: []))
            batch.state.ledger.load(session)
            batch.state.refreshTokens[session.id] = RefreshTokenState(
                current: Self.zero, preceding: nil, generation: 0,
                expiresAt: Self.now.adding(seconds: 9))
            _ = try Self.decide(Self.others[0], configured, batch)
            #expect(
                batch.state.refreshTokens[session.id]?.expiresAt == Self.now.adding(seconds: 77))
        }
    }

    @Test func `each divergence is logged, once until the rules are as configured again`()
        async throws
    {
        let store = RulesStore()
        // The clock stands still, so that no command waits too long on a busy machine.
        let now = ContinuousClock.now
        let sequencer = Sequencer(
            queueLimit: 8, batchLimit: 1, now: { now }, store: store,
            decider: BatchDecider(
                policy: { _ in Self.recorded }, refusesOtherRules: true,
                random: { Array(repeating: 0, count: $0) }),
            onCommit: { _ in }, onFault: { _ in store.faults.add(1, ordering: .relaxed) })
        let running = Task { await sequencer.run() }
        let other = TenantPolicy(providers: [provider("apple")])
        let steps = [(other, 1), (other, 1), (Self.recorded, 1), (other, 2), (other, 2)]
        for (rules, faults) in steps {
            store.rules.withLock { $0 = rules }
            let answer = try? await sequencer.submit(Self.command(Self.proving[0]))
            #expect((answer == nil) == (rules == other))
            #expect(store.faults.load(ordering: .relaxed) == faults)
        }
        sequencer.close()
        await running.value
    }

    fileprivate static let now = Timestamp(seconds: 1_790_000_000)

    private static func answer(
        to intent: Command.Intent, _ configured: TenantPolicy?, _ recorded: TenantPolicy?
    ) throws -> Sequencer.Answer {
        try decide(intent, configured, batch(recorded))
    }

    /// A batch of a begun log without an account.
    fileprivate static func batch(_ rules: TenantPolicy?) -> TenantBatch {
        let batch = TenantBatch(
            tenant: .default, firstPosition: LogPosition(5), lastRecordedAt: now,
            keyring: SequencerFixture.keyring)
        if let rules = rules.flatMap({ RulesSet(version: 1, policy: $0) }) {
            batch.state.ledger.load(rules)
        }
        return batch
    }

    private static func decide(
        _ intent: Command.Intent, _ configured: TenantPolicy?, _ batch: TenantBatch
    ) throws -> Sequencer.Answer {
        let decider = BatchDecider(
            policy: { _ in configured }, refusesOtherRules: true,
            random: { Array(repeating: 0, count: $0) })
        let outcome = try decider.decide(
            [command(intent)], in: LoadedBatch(now: now, tenants: [.default: batch]))
        return try #require(outcome.answers.first)
    }

    private static func command(_ intent: Command.Intent) -> Command {
        Command(
            id: CommandID(bits: 8), tenant: .default,
            origin: Command.Origin(request: nil, clientIP: nil, userAgent: nil), intent: intent)
    }
}

/// A store of one tenant, whose rules a test changes.
private final class RulesStore: BatchStore {
    let rules = Mutex(TenantPolicy(providers: []))
    /// The number of lines in the log.
    let faults = Atomic(0)

    var taskExecutor: (any TaskExecutor)? { nil }
    var deliveryExecutor: (any TaskExecutor)? { nil }

    func transact(
        _ keys: BatchKeys,
        _ decide: @escaping @Sendable (LoadedBatch, Range<Int>) throws(BatchFault) -> BatchOutcome
    ) async throws(BatchFault) -> BatchOutcome {
        let batch = OtherRulesTests.batch(rules.withLock { $0 })
        return try decide(
            LoadedBatch(now: OtherRulesTests.now, tenants: [.default: batch]),
            0..<keys.commandCount)
    }

    func close() async {}
}
