package import Ledger
import TransparencyLog

/// Seals every log whose lease it has up to its end: the sealer's loop, over any store and any record.
///
/// A look at a log reads the events behind the last stored hash, hashes their stored bytes, stores the
/// hashes, checks all of it against what was signed before, writes what it is going to sign to the
/// record, signs, and publishes. Between any two of these it may end; whoever goes on finds out where.
package struct LogSealing: Sendable {
    /// What one look at all logs came to.
    package struct Round: Sendable {
        /// The sizes up to which logs that are held are signed.
        package var signed: [TenantID: Int64] = [:]
        /// Checkpoints that were published.
        package var publishedCount = 0
        /// Logs that are not signed further.
        package var refusals: [TenantID: SealingRefusal] = [:]
        /// Logs that the database could not be asked for this time, and what it said.
        package var faults: [TenantID: String] = [:]
        /// Whether a log was left before its end, because the others have their turn, too.
        package var hasMore = false
        /// Every log as it was found.
        package var logs: [SealerLog] = []
    }

    private let store: any SealerStore
    private let record: any SealerRecord
    private let limits: SealingLimits
    private var trees: [TenantID: SealedTree] = [:]
    /// Up to where logs that are not signed were searched for erasures.
    private var searched: [TenantID: Int64] = [:]

    /// Makes a loop; several may share a store's database, and the lease lets one of them work.
    package init(
        store: any SealerStore, record: any SealerRecord, limits: SealingLimits = SealingLimits()
    ) {
        self.store = store
        self.record = record
        self.limits = limits
    }

    /// Looks at all logs once and signs at most one checkpoint of each; ends early when the task is
    /// cancelled.
    ///
    /// Calls `beat` before each log, as a sign of life. Those that `isRefused` names are not signed, and
    /// searched for erasures all the same; those of `left` are for others to seal.
    /// - Throws: what the store throws when it cannot be reached; then everything is looked at afresh.
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
            // The connection may lead to another database now, or to the same one at another time.
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
            // Somebody else has it, and will seal.
        } catch SealerRecordFault.outdated {
            // Somebody else had it in between; the next look finds out what was signed.
        } catch let fault as SealerRecordFault {
            round.refusals[log.tenant] = .recordUnfit(fault.description)
        } catch {
            // One log that can't be read must not keep the others from being signed.
            switch StoreTrouble(error) {
            case .lasting(let what): round.refusals[log.tenant] = .databaseFails(what)
            case .passing(let what): round.faults[log.tenant] = what
            case .away, nil: throw error
            }
        }
        trees[log.tenant] = nil
    }

    /// What a look at one log came to.
    private struct Step {
        var publishedCount = 0
        var hasMore = false
    }

    /// Takes a log to its next checkpoint, or a part of the way.
    private mutating func advance(_ log: SealerLog) async throws -> Step {
        var tree: SealedTree
        var step = Step()
        var size = log.size
        if let known = trees[log.tenant] {
            tree = known
        } else {
            let loaded = try await TreeLoading(
                store: store, record: record, pageMax: limits.pageMax
            ).load(log.tenant)
            size = loaded.size
            tree = loaded.tree
            step.publishedCount = loaded.hasPublished ? 1 : 0
        }
        guard size >= tree.signed.size else {
            throw SealingRefusal.logWentBack(size: size, signed: tree.signed.size)
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

    /// Looks for erasures in a log that is not signed, a page of it: they have to outlive the database
    /// all the same.
    private mutating func noteErasures(_ log: SealerLog) async throws {
        do {
            var from = searched[log.tenant] ?? 0
            if searched[log.tenant] == nil {
                // The erasures before the end of the hashes were noted before these were stored.
                let count = try await store.standing(of: log.tenant).hashCount
                from = StoredHashIndex.leaves(count: count) ?? 0
            }
            from = min(from, log.size)
            searched[log.tenant] = from
            guard from < log.size else { return }
            let entries = try await authentic(of: log.tenant, from: from, limit: limits.pageMax)
            let erasures = entries.compactMap { SeenErasure(entry: $0) }
            if !erasures.isEmpty { try record.add(erasures, of: log.tenant) }
            // Where an event is missing, behind it.
            searched[log.tenant] = from + Int64(max(1, entries.count))
        } catch is SealingRefusal {
            // Whoever wrote that, what it says about erasures is nothing to keep.
        } catch is SealerRecordFault {
            // It is why the log is not signed, and said already.
        } catch {
            switch StoreTrouble(error) {
            // Where the hashes end can't be told: from the first event on.
            case .lasting: searched[log.tenant] = searched[log.tenant] ?? 0
            case .passing: break
            case .away, nil: throw error
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
            // Before the hashes: whoever goes on from there would not read these events again.
            let erasures = entries.compactMap { SeenErasure(entry: $0) }
            if !erasures.isEmpty { try record.add(erasures, of: tenant) }
            try await store.append(hashes, from: index, of: tenant)
        }
    }

    /// The events before the first that no server has appended; throws when that is the first.
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

    /// Signs what is stored.
    private func sign(_ tenant: TenantID, _ tree: inout SealedTree) async throws {
        let standing = try record.standing(of: tenant, mayBegin: false)
        let checkpoint = tree.checkpoint
        let signed = LastSigned(
            checkpoint: checkpoint, note: checkpoint.signed(by: standing.signers).description)
        // The signature exists from here on, in this process alone; the record comes before the world.
        try record.write(signed, after: tree.lastSigned, of: tenant)
        try await store.publish(
            signed, keys: standing.signers.map(\.verifier.vkey), of: tenant)
        tree.markSigned()
    }
}

/// How much a sealer takes at a time.
package struct SealingLimits: Hashable, Sendable {
    /// Events that are read at once at the most.
    package var pageMax = 2_000
    /// Events that one checkpoint adds at the most: while there are more, other logs have their turn.
    package var signedMax = 4_000

    /// The usual limits.
    package init() {}
}
