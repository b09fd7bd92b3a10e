package import Ledger

/// Decides the commands of a batch in order of arrival, each on the state left by those before it.
package struct BatchDecider: Sendable {
    private let policy: @Sendable (TenantID) -> TenantPolicy?
    private let refusesOtherRules: Bool
    private let random: @Sendable (Int) -> [UInt8]

    /// Creates a decider.
    ///
    /// - Parameters:
    ///   - policy: Returns the configured rules of a tenant, by which it is decided while its log has
    ///     none; nil for a tenant without a configuration.
    ///   - refusesOtherRules: Whether commands that need the configured rules are refused while the
    ///     tenant's log has no rules or others. Otherwise they are decided by those of the log.
    ///   - random: Returns unpredictable bytes, for salts and identifiers.
    package init(
        policy: @escaping @Sendable (TenantID) -> TenantPolicy?, refusesOtherRules: Bool = false,
        random: @escaping @Sendable (Int) -> [UInt8]
    ) {
        self.policy = policy
        self.refusesOtherRules = refusesOtherRules
        self.random = random
    }

    /// Returns the period over which a tenant's sign-ins are counted.
    package func signInWindowSeconds(_ tenant: TenantID) -> Int64 {
        policy(tenant)?.signInBudget.windowSeconds ?? 3600
    }

    /// Decides the commands, and adds the resulting writes to the tenants' batches.
    ///
    /// - Parameters:
    ///   - commands: The commands, which may be a part of the batch's.
    ///   - loaded: The tenants' batches, with the decisions of the parts before.
    ///   - isLast: Whether they are the last ones of the batch. The outcome of a former part has no recordings: each
    ///     would copy those of all parts so far, and look for their notices again.
    /// - Returns: The answers, with the recordings of the whole batch.
    /// - Throws: `BatchFault.fold` when the model contradicts itself.
    func decide(
        _ commands: [Command], in loaded: LoadedBatch, isLast: Bool = true
    ) throws(BatchFault) -> BatchOutcome {
        let recorder = Recorder(leafHash: LogDigest.leaf, digest: LogDigest.sha256, random: random)
        var answers: [Sequencer.Answer] = []
        answers.reserveCapacity(commands.count)
        for command in commands {
            guard let batch = loaded.tenants[command.tenant] else {
                answers.append(.success(.failure(.unknownTenant)))
                continue
            }
            let configured = policy(command.tenant)
            if refusesOtherRules, command.intent.needsConfiguredRules, !batch.hasRules(configured) {
                answers.append(.failure(.rulesDiffer))
                continue
            }
            let rules =
                batch.state.ledger.rules?.policy ?? configured ?? TenantPolicy(providers: [:])
            let decision = command.decide(given: batch.state, at: loaded.now, under: rules)
            guard batch.canDisclose(decision) else {
                // Only this command's account is damaged, so only this command fails.
                answers.append(.failure(.internalFailure))
                continue
            }
            let recorded: [Recording]
            do {
                recorded = try recorder.record(
                    decision, of: command, into: &batch.state, at: loaded.now)
            } catch {
                throw .fold(error)
            }
            batch.add(recorded, effects: decision.effects, trace: command.origin.trace)
            forgetAttempts(after: decision.effects, in: batch, at: loaded.now, rules)
            answers.append(.success(decision.result.map { $0.naming(recorded) }))
        }
        guard isLast else { return BatchOutcome(answers: answers, recordings: []) }
        let touched = loaded.tenants.values.filter { !$0.recordings.isEmpty }
        return BatchOutcome(
            answers: answers,
            recordings: touched.map {
                TenantRecordings(
                    tenant: $0.tenant, recordings: $0.recordings, hasNotice: !$0.notices.isEmpty)
            })
    }

    /// Removes the attempts that no budget counts any longer when an account has a new attempt to
    /// store.
    private func forgetAttempts(
        after effects: [Decision.Effect], in batch: TenantBatch, at now: Timestamp,
        _ rules: TenantPolicy
    ) {
        for case .attempted(let account, _, _) in effects {
            batch.state.forgetAttempts(
                of: account, upTo: now.adding(seconds: -rules.linkBudget.windowSeconds))
        }
    }
}
