import Ledger

@testable import LedgerEngine

/// Checks a simulation from outside: compares requests and answers with the log as the serial order.
///
/// The batches, in the order of their commits, are replayed through the pure model, which gives the events
/// and the answer of each command. A client that got an answer must find it there: between the request and
/// the answer, once, with the same content.
struct Oracle {
    private let world: World
    private let deliveries: [Delivery]
    private var replays: [TenantID: TenantReplay] = [:]
    /// The batches in which each delivery's command was decided.
    private var batches: [Int: [Int]] = [:]
    private var decided: [Int: Decision] = [:]

    init(_ world: World) {
        self.world = world
        deliveries = world.history.all
        for (tenant, policy) in world.policies {
            replays[tenant] = TenantReplay(
                tenant: tenant, policy: policy, log: world.database.log(of: tenant),
                challenges: world.database.tenants[tenant]?.challengesSent ?? [])
        }
    }

    /// Returns all contradictions; of those that follow from one another only the first.
    mutating func contradictions() -> [String] {
        let journal = world.database.journal
        do throws(Contradiction) {
            for (index, batch) in journal.enumerated() {
                try note(batch, number: index)
            }
            for (index, batch) in journal.enumerated() {
                try replay(batch, number: index)
            }
            for replay in replays.values.sorted(by: { $0.tenant < $1.tenant }) {
                let end = Int(replay.state.ledger.nextPosition.value)
                guard replay.log.count == end else {
                    throw Contradiction(
                        "\(replay.tenant) has \(replay.log.count) events, but \(end) were decided")
                }
            }
        } catch {
            return [error.line] + answerContradictions()
        }
        let answers = answerContradictions() + keyContradictions()
        guard answers.isEmpty else { return answers }
        return world.tenants.flatMap { tenant in
            replays[tenant].map { RowCheck(world, $0).contradictions } ?? []
        } + SealCheck(world).contradictions + DeliveryCheck(world).contradictions
    }

    private mutating func note(_ batch: CommittedBatch, number: Int) throws(Contradiction) {
        let arrivals = world.processes[batch.process].arrivals
        guard batch.arrivals.upperBound <= arrivals.count else {
            throw Contradiction("batch \(number) holds commands without a request")
        }
        for delivery in arrivals[batch.arrivals] {
            batches[delivery, default: []].append(number)
        }
    }

    private mutating func replay(_ batch: CommittedBatch, number: Int) throws(Contradiction) {
        for (tenant, position) in batch.firstPositions {
            replays[tenant]?.begin(at: batch.now)
            let next = replays[tenant]?.state.ledger.nextPosition
            guard next == position else {
                throw Contradiction(
                    "batch \(number) was decided at \(tenant) #\(position), "
                        + "not at \(next.map(\.description) ?? "none")")
            }
        }
        for delivery in world.processes[batch.process].arrivals[batch.arrivals] {
            let command = deliveries[delivery].command
            do throws(Contradiction) {
                decided[delivery] = try replays[command.tenant]?.replay(command, at: batch.now)
            } catch {
                throw Contradiction("delivery \(delivery) (\(command.summary)): \(error.line)")
            }
        }
    }

    /// Compares each answer with that of the command's position in the order.
    private func answerContradictions() -> [String] {
        deliveries.indices.compactMap { index in
            let delivery = deliveries[index]
            let what = "delivery \(index) (\(delivery.command.summary))"
            let batches = batches[index] ?? []
            guard batches.count <= 1 else { return "\(what) was committed \(batches.count) times" }
            guard let answer = delivery.answer, let answeredAt = delivery.answeredAt else {
                return nil
            }
            switch answer {
            case .success(let result):
                guard let batch = batches.first else {
                    return "\(what) was answered (\(answer.summary)) but not committed"
                }
                guard delivery.askedAt <= batch, batch < answeredAt else {
                    return "\(what) was committed as batch \(batch), requested after "
                        + "\(delivery.askedAt) and answered after \(answeredAt)"
                }
                guard let decision = decided[index] else { return nil }
                return decision.result == result
                    ? nil
                    : "\(what) was answered (\(answer.summary)), but must be "
                        + Sequencer.Answer.success(decision.result).summary
            case .failure(.overloaded), .failure(.rulesDiffer), .failure(.tenantMoved),
                .failure(.internalFailure):
                guard batches.isEmpty else {
                    return "\(what) was refused for lack of capacity but committed"
                }
                let isExcused = answer.isOverload || delivery.wasRefused
                return isExcused ? nil : "\(what) met an internal failure"
            case .failure(.unavailable):
                return nil
            }
        }
    }

    /// Whether the account of a delivery's key was erased at the end.
    private func isErased(_ delivery: Delivery) -> Bool {
        guard let account = delivery.command.idempotencyKey?.scope.account else { return false }
        let ledger = replays[delivery.command.tenant]?.state.ledger
        return ledger?.accounts[account]?.erasedPosition != nil
    }

    /// Checks that each idempotency key appended once and gave the same answer until its account was erased.
    private func keyContradictions() -> [String] {
        var byKey: [IdempotencyKey: [Int]] = [:]
        for (index, delivery) in deliveries.enumerated() {
            guard let key = delivery.command.idempotencyKey else { continue }
            byKey[key, default: []].append(index)
        }
        return byKey.values.compactMap { indices in
            var kept: (delivery: Int, at: Timestamp)?
            let inOrder = indices.sorted {
                (batches[$0]?.first ?? 0, $0) < (batches[$1]?.first ?? 0, $1)
            }
            for index in inOrder {
                guard let batch = batches[index]?.first, let decision = decided[index] else {
                    continue
                }
                let now = world.database.journal[batch].now
                if let kept, now < kept.at.adding(seconds: 86_400) {
                    guard decision.drafts.isEmpty else {
                        return "deliveries \(kept.delivery) and \(index) of one key have appended"
                    }
                    let isForgotten = decision.result.isOfErased && isErased(deliveries[index])
                    guard isForgotten || decision.result == decided[kept.delivery]?.result else {
                        return "deliveries \(kept.delivery) and \(index) of one key differ"
                    }
                } else if !decision.drafts.isEmpty {
                    kept = (delivery: index, at: now)
                }
            }
            return nil
        }
        .sorted()
    }
}

extension Sequencer.Answer {
    /// Whether the answer says that nothing was done for lack of capacity or time.
    var isOverload: Bool {
        if case .failure(.overloaded) = self { true } else { false }
    }
}

extension Result<Reply, Refusal> {
    /// Whether the answer is one about an erased account.
    fileprivate var isOfErased: Bool {
        [.sessionEnded, .accountErased, .unknownMerge, .mergeSuperseded(.notActive)].contains {
            self == .failure($0)
        }
    }
}

extension Command {
    fileprivate var idempotencyKey: IdempotencyKey? {
        switch intent {
        case .linkProvider(let intent): intent.idempotency
        case .unlinkProvider(let intent): intent.idempotency
        case .mergeAccounts(let intent): intent.idempotency
        case .unmergeAccounts(let intent): intent.idempotency
        case .openLedger, .rotateKey, .signIn, .signOut, .refreshSession, .eraseAccount,
            .setLegalHold,
            .liftLegalHold, .recordRestore, .relinkProvider, .setRules, .changePassword,
            .resetPassword, .changeAddress, .takeBackAddress, .recordThrottling, .importPassword,
            .importAccount,
            .changeAccess, .enrolFactor, .removeFactor, .planFactorRemoval, .planUnlink,
            .endUnlinkPlan:
            nil
        }
    }
}
