import Ledger
import LedgerEngine
import LedgerPostgres
import LedgerTestSupport
import Synchronization
import Testing

/// Answers are delivered on another thread than batches are executed on.
@Suite struct DeliveryOrderTests {
    /// The reported commits, and whether the first large one is held back.
    private final class Told: Sendable {
        let positions = Mutex<[Int64]>([])
        let sequencer = Mutex<Sequencer?>(nil)

        /// Keeps a large batch's delivery until the batch after it is committed too.
        func take(_ appended: [TenantRecordings]) {
            let new = appended.flatMap(\.recordings).map(\.recorded.position.value)
            if new.count > 2, let sequencer = sequencer.withLock(\.self) {
                let deadline = ContinuousClock.now + .seconds(120)
                while sequencer.statistics.batches < 2 {
                    guard ContinuousClock.now < deadline else {
                        Issue.record("the second batch is not committed")
                        break
                    }
                }
            }
            positions.withLock { $0 += new }
        }
    }

    @Test func `a small batch does not overtake the large one before it`() async throws {
        try await ScratchDatabase.with { database in
            let told = Told()
            var configuration = SequencerConfiguration(url: database.runtimeURL)
            // On a busy machine the commands of the first batch wait longer than the default.
            configuration.waitMax = .seconds(600)
            let sequencer = Sequencer(
                configuration: configuration,
                policy: { _ in SequencerFixture.unlimitedPolicy },
                keyring: SequencerFixture.keyring,
                onCommit: told.take, onFault: { Issue.record("\($0)") })
            // Three sign-ins wait before the loop starts, so they are one batch of nine events.
            var commands = RandomCommands(seed: 1, subjectsPerProvider: 50)
            let fact = LedgerOpened(mode: .development, encryptionKey: "test", tokenKey: "test")
            let open = Command(
                id: CommandID(bits: 1), tenant: .default,
                origin: Command.Origin(request: nil, clientIP: nil, userAgent: nil),
                intent: .openLedger(OpenLedger(fact)))
            var batch = [open]
            while batch.count < 5 {
                let command = commands.next()
                if case .signIn = command.intent { batch.append(command) }
            }
            let last = batch.removeLast()
            told.sequencer.withLock { $0 = sequencer }
            await withTaskGroup { group in
                for (index, command) in batch.enumerated() {
                    group.addTask { _ = try? await sequencer.submit(command) }
                    // In this order: before the ledger is opened there are no sign-ins.
                    while sequencer.statistics.queueDepth <= index { await Task.yield() }
                }
                group.addTask { await sequencer.run() }
                while sequencer.statistics.batches == 0 { await Task.yield() }
                _ = try? await sequencer.submit(last)
                sequencer.close()
            }
            let positions = told.positions.withLock(\.self)
            #expect(positions.count >= 5)
            #expect(positions == positions.sorted())
        }
    }
}
