import JSON
import Ledger
import LedgerEngine
import LedgerPostgres
import Postgres
import TransparencyLog

/// The search for the last signed checkpoint: the largest of the newest origin with a valid
/// signature.
///
/// Unsigned rows are skipped. A login that may add rows can add larger ones, but sign none.
enum NewestCheckpoint {
    /// The number of unsigned rows after which the search is abandoned.
    static let unsignedMax = 10_000
    /// The number of rows per origin in the first read: nearly always the first one is signed.
    private static let fewRows = 8
    private static let pageRows = 500

    // A log that was continued after a restore has a new origin, with smaller sizes than the old
    // one may have reached; the newest key belongs to the current origin.
    private static let few = Statement(
        "checkpoint_latest",
        """
        SELECT c.origin, c.size, c.root, c.note, c.signed_at
        FROM (SELECT split_part(vkey, '+', 1) COLLATE "C" AS origin, max(added_at) AS added_at
            FROM checkpoint_keys WHERE tenant_id = $1 GROUP BY 1) k
        CROSS JOIN LATERAL (
            SELECT \(CheckpointRows.columns) FROM checkpoints
            WHERE tenant_id = $1 AND origin = k.origin
            ORDER BY size DESC LIMIT \(fewRows) OFFSET 0) c
        ORDER BY k.added_at DESC, k.origin, c.size DESC
        """)

    private static let below = Statement(
        "checkpoints_below",
        """
        SELECT \(CheckpointRows.columns) FROM checkpoints
        WHERE tenant_id = $1 AND origin = $2 AND size < $3 ORDER BY size DESC LIMIT \(pageRows)
        """)

    /// Returns the two queries whose results ``find(_:_:of:on:)`` expects.
    static func calls(of tenant: TenantID) -> [Call] {
        [Call(few, [.text(tenant.description)]), CheckpointRows.keysCall(of: tenant)]
    }

    /// Runs the queries and finds the checkpoint.
    ///
    /// - Throws: as ``find(_:_:of:on:)``.
    static func read(of tenant: TenantID, on connection: Connection) throws -> SignedCheckpoint? {
        let results = try connection.pipeline(calls(of: tenant))
        guard results.count == 2 else { throw PostgresError.unexpectedResult("no checkpoints") }
        return try find(results[0], results[1], of: tenant, on: connection)
    }

    /// Finds the checkpoint among the largest few rows of each origin, or else below them.
    ///
    /// - Parameters:
    ///   - few: The result of the first of ``calls(of:)``.
    ///   - keys: The result of the second.
    ///   - tenant: The tenant of the log.
    ///   - connection: A connection, in a transaction or not.
    /// - Returns: Nil if there are no rows at all.
    /// - Throws: `ProofDamage` if no row is trustworthy; `PostgresError`.
    static func find(
        _ few: QueryResult, _ keys: QueryResult, of tenant: TenantID, on connection: Connection
    ) throws -> SignedCheckpoint? {
        let verifiers = try CheckpointRows.verifiers(keys)
        var rest = try CheckpointRows.checkpoints(few)[...]
        guard let first = rest.first else { return nil }
        var unsignedCount = 0
        while let origin = rest.first?.origin {
            var page = Array(rest.prefix { $0.origin.isExactly(origin) })
            rest = rest.dropFirst(page.count)
            var isWhole = page.count < fewRows
            while true {
                if let signed = page.first(where: { $0.fault(verifiers) == nil }) { return signed }
                unsignedCount += page.count
                guard !isWhole, unsignedCount < unsignedMax, let last = page.last else { break }
                let more = try connection.query(
                    below, [.text(tenant.description), .text(origin), .int8(last.size)])
                page = try CheckpointRows.checkpoints(more)
                isWhole = page.count < pageRows
            }
        }
        throw ProofDamage(
            what: "the checkpoint of size \(first.size) of tenant \(tenant) "
                + (first.fault(verifiers) ?? "") + ", and so are those below it")
    }
}
