package import Ledger

/// Conflicts, computed by folding the whole log.
extension InMemoryLedger: ConflictReader {
    /// Returns the next conflicts in the order of their last attempts, or in the reverse one.
    package func conflicts(
        matching query: ConflictQuery, in tenant: TenantID
    ) async throws(LedgerFault) -> ConflictPage {
        let log = recordings(of: tenant)
        var fold = ConflictFold()
        for recording in log {
            guard (try? fold.apply(recording.recorded)) != nil else { throw .unavailable }
        }
        let found = fold.conflicts.sorted {
            query.order.isAfter($1.last.position, $0.last.position)
        }
        .filter { conflict in
            let isNext = query.after.map { query.order.isAfter(conflict.last.position, $0) }
            return isNext ?? true && query.wants(conflict)
        }
        let shown = Array(found.prefix(query.limit))
        return ConflictPage(
            page: CursorPage(
                elements: shown, cursor: shown.last?.last.position.value ?? query.after?.value,
                hasMore: found.count > shown.count),
            foldedSize: Int64(log.count), logSize: Int64(log.count))
    }
}
