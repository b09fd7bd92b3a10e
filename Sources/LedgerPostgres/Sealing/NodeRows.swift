package import Ledger
package import Postgres
package import TransparencyLog

/// The statements that read `merkle_nodes`: stored hashes by their indexes.
package enum NodeRows {
    /// The maximum number of hashes in a row, which prevents out-of-line storage.
    static let hashesMax = 56

    private static let at = Statement(
        "merkle_nodes_at",
        """
        SELECT substr(n.hashes, ((i.index - n.first_index) * 32 + 1)::int, 32)
        FROM unnest($2::bigint[]) WITH ORDINALITY AS i (index, place)
        LEFT JOIN LATERAL (
            SELECT first_index, hashes FROM merkle_nodes
            WHERE tenant_id = $1 AND first_index <= i.index AND first_index > i.index - 56
            ORDER BY first_index DESC LIMIT 1 OFFSET 0) n ON true
        ORDER BY i.place
        """)

    /// Requests the hashes at some indexes.
    package static func call(at indexes: [Int64], of tenant: TenantID) -> Call {
        Call(at, [.text(tenant.description), .int8s(indexes)])
    }

    /// Returns the hashes in the order of the request; nil where none is stored.
    package static func hashes(_ result: QueryResult) throws(PostgresError) -> [TreeHash?] {
        var hashes: [TreeHash?] = []
        hashes.reserveCapacity(result.rowCount)
        for row in 0..<result.rowCount {
            hashes.append(try result.optionalBytes(row, 0).flatMap { TreeHash($0) })
        }
        return hashes
    }
}
