import Ledger
import Postgres
import TransparencyLog

/// The statements that read `checkpoints` and `checkpoint_keys`.
enum CheckpointRows {
    private static let columns = "origin, size, root, note, signed_at"

    // A log that was continued after a restore has a new origin, with smaller sizes than the old one
    // may have reached; the key that came last is the current origin's. Several rows, because the
    // largest may be one that nobody signed.
    private static let latest = Statement(
        "checkpoint_latest",
        """
        SELECT c.origin, c.size, c.root, c.note, c.signed_at
        FROM (SELECT split_part(vkey, '+', 1) COLLATE "C" AS origin, max(added_at) AS added_at
            FROM checkpoint_keys WHERE tenant_id = $1 GROUP BY 1) k
        CROSS JOIN LATERAL (
            SELECT \(columns) FROM checkpoints WHERE tenant_id = $1 AND origin = k.origin
            ORDER BY size DESC LIMIT 8 OFFSET 0) c
        ORDER BY k.added_at DESC, k.origin, c.size DESC
        """)

    private static let ofSize = Statement(
        "checkpoint_of_size",
        """
        SELECT \(columns) FROM checkpoints
        WHERE tenant_id = $1 AND size = $2 ORDER BY signed_at DESC
        """)

    private static let ofSizes = Statement(
        "checkpoints_of_sizes",
        """
        SELECT \(columns) FROM checkpoints
        WHERE tenant_id = $1 AND size BETWEEN $2 AND $3
        ORDER BY size FETCH FIRST ($4::bigint) ROWS WITH TIES
        """)

    private static let keys = Statement(
        "checkpoint_keys",
        "SELECT vkey, added_at FROM checkpoint_keys WHERE tenant_id = $1 ORDER BY added_at, vkey")

    /// Asks for the largest checkpoints of each origin, those of the newest origin first.
    static func latestCall(of tenant: TenantID) -> Call {
        Call(latest, [.text(tenant.description)])
    }

    /// Asks for the checkpoints of one size, that of the newest origin first.
    static func call(of tenant: TenantID, size: Int64) -> Call {
        Call(ofSize, [.text(tenant.description), .int8(size)])
    }

    /// Asks for checkpoints with sizes of a range, the smallest first; a size is never cut in two.
    static func call(of tenant: TenantID, sizes: ClosedRange<Int64>, limit: Int) -> Call {
        Call(
            ofSizes,
            [
                .text(tenant.description), .int8(sizes.lowerBound), .int8(sizes.upperBound),
                .int8(Int64(limit)),
            ])
    }

    /// Asks for the keys, the oldest first.
    static func keysCall(of tenant: TenantID) -> Call {
        Call(keys, [.text(tenant.description)])
    }

    static func checkpoints(_ result: QueryResult) throws(PostgresError) -> [SignedCheckpoint] {
        var checkpoints: [SignedCheckpoint] = []
        checkpoints.reserveCapacity(result.rowCount)
        for row in 0..<result.rowCount {
            guard let root = Digest(try result.bytes(row, 2)) else {
                throw .unexpectedResult("a root has not 32 bytes")
            }
            checkpoints.append(
                SignedCheckpoint(
                    origin: try result.text(row, 0), size: try result.int8(row, 1), root: root,
                    note: try result.text(row, 3),
                    signedAt: Timestamp(microseconds: try result.timestamp(row, 4))))
        }
        return checkpoints
    }

    static func keys(_ result: QueryResult) throws(PostgresError) -> [CheckpointKey] {
        var keys: [CheckpointKey] = []
        for row in 0..<result.rowCount {
            keys.append(
                CheckpointKey(
                    verifierKey: try result.text(row, 0),
                    addedAt: Timestamp(microseconds: try result.timestamp(row, 1))))
        }
        return keys
    }

    /// The keys of rows that hold one.
    static func verifiers(_ result: QueryResult) throws(PostgresError) -> [NoteVerifier] {
        try keys(result).compactMap { NoteVerifier($0.verifierKey) }
    }

    /// The largest checkpoint of the newest origin that one of these keys has signed; nil when there are
    /// no rows at all.
    ///
    /// - Throws: `ProofDamage` when none of the rows is to be believed.
    static func latest(
        _ result: QueryResult, of tenant: TenantID, _ verifiers: [NoteVerifier]
    ) throws -> SignedCheckpoint? {
        let rows = try checkpoints(result)
        guard let first = rows.first else { return nil }
        let signed = rows.first { $0.origin == first.origin && $0.fault(verifiers) == nil }
        guard let signed else {
            let what = first.fault(verifiers) ?? ""
            throw ProofDamage(
                what: "the checkpoint of size \(first.size) of tenant \(tenant) \(what)")
        }
        return signed
    }
}
