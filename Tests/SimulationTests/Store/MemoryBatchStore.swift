import Ledger

@testable import LedgerEngine

/// One process's connection to the simulated database, with all faults on the way.
final class MemoryBatchStore: BatchStore {
    private let process: SimulatedProcess
    private let world: World

    init(process: SimulatedProcess, world: World) {
        self.process = process
        self.world = world
    }

    private var database: MemoryDatabase { world.database }

    // Everything in a process runs on its sequencer's lane, in the scheduler's order.
    var taskExecutor: (any TaskExecutor)? { nil }
    var deliveryExecutor: (any TaskExecutor)? { nil }

    func transact(
        _ keys: BatchKeys,
        _ decide: @escaping @Sendable (LoadedBatch, Range<Int>) throws(BatchFault) -> BatchOutcome
    ) async throws(BatchFault) -> BatchOutcome {
        let first = process.decidedCount
        await world.faultPoint("asks for the lock", in: process)
        if world.strikes(.connectionLost) { throw .connectionLost }
        let locked = try await database.lock(Array(keys.tenants), for: process.number).get()
        await world.faultPoint("has read", in: process)
        let loading = BatchLoading(
            keys: keys, now: locked.now,
            signInWindowSeconds: world.decider.signInWindowSeconds,
            forgetsAnswers: world.bug == .idempotencyNotLoaded,
            forgetsNumberUses: world.bug == .unusedNumberSignsIn)
        let loaded = loading.load(locked.tenants)
        let outcome: BatchOutcome
        do throws(BatchFault) {
            outcome = try decide(loaded, 0..<keys.commandCount)
        } catch {
            database.rollBack(locked.transaction)
            throw error
        }
        let batch = CommittedBatch(
            process: process.number, arrivals: first..<first + outcome.answers.count,
            now: locked.now, firstPositions: loaded.tenants.mapValues(\.firstPosition))
        var writes = loaded.tenants.values.sorted { $0.tenant < $1.tenant }.map(TenantWrites.init)
        if world.bug == .upgradeNotWritten {
            for index in writes.indices { writes[index].upgraded = [] }
        }
        if world.bug == .upgradeWithoutUnlink {
            for index in writes.indices { writes[index].keepUpgradedLinks() }
        }
        if world.bug == .challengeNotEnded {
            for index in writes.indices { writes[index].spent = [] }
        }
        if world.bug == .factorNotRequired {
            for index in writes.indices { writes[index].factored = [] }
        }
        if world.bug == .factorUseNotWritten {
            for index in writes.indices {
                for id in writes[index].factorsUsed { writes[index].factors[id] = nil }
            }
        }
        if world.bug == .passkeyUseNotWritten {
            for index in writes.indices { writes[index].passkeyCounts = [:] }
        }
        await world.faultPoint("has decided", in: process)
        return try await commit(outcome, writes, locked.transaction, batch)
    }

    func close() async {
        database.disconnect(process.number)
    }

    private func commit(
        _ outcome: BatchOutcome, _ writes: [TenantWrites], _ transaction: Int,
        _ batch: CommittedBatch
    ) async throws(BatchFault) -> BatchOutcome {
        if world.strikes(.connectionLost) {
            database.rollBack(transaction)
            throw .connectionLost
        }
        if world.bug == .ackBeforeCommit {
            Task(executorPreference: process.lane) { [self] in
                await world.faultPoint("commits late", in: process)
                try? database.commit(transaction, writes, as: batch)
            }
            return outcome
        }
        let failure = world.commitFailure(writes, in: batch)
        if world.bug == .uncommittedSealed {
            world.seals.show(writes, isShown: true)
            await world.faultPoint("is about to commit", in: process)
        }
        defer { if world.bug == .uncommittedSealed { world.seals.show(writes, isShown: false) } }
        do throws(BatchFault) {
            try database.commit(transaction, writes, as: batch, failure: failure)
        } catch {
            world.trace("commit failed: \(error)", in: process)
            throw error
        }
        world.trace(
            "committed \(batch.arrivals) at \(writes.map(\.firstPosition.value))", in: process)
        await world.faultPoint("has committed", in: process)
        if world.strikes(.ackLost) {
            if world.bug == .commitRepeatedBlindly { throw .refused }
            throw .connectionLost
        }
        return outcome
    }
}
