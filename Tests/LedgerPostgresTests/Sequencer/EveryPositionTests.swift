import Ledger
import LedgerAudit
import LedgerEngine
import LedgerPostgres
import LedgerTestSupport
import Testing

/// After every command of a random history, everything derived from the log agrees with it.
@Suite struct EveryPositionTests {
    @Test(arguments: [UInt64(21), 22, 23])
    func `replay equals decision state and read models at every position`(
        seed: UInt64
    ) async throws {
        try await ScratchDatabase.with { database in
            let policy = RandomCommands.policy(hasEveryType: true)
            try await SequencerFixture.with(database, policy: policy) { fixture in
                let projector = Projector(
                    url: database.runtimeURL,
                    keyring: SequencerFixture.keyring, onAdvance: { _ in }, onFault: { _ in })
                let running = Task { await projector.run() }
                defer { running.cancel() }
                let verifier = Verifier(
                    url: database.runtimeURL, keyring: SequencerFixture.keyring)
                var commands = RandomCommands(
                    seed: seed, subjectsPerProvider: 3, hasEveryType: true,
                    unitesFactors: seed == 23)
                for step in 0..<70 {
                    commands.learn(try await fixture.sequencer.submit(commands.next()))
                    projector.wake()
                    try await eventually("the read models to reach the head") {
                        try await projector.status().allSatisfy { $0.lag == 0 } ? true : nil
                    }
                    let report = try await verifier.run()
                    #expect(report.holds && !report.isSearched, "step \(step): \(report.findings)")
                }
                await verifier.close()
            }
        }
    }
}
