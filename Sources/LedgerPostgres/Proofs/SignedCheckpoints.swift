import Ledger
import Postgres
import TransparencyLog

/// The checkpoints of a log by size, without the rows that nobody signed.
struct SignedCheckpoints {
    /// Some of them, and how many rows in between were left out.
    struct Page {
        var signed: [SignedCheckpoint] = []
        var strayCount = 0
    }

    /// Rows that are read at a time, where no more are wanted.
    private static let pageRows = 100

    let tenant: TenantID
    /// The keys that count.
    let verifiers: [NoteVerifier]
    let connection: Connection

    /// Those with sizes of a range, the smallest first.
    ///
    /// - Parameters:
    ///   - sizes: the range.
    ///   - limit: how many at the most, but for those of the same size as the last.
    ///   - origin: only those of one log; nil for all that a restore has ended, too.
    /// - Returns: fewer than the limit only when there are no more.
    /// - Throws: `ProofDamage` when too many rows in between are signed by nobody, or one is signed with
    ///   another root than it says; `PostgresError`.
    func page(
        sizes: ClosedRange<Int64>, limit: Int, origin: NoteKeyName? = nil
    ) throws -> Page {
        let rowsMax = max(limit, Self.pageRows)
        var page = Page()
        var first = sizes.lowerBound
        while true {
            let rows = try read(first...sizes.upperBound, limit: rowsMax)
            for row in rows {
                if let origin, !isExactly(origin.description, row.origin) { continue }
                if row.fault(verifiers) == nil {
                    page.signed.append(row)
                    continue
                }
                guard !row.isSignedOtherwise(verifiers) else {
                    throw ProofDamage(
                        what:
                            "the checkpoint of size \(row.size) of tenant \(tenant) is signed with"
                            + " another root than its row's")
                }
                page.strayCount += 1
            }
            guard page.signed.count < limit, rows.count >= rowsMax, let last = rows.last,
                last.size < sizes.upperBound
            else { break }
            guard page.strayCount < NewestCheckpoint.strayMax else {
                throw ProofDamage(
                    what:
                        "\(page.strayCount) checkpoints of tenant \(tenant) up to size \(last.size) are"
                        + " signed by nobody")
            }
            first = last.size + 1
        }
        if page.signed.count > limit {
            let last = page.signed[limit - 1].size
            page.signed = Array(page.signed.prefix { $0.size <= last })
        }
        return page
    }

    private func read(
        _ sizes: ClosedRange<Int64>, limit: Int
    ) throws(PostgresError) -> [SignedCheckpoint] {
        let call = CheckpointRows.call(of: tenant, sizes: sizes, limit: limit)
        return try CheckpointRows.checkpoints(
            try connection.query(call.statement, call.parameters))
    }
}
