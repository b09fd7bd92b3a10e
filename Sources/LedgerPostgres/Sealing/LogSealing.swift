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
        /// Every log as it was found.
        package var logs: [SealerLog] = []
    }

    private let store: any SealerStore
    private let record: any SealerRecord
    private let limits: SealingLimits
    private var trees: [TenantID: SealedTree] = [:]

    /// Makes a loop; several may share a store's database, and the lease lets one of them work.
    package init(
        store: any SealerStore, record: any SealerRecord, limits: SealingLimits = SealingLimits()
    ) {
        self.store = store
        self.record = record
        self.limits = limits
    }

    /// Looks at all logs once; ends early when the task is cancelled.
    ///
    /// Calls `beat` before each log, as a sign of life. Those that `isRefused` names are left alone.
    /// - Throws: what the store throws when it cannot be reached; then everything is looked at afresh.
    package mutating func round(
        isRefused: (TenantID) -> Bool = { _ in false }, beat: () -> Void = {}
    ) async throws -> Round {
        var round = Round()
        do {
            round.logs = try await store.logs()
            for log in round.logs {
                guard !Task.isCancelled else { break }
                guard log.isHeld, !isRefused(log.tenant) else {
                    trees[log.tenant] = nil
                    continue
                }
                beat()
                try await seal(log, into: &round)
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
            round.publishedCount += try await advance(log)
            round.signed[log.tenant] = trees[log.tenant]?.signed.size
            return
        } catch let refusal as SealingRefusal {
            round.refusals[log.tenant] = refusal
        } catch SealerFault.notHeld {
            // Somebody else has it, and will seal.
        } catch SealerRecordFault.outdated {
            // Somebody else had it in between; the next look finds out what was signed.
        } catch let fault as SealerRecordFault {
            round.refusals[log.tenant] = .recordUnfit(fault.description)
        }
        trees[log.tenant] = nil
    }

    /// Seals a log up to its end; how many checkpoints were published.
    private mutating func advance(_ log: SealerLog) async throws -> Int {
        var tree: SealedTree
        var published = 0
        var size = log.size
        if let known = trees[log.tenant] {
            tree = known
        } else {
            let loaded = try await TreeLoading(
                store: store, record: record, pageMax: limits.pageMax
            ).load(log.tenant)
            size = loaded.size
            tree = loaded.tree
            published = loaded.hasPublished ? 1 : 0
        }
        guard size >= tree.signed.size else {
            throw SealingRefusal.logWentBack(size: size, signed: tree.signed.size)
        }
        while tree.signed.size < size, !Task.isCancelled {
            let end = min(size, tree.signed.size + Int64(limits.signedMax))
            try await storeHashes(log.tenant, upTo: max(end, tree.stored.size), &tree)
            try await sign(log.tenant, &tree)
            published += 1
        }
        trees[log.tenant] = tree
        return published
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

    /// Checks what is stored against what was signed, and signs it.
    private func sign(_ tenant: TenantID, _ tree: inout SealedTree) async throws {
        try await TreeCheck(store: store, tenant: tenant, pageMax: limits.pageMax)
            .expect(tree)
        let standing = try record.standing(of: tenant, mayBegin: false)
        let checkpoint = tree.checkpoint
        let signed = LastSigned(
            checkpoint: checkpoint, note: checkpoint.signed(by: standing.signers).description)
        // The signature exists from here on, in this process alone; the record comes before the world.
        try record.write(signed, of: tenant)
        try await store.publish(
            signed, keys: standing.signers.map(\.verifier.vkey), of: tenant)
        tree.markSigned()
    }
}

/// How much a sealer takes at a time.
package struct SealingLimits: Hashable, Sendable {
    /// Events that are read at once at the most.
    package var pageMax = 2_000
    /// Events that one checkpoint adds at the most, while there are more.
    package var signedMax = 40_000

    /// The usual limits.
    package init() {}
}
