import Ledger
import LedgerEngine
import LedgerTestSupport
import Testing

/// The sequencer compared with the pure model: the same commands must give the same log.
@Suite struct SequencerModelTests {
    @Test(arguments: [UInt64(12), 13, 14], [false, true])
    func `commands one by one leave the log of the pure model`(
        seed: UInt64, hasEveryType: Bool
    ) async throws {
        let log = try await Self.log(
            of: RandomCommands(seed: seed, hasEveryType: hasEveryType), hasEveryType: hasEveryType)
        #expect(log.count > 100)
        let isUpgraded = log.contains { event in
            guard case .providerUnlinked(let fact) = event else { return false }
            return fact.upgrade?.session != nil
        }
        #expect(isUpgraded == hasEveryType)
        #expect(log.contains { $0.name == .addressConfirmed } == hasEveryType)
    }

    @Test(arguments: [UInt64(21), 22, 23, 24])
    func `merges that unite second factors leave the log of the pure model`(
        seed: UInt64
    ) async throws {
        let log = try await Self.log(
            of: RandomCommands(
                seed: seed, subjectsPerProvider: 6, hasEveryType: true, unitesFactors: true))
        let united = log.count { event in
            guard case .accountsMerged(let fact) = event else { return false }
            return !fact.factors.isEmpty
        }
        #expect(united > 0, "the seed unites no factors")
    }

    @Test func `undoings of such merges by two persons leave the log of the pure model`()
        async throws
    {
        var separated = 0
        for seed in UInt64(21)...24 {
            let log = try await Self.log(
                of: RandomCommands(
                    seed: seed, subjectsPerProvider: 6, hasEveryType: true, unitesFactors: true,
                    undoesByTwo: true))
            separated += log.count { event in
                guard case .accountsUnmerged(let fact) = event else { return false }
                return !fact.factors.isEmpty && fact.asker != nil
            }
        }
        #expect(separated > 0, "the seeds separate no factors")
    }

    /// Runs commands by a sequencer and by the model, and returns the events of the log that both have.
    private static func log(
        of random: RandomCommands, hasEveryType: Bool = true
    ) async throws -> [Event] {
        let policy = RandomCommands.policy(hasEveryType: hasEveryType)
        return try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database, policy: policy) { fixture in
                var commands = random
                var model = ModelLedger(policy: policy)
                _ = try model.execute(SequencerFixture.opening(of: .default))
                for _ in 0..<250 {
                    let command = commands.next()
                    let real = try await fixture.sequencer.submit(command)
                    let expected = try model.execute(command)
                    #expect(real.comparable == expected.comparable)
                    model.alias(expected, as: real)
                    commands.learn(real)
                }
                let events = try await fixture.log().map(\.recorded.event)
                #expect(events.map(\.comparable) == model.events.map(\.comparable))
                #expect(fixture.reportedFaults.isEmpty)
                return events
            }
        }
    }

    @Test func `concurrent commands through two sequencers give one log that folds`() async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { first in
                try await SequencerFixture.with(database) { second in
                    let sequencers = [first.sequencer, second.sequencer]
                    let replies = await withTaskGroup(of: Int.self) { group in
                        for client in 0..<24 {
                            group.addTask {
                                await runClient(
                                    seed: UInt64(client) + 100, on: sequencers[client % 2],
                                    commands: 40)
                            }
                        }
                        return await group.reduce(0, +)
                    }
                    #expect(replies == 24 * 40, "every command is answered without a fault")
                    var state = LedgerState(tenant: .default)
                    for event in try await first.log() {
                        try state.apply(event.recorded, leaf: event.leaf)
                    }
                    // Refused commands have none, and their number depends on the order.
                    #expect(state.nextPosition.value > 300)
                    #expect(first.reportedFaults + second.reportedFaults == [])
                }
            }
        }
    }

    @Test func `a full queue refuses at once and nothing else`() async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database, queueLimit: 2, batchLimit: 1) { fixture in
                let outcomes = await withTaskGroup(of: LedgerFault?.self) { group in
                    for client in 0..<40 {
                        group.addTask {
                            var commands = RandomCommands(seed: UInt64(client))
                            let command = commands.next()
                            do throws(LedgerFault) {
                                _ = try await fixture.sequencer.submit(command)
                                return nil
                            } catch {
                                return error
                            }
                        }
                    }
                    return await group.reduce(into: []) { $0.append($1) }
                }
                #expect(outcomes.contains(.overloaded))
                #expect(outcomes.contains(nil))
                #expect(!outcomes.contains(.unavailable) && !outcomes.contains(.internalFailure))
            }
        }
    }

    @Test func `a command to an unknown tenant is refused and leaves nothing`()
        async throws
    {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                var commands = RandomCommands(tenant: tenant("nobody"), seed: 1)
                let result = try await fixture.sequencer.submit(commands.next())
                #expect(result == .failure(.unknownTenant))
                #expect(try await fixture.log(of: tenant("nobody")).isEmpty)
                #expect(try await fixture.log().count == 1)
            }
        }
    }
}

private func runClient(seed: UInt64, on sequencer: Sequencer, commands count: Int) async -> Int {
    var commands = RandomCommands(seed: seed)
    var answered = 0
    for _ in 0..<count {
        guard let result = try? await sequencer.submit(commands.next()) else { continue }
        commands.learn(result)
        answered += 1
    }
    return answered
}
