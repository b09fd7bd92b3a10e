import JSON
import Ledger
import LedgerEngine
import LedgerPostgres
import Postgres
import TransparencyLog

/// The checkpoints of a log by size, without unsigned rows.
struct SignedCheckpoints {
    /// A page of checkpoints, with the number of unsigned rows omitted between them.
    struct Page {
        var signed: [SignedCheckpoint] = []
        var unsignedCount = 0
    }

    /// The minimum number of rows read at once.
    private static let pageRows = 100

    let tenant: TenantID
    /// The accepted keys.
    let verifiers: [NoteVerifier]
    let connection: Connection

    /// Returns the checkpoints with sizes in a range, the smallest first.
    ///
    /// - Parameters:
    ///   - sizes: The range.
    ///   - limit: The maximum number, except for more of the last one's size.
    ///   - origin: Restricts the page to one log; nil includes all logs that a restore has ended.
    /// - Returns: Fewer than the limit only if there are no more.
    /// - Throws: `ProofDamage` if there are too many unsigned rows in between, or a row contradicts
    ///   the root in its signed note; `PostgresError`.
    func page(
        sizes: ClosedRange<Int64>, limit: Int, origin: NoteKeyName? = nil
    ) throws -> Page {
        let rowsMax = max(limit, Self.pageRows)
        var page = Page()
        var first = sizes.lowerBound
        while true {
            let rows = try read(first...sizes.upperBound, limit: rowsMax)
            for row in rows {
                if let origin, !origin.description.isExactly(row.origin) { continue }
                if row.fault(verifiers) == nil {
                    page.signed.append(row)
                    continue
                }
                guard !row.isSignedOtherwise(verifiers) else {
                    throw ProofDamage(
                        what:
                            "the checkpoint of size \(row.size) of tenant \(tenant) is signed with"
                            + " another root than in its row")
                }
                page.unsignedCount += 1
            }
            guard page.signed.count < limit, rows.count >= rowsMax, let last = rows.last,
                last.size < sizes.upperBound
            else { break }
            guard page.unsignedCount < NewestCheckpoint.unsignedMax else {
                throw ProofDamage(
                    what:
                        "\(page.unsignedCount) checkpoints of tenant \(tenant) up to size \(last.size) are"
                        + " unsigned")
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
