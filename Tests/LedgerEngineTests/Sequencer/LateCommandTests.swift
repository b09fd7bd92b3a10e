import Ledger
import LedgerTestSupport
import Synchronization
import Testing

@testable import LedgerEngine

/// No command waits for longer than the limit and one transaction, however many wait.
@Suite(.timeLimit(.minutes(10))) struct LateCommandTests {
    private let clock = ManualClock()

    @Test func `after a stalled transaction, late commands are refused and never started`()
        async throws
    {
        let store = StallingStore(stalls: 1)
        // One batch in progress, followed by ten that might each wait as long again.
        let answers = try await answers(of: store, waiting: 40) {
            clock.advance(by: AnswerTime.waitMax + .seconds(1))
            store.end(.success(()))
        }
        #expect(answers.count { $0 == .success(.failure(.unknownTenant)) } == 1)
        #expect(answers.count { $0 == .failure(.overloaded) } == 40)
        #expect(store.count == 1)
    }

    @Test func `commands that became late during a refused batch are not retried in halves`()
        async throws
    {
        let store = StallingStore(stalls: 2)
        let answers = try await answers(of: store, waiting: 4) {
            store.end(.success(()))
            try await eventually("the others to be one batch") { store.count == 2 ? true : nil }
            clock.advance(by: AnswerTime.waitMax + .seconds(1))
            store.end(.failure(.store("refused", isOfOneCommand: true)))
        }
        #expect(answers.count { $0 == .failure(.overloaded) } == 4)
        #expect(store.count == 2)
    }

    /// Starts a batch of one command, lets others wait for its end, and returns all answers.
    private func answers(
        of store: StallingStore, waiting: Int, _ body: () async throws -> Void
    ) async throws -> [Sequencer.Answer] {
        let sequencer = Sequencer(
            queueLimit: 4096, batchLimit: 4, now: { [clock] in clock.now }, store: store,
            decider: BatchDecider(policy: { _ in nil }, random: { Array(repeating: 0, count: $0) }),
            onCommit: { _ in }, onFault: { _ in })
        let running = Task { await sequencer.run() }
        let answers = try await withThrowingTaskGroup(of: Sequencer.Answer.self) { group in
            group.addTask { await Self.answer(of: sequencer) }
            try await eventually("the first command to be begun") { store.count == 1 ? true : nil }
            for _ in 0..<waiting { group.addTask { await Self.answer(of: sequencer) } }
            try await eventually("the others to wait") {
                sequencer.statistics.queueDepth == waiting ? true : nil
            }
            try await body()
            return try await group.reduce(into: []) { $0.append($1) }
        }
        sequencer.close()
        await running.value
        return answers
    }

    private static func answer(of sequencer: Sequencer) async -> Sequencer.Answer {
        do throws(LedgerFault) {
            return .success(try await sequencer.submit(SequencerFixture.opening(of: .default)))
        } catch {
            return .failure(error)
        }
    }
}

/// A store whose first transactions end under the test's control; later ones end immediately.
private final class StallingStore: BatchStore {
    typealias End = Result<Void, BatchFault>

    private struct State {
        var count = 0
        var stalled: CheckedContinuation<End, Never>?
    }

    private let stalls: Int
    private let state = Mutex(State())

    init(stalls: Int) {
        self.stalls = stalls
    }

    /// The number of transactions that were started.
    var count: Int { state.withLock(\.count) }

    var taskExecutor: (any TaskExecutor)? { nil }
    var deliveryExecutor: (any TaskExecutor)? { nil }

    /// Ends the transaction in progress.
    func end(_ end: End) {
        state.withLock { $0.stalled.take() }?.resume(returning: end)
    }

    func transact(
        _ keys: BatchKeys,
        _ decide: @escaping @Sendable (LoadedBatch, Range<Int>) throws(BatchFault) -> BatchOutcome
    ) async throws(BatchFault) -> BatchOutcome {
        let end = await withCheckedContinuation { continuation in
            let isStalled = state.withLock { state in
                state.count += 1
                if state.count <= stalls { state.stalled = continuation }
                return state.count <= stalls
            }
            if !isStalled { continuation.resume(returning: End.success(())) }
        }
        try end.get()
        return try decide(
            LoadedBatch(now: Timestamp(seconds: 0), tenants: [:]), 0..<keys.commandCount)
    }

    func close() async {}
}
