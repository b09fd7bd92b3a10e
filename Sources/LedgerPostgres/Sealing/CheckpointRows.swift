package import Ledger
package import Postgres
package import TransparencyLog

/// The statements that read `checkpoints` and `checkpoint_keys`.
package enum CheckpointRows {
    /// The columns that ``checkpoints(_:)`` reads.
    package static let columns =
        "origin, size, root, note, \(PlausibleTime.sql("signed_at")) AS signed_at"

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
        """
        SELECT vkey, \(PlausibleTime.sql("added_at")) AS added_at FROM checkpoint_keys
        WHERE tenant_id = $1 ORDER BY checkpoint_keys.added_at, vkey
        """)

    /// Requests the checkpoints of one size, that of the newest origin first.
    package static func call(of tenant: TenantID, size: Int64) -> Call {
        Call(ofSize, [.text(tenant.description), .int8(size)])
    }

    /// Requests checkpoints with sizes in a range, the smallest first; those of one size are never
    /// split.
    package static func call(of tenant: TenantID, sizes: ClosedRange<Int64>, limit: Int) -> Call {
        Call(
            ofSizes,
            [
                .text(tenant.description), .int8(sizes.lowerBound), .int8(sizes.upperBound),
                .int8(Int64(limit)),
            ])
    }

    /// Requests the keys, the oldest first.
    package static func keysCall(of tenant: TenantID) -> Call {
        Call(keys, [.text(tenant.description)])
    }

    /// Reads ``columns``.
    package static func checkpoints(
        _ result: QueryResult
    ) throws(PostgresError) -> [SignedCheckpoint] {
        var checkpoints: [SignedCheckpoint] = []
        checkpoints.reserveCapacity(result.rowCount)
        for row in 0..<result.rowCount {
            guard let root = Digest(try result.bytes(row, result.column("root"))) else {
                throw .unexpectedResult("a root is not 32 bytes long")
            }
            checkpoints.append(
                SignedCheckpoint(
                    origin: try result.text(row, result.column("origin")),
                    size: try result.int8(row, result.column("size")), root: root,
                    note: try result.text(row, result.column("note")),
                    signedAt: Timestamp(
                        microseconds: try result.timestamp(row, result.column("signed_at")))))
        }
        return checkpoints
    }

    /// Reads the result of ``keysCall(of:)``.
    package static func keys(_ result: QueryResult) throws(PostgresError) -> [CheckpointKey] {
        var keys: [CheckpointKey] = []
        for row in 0..<result.rowCount {
            keys.append(
                CheckpointKey(
                    verifierKey: try result.text(row, result.column("vkey")),
                    addedAt: Timestamp(
                        microseconds: try result.timestamp(row, result.column("added_at")))))
        }
        return keys
    }

    /// Returns the keys of the rows that contain one.
    package static func verifiers(_ result: QueryResult) throws(PostgresError) -> [NoteVerifier] {
        try keys(result).compactMap { NoteVerifier($0.verifierKey) }
    }
}
