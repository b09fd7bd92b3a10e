package import Ledger
internal import Synchronization

/// Conflicts, computed by folding the whole log, and notes on them.
package final class InMemoryConflicts: ConflictReader {
    private struct Key: Hashable {
        let tenant: TenantID
        let first: LogPosition
        let last: LogPosition
    }

    private let ledger: InMemoryLedger
    private let reviews = Mutex<[Key: ConflictReview]>([:])

    /// Reads this ledger.
    package init(_ ledger: InMemoryLedger) {
        self.ledger = ledger
    }

    private func folded(
        _ tenant: TenantID
    ) throws(LedgerFault) -> (conflicts: [Conflict], extent: ConflictExtent) {
        let log = ledger.recordings(of: tenant)
        var fold = ConflictFold()
        for recording in log {
            guard (try? fold.apply(recording.recorded)) != nil else { throw .unavailable }
        }
        let size = Int64(log.count)
        return (fold.conflicts, ConflictExtent(foldedSize: size, logSize: size))
    }

    private func key(of conflict: Conflict, in tenant: TenantID) -> Key {
        Key(tenant: tenant, first: conflict.first.position, last: conflict.last.position)
    }

    private func review(of conflict: Conflict, in tenant: TenantID) -> ConflictReview? {
        let key = key(of: conflict, in: tenant)
        return reviews.withLock { $0[key] }
    }

    /// Returns the next conflicts in the order of their last attempts, or in the reverse one.
    package func conflicts(
        matching query: ConflictQuery, in tenant: TenantID
    ) async throws(LedgerFault) -> ConflictPage {
        let (all, extent) = try folded(tenant)
        let found = all.sorted { query.order.isAfter($1.last.position, $0.last.position) }
            .filter { conflict in
                let isNext = query.after.map { query.order.isAfter(conflict.last.position, $0) }
                return isNext ?? true && query.wants(conflict)
            }
        let shown = Array(found.prefix(query.limit))
        var notes: [LogPosition: ConflictReview] = [:]
        for conflict in shown { notes[conflict.first.position] = review(of: conflict, in: tenant) }
        return ConflictPage(
            page: CursorPage(
                elements: shown, cursor: shown.last?.last.position.value ?? query.after?.value,
                hasMore: found.count > shown.count), reviews: notes, extent: extent)
    }

    /// Returns the conflict that begins with an event.
    package func conflict(
        of first: EventID, in tenant: TenantID
    ) async throws(LedgerFault) -> (found: ReviewedConflict, extent: ConflictExtent)? {
        let (all, extent) = try folded(tenant)
        return all.first { $0.first.event == first }.map {
            (ReviewedConflict($0, review(of: $0, in: tenant)), extent)
        }
    }

    /// Counts all conflicts.
    package func counts(in tenant: TenantID) async throws(LedgerFault) -> ConflictCounts {
        let (all, extent) = try folded(tenant)
        let open = all.filter { $0.state == .open }
        return ConflictCounts(
            open: Int64(open.count),
            reviewed: Int64(open.count { review(of: $0, in: tenant) != nil }),
            resolved: Int64(all.count - open.count), hasMore: false, extent: extent)
    }

    /// Sets or deletes the note on a conflict.
    package func review(
        _ first: EventID, _ review: ConflictReview?, in tenant: TenantID
    ) async throws(LedgerFault) -> Result<Void, ReviewRefusal> {
        guard let conflict = try folded(tenant).conflicts.first(where: { $0.first.event == first })
        else { return .failure(.unknownConflict) }
        let parties = [conflict.caller] + (conflict.holder.map { [$0] } ?? [])
        let erased = ledger.recordings(of: tenant).compactMap(\.recorded.event.erasedAccount)
        guard review == nil || !parties.contains(where: erased.contains) else {
            return .failure(.accountErased)
        }
        let key = key(of: conflict, in: tenant)
        reviews.withLock { $0[key] = review }
        return .success(())
    }
}
