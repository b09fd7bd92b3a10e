package import Ledger
import TransparencyLog

/// Seals every log whose lease it holds up to its end: the sealer's loop, over any store and any record.
///
/// A pass over a log reads the events after the last stored hash, hashes their stored bytes, stores the
/// hashes, checks all of it against the last signature, writes the next checkpoint to the record, signs, and
/// publishes. It may end between any two of these steps; the next pass finds out where.
package struct LogSealing: Sendable {
    /// The result of one pass over all logs.
    package struct Round: Sendable {
        /// The signed sizes of the logs whose leases are held.
        package var signed: [TenantID: Int64] = [:]
        /// The number of checkpoints that were published.
        package var publishedCount = 0
        /// The logs that are not signed any further.
        package var refusals: [TenantID: SealingRefusal] = [:]
        /// The logs for which the database failed this time, with its message.
        package var faults: [TenantID: String] = [:]
        /// Whether a log was left before its end, so that the others get their share.
        package var hasMore = false
        /// The state of every log as it was read.
        package var logs: [SealerLog] = []
    }

    private let store: any SealerStore
    private let record: any SealerRecord
    private let limits: SealingLimits
    private var trees: [TenantID: SealedTree] = [:]
    /// The positions up to which logs that are not signed were searched for erasures.
    private var searched: [TenantID: Int64] = [:]

    /// Creates a loop; several may share a store's database, and the lease selects the one that works.
    package init(
        store: any SealerStore, record: any SealerRecord, limits: SealingLimits = SealingLimits()
    ) {
        self.store = store
        self.record = record
        self.limits = limits
    }

    /// Processes all logs once and signs at most one checkpoint of each; ends early when the task is
    /// cancelled.
    ///
    /// Calls `beat` before each log, as a sign of life. Logs for which `isRefused` is true are searched for
    /// erasures but not signed; those of `left` are left to other sealers.
    /// - Throws: the store's errors when it cannot be reached; the next pass then reloads everything.
    package mutating func round(
        without left: [TenantID] = [], isRefused: (TenantID) -> Bool = { _ in false },
        beat: () -> Void = {}
    ) async throws -> Round {
        var round = Round()
        do {
            round.logs = try await store.logs(without: left)
            for log in round.logs {
                guard !Task.isCancelled else { break }
                guard log.isHeld else {
                    trees[log.tenant] = nil
                    searched[log.tenant] = nil
                    continue
                }
                beat()
                if isRefused(log.tenant) {
                    trees[log.tenant] = nil
                    try await noteErasures(log)
                } else {
                    try await seal(log, into: &round)
                }
            }
        } catch {
            // The connection may now lead to another database, or to an earlier state of the same one.
            trees = [:]
            throw error
        }
        return round
    }

    private mutating func seal(_ log: SealerLog, into round: inout Round) async throws {
        do {
            let step = try await advance(log)
            round.publishedCount += step.publishedCount
            round.hasMore = round.hasMore || step.hasMore
            round.signed[log.tenant] = trees[log.tenant]?.signed.size
            searched[log.tenant] = nil
            return
        } catch let refusal as SealingRefusal {
            round.refusals[log.tenant] = refusal
        } catch SealerFault.notHeld {
            // Another sealer has the lease, and seals.
        } catch SealerRecordFault.outdated {
            // Another sealer had the lease in between; the next pass reads the record again.
        } catch let fault as SealerRecordFault {
            round.refusals[log.tenant] = .recordUnusable(fault.description)
        } catch {
            // An unreadable log must not keep the others from being signed.
            switch store.failure(of: error) {
            case .permanent(let what): round.refusals[log.tenant] = .databaseFails(what)
            case .temporary(let what): round.faults[log.tenant] = what
            case .unavailable, nil: throw error
            }
        }
        trees[log.tenant] = nil
    }

    /// The result of a pass over one log.
    private struct Step {
        var publishedCount = 0
        var hasMore = false
    }

    /// Advances a log to its next checkpoint, or part of the way.
    private mutating func advance(_ log: SealerLog) async throws -> Step {
        var tree: SealedTree
        var step = Step()
        var size = log.size
        if let known = trees[log.tenant] {
            tree = known
        } else {
            let loaded = try await TreeLoad(
                store: store, record: record, pageMax: limits.pageMax
            ).load(log.tenant)
            size = loaded.size
            tree = loaded.tree
            step.publishedCount = loaded.hasPublished ? 1 : 0
        }
        guard size >= tree.signed.size else {
            throw SealingRefusal.logTruncated(size: size, signed: tree.signed.size)
        }
        if tree.signed.size < size {
            let end = min(size, tree.signed.size + Int64(limits.signedMax))
            try await storeHashes(log.tenant, upTo: max(end, tree.stored.size), &tree)
            let check = TreeCheck(store: store, tenant: log.tenant, pageMax: limits.pageMax)
            if try await check.reread(&tree, limit: limits.signedMax) {
                try await check.expect(tree)
                try await sign(log.tenant, &tree)
                step.publishedCount += 1
            }
            step.hasMore = tree.signed.size < size
        }
        trees[log.tenant] = tree
        return step
    }

    /// Notes the erasures in one page of a log that is not signed, because they have to outlive the database
    /// too.
    private mutating func noteErasures(_ log: SealerLog) async throws {
        do {
            var from = searched[log.tenant] ?? 0
            if searched[log.tenant] == nil {
                // The erasures below the stored hashes were noted before these were stored.
                let count = try await store.logState(of: log.tenant).hashCount
                from = StoredHashIndex.leaves(count: count) ?? 0
            }
            from = min(from, log.size)
            searched[log.tenant] = from
            guard from < log.size else { return }
            let entries = try await authentic(of: log.tenant, from: from, limit: limits.pageMax)
            let erasures = entries.compactMap { SeenErasure(entry: $0) }
            if !erasures.isEmpty { try record.add(erasures, of: log.tenant) }
            // Where an event is missing, continues after it.
            searched[log.tenant] = from + Int64(max(1, entries.count))
        } catch is SealingRefusal {
            // Nothing about erasures is kept from events that no server has appended.
        } catch is SealerRecordFault {
            // This is the reason why the log is not signed, and was already reported.
        } catch {
            switch store.failure(of: error) {
            // The end of the hashes is unknown: begins at the first event.
            case .permanent: searched[log.tenant] = searched[log.tenant] ?? 0
            case .temporary: break
            case .unavailable, nil: throw error
            }
        }
    }

    /// Stores the hashes of the events up to a size.
    private func storeHashes(
        _ tenant: TenantID, upTo end: Int64, _ tree: inout SealedTree
    ) async throws {
        while tree.stored.size < end {
            let from = tree.stored.size
            let wanted = Int(min(Int64(limits.pageMax), end - from))
            let entries = try await store.entries(of: tenant, from: from, limit: wanted)
            guard entries.count == wanted else {
                throw SealingRefusal.contradicts(
                    SealingFinding(
                        what: "the event is missing", position: from + Int64(entries.count),
                        after: tree.signed.size, before: nil))
            }
            let index = tree.hashCount
            let hashes = tree.append(entries)
            // Before the hashes, because a sealer that resumes after them does not read these events again.
            let erasures = entries.compactMap { SeenErasure(entry: $0) }
            if !erasures.isEmpty { try record.add(erasures, of: tenant) }
            try await store.append(hashes, from: index, of: tenant)
        }
    }

    /// Returns the events before the first forged one; throws when that is the first.
    private func authentic(
        of tenant: TenantID, from: Int64, limit: Int
    ) async throws -> [[UInt8]] {
        do {
            return try await store.entries(of: tenant, from: from, limit: limit)
        } catch SealingRefusal.unauthentic(let damage) where damage.position.value > from {
            return try await store.entries(
                of: tenant, from: from, limit: Int(damage.position.value - from))
        }
    }

    /// Signs the stored tree.
    private func sign(_ tenant: TenantID, _ tree: inout SealedTree) async throws {
        let logState = try record.logState(of: tenant, mayBegin: false)
        let checkpoint = tree.checkpoint
        let signed = LastSigned(
            checkpoint: checkpoint, note: checkpoint.signed(by: logState.signers).description)
        // The signature now exists in this process alone; the record is written before it is published.
        try record.write(signed, after: tree.lastSigned, of: tenant)
        try await store.publish(
            signed, keys: logState.signers.map(\.verifier.vkey), of: tenant)
        tree.markSigned()
    }
}

/// The limits of one pass of a sealer.
package struct SealingLimits: Hashable, Sendable {
    /// The maximum number of events read at once.
    package var pageMax = 2_000
    /// The maximum number of events that one checkpoint adds: after it, other logs get their share.
    package var signedMax = 4_000

    /// Creates the default limits.
    package init() {}
}
