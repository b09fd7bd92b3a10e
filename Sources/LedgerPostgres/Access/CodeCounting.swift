import Ledger
import Postgres

/// Counts that one request raises together, or none of them.
struct CodeCounting {
    let counts: [CodeCount]
    let tenant: TenantID
    let now: Timestamp

    /// Counts in the order of the scopes, so that two transactions never wait for each other.
    private static let add = Statement(
        "count_codes",
        """
        INSERT INTO code_counts AS c (tenant_id, scope, count, ends_at)
        SELECT $1::text, \(added)
        \(adding)
        """)

    /// As ``add``, where Citus has to see from a table that all rows are of one node.
    private static let addOnCitus = Statement(
        "count_codes",
        """
        INSERT INTO code_counts AS c (tenant_id, scope, count, ends_at)
        SELECT h.tenant_id, \(added) CROSS JOIN (
            SELECT tenant_id FROM ledger_head WHERE tenant_id = $1 OFFSET 0) h
        \(adding)
        """)

    private static let added = """
        k.scope, k.added, $4::timestamptz + make_interval(secs => k.seconds)
        FROM (SELECT scope, added, seconds
            FROM unnest($2::bytea[], $3::int4[], $5::int4[]) AS s (scope, added, seconds)
            ORDER BY scope) k
        """

    private static let adding = """
        ON CONFLICT (tenant_id, scope) DO UPDATE
        SET count = CASE WHEN c.ends_at > $4::timestamptz THEN c.count ELSE 0 END
                + excluded.count,
            ends_at = CASE WHEN c.ends_at > $4::timestamptz THEN c.ends_at
                ELSE excluded.ends_at END
        RETURNING c.scope, c.count, c.ends_at
        """

    private static let counted = Statement(
        "counted_codes",
        """
        SELECT c.scope, c.count, c.ends_at
        FROM unnest($2::bytea[]) AS k (scope)
        CROSS JOIN LATERAL (
            SELECT scope, count, ends_at FROM code_counts
            WHERE tenant_id = $1 AND scope = k.scope AND ends_at > $3
            OFFSET 0) c
        """)

    private static let subtract = Statement(
        "uncount_code",
        """
        UPDATE code_counts SET count = greatest(0, count - $3)
        WHERE tenant_id = $1 AND scope = $2
        """)

    /// Raises counts in an open transaction.
    ///
    /// - Returns: For each request nil, or one of its counts that has reached its limit; it raises none then.
    static func add(
        _ requests: [CodeCounting], on connection: Connection
    ) throws -> [ReachedCount?] {
        var reached: [ReachedCount?] = Array(repeating: nil, count: requests.count)
        for (tenant, indices) in ordered(requests) {
            let added = totals(indices.map { requests[$0] })
            let now = indices.map { requests[$0].now }.max() ?? Timestamp(microseconds: 0)
            let engine = try DatabaseEngine(of: connection)
            let result = try connection.query(
                engine == .citus ? addOnCitus : add,
                [
                    .text(tenant.description), .byteArrays(added.keys.map(\.bytes)),
                    .int4s(added.values.map(\.count)), .timestamp(now.microseconds),
                    .int4s(added.values.map(\.seconds)),
                ])
            var counted = try read(result)
            for (scope, row) in added { counted[scope]?.count -= Int(row.count) }
            var refused: [CodeCounting] = []
            for index in indices {
                reached[index] = requests[index].reached(given: counted)
                if reached[index] != nil {
                    refused.append(requests[index])
                } else {
                    for count in requests[index].counts { counted[count.scope]?.count += 1 }
                }
            }
            try subtract(refused, on: connection)
        }
        return reached
    }

    /// Returns for each request nil, or one of its counts that has reached its limit.
    static func reached(
        _ requests: [CodeCounting], on connection: Connection
    ) throws -> [ReachedCount?] {
        var reached: [ReachedCount?] = Array(repeating: nil, count: requests.count)
        for (tenant, indices) in ordered(requests) {
            let scopes = Set(indices.flatMap { requests[$0].counts.map(\.scope) })
            guard !scopes.isEmpty else { continue }
            let now = indices.map { requests[$0].now }.max() ?? Timestamp(microseconds: 0)
            let counted = try read(
                connection.query(
                    Self.counted,
                    [
                        .text(tenant.description), .byteArrays(scopes.map(\.bytes)),
                        .timestamp(now.microseconds),
                    ]))
            for index in indices { reached[index] = requests[index].reached(given: counted) }
        }
        return reached
    }

    private static func read(
        _ result: QueryResult
    ) throws -> [Digest: (count: Int, ends: Timestamp)] {
        var counted: [Digest: (count: Int, ends: Timestamp)] = [:]
        for row in 0..<result.rowCount {
            let scope = try result.digest(row, result.column("scope"))
            counted[scope] = (
                count: Int(try result.int4(row, result.column("count"))),
                ends: Timestamp(
                    microseconds: try result.timestamp(row, result.column("ends_at")))
            )
        }
        return counted
    }

    /// Returns the last count to end of those that have reached their limits, of those without a kind first; nil
    /// without one.
    private func reached(
        given counted: [Digest: (count: Int, ends: Timestamp)]
    ) -> ReachedCount? {
        let waits = counts.compactMap { count -> ReachedCount? in
            guard let known = counted[count.scope], known.count >= count.limit else { return nil }
            return ReachedCount(
                count.kind, waitSeconds: max(1, known.ends.seconds - now.seconds))
        }
        return waits.max {
            ($0.kind == nil ? 1 : 0, $0.waitSeconds) < ($1.kind == nil ? 1 : 0, $1.waitSeconds)
        }
    }

    /// Lowers counts.
    static func subtract(_ requests: [CodeCounting], on connection: Connection) throws {
        for (tenant, indices) in ordered(requests) {
            let subtracted = totals(indices.map { requests[$0] })
            // In the order of the scopes, as they are added.
            _ = try connection.pipeline(
                subtracted.sorted { $0.key.bytes.lexicographicallyPrecedes($1.key.bytes) }.map {
                    Call(
                        subtract,
                        [
                            .text(tenant.description), .bytes($0.key.bytes), .int4($0.value.count),
                        ])
                })
        }
    }

    private static func ordered(
        _ requests: [CodeCounting]
    ) -> [(tenant: TenantID, indices: [Int])] {
        Dictionary(grouping: requests.indices) { requests[$0].tenant }
            .sorted { $0.key.description < $1.key.description }
            .map { (tenant: $0.key, indices: $0.value) }
    }

    private static func totals(
        _ requests: [CodeCounting]
    ) -> [Digest: (count: Int32, seconds: Int32)] {
        requests.flatMap(\.counts).reduce(into: [:]) {
            $0[$1.scope, default: (count: 0, seconds: Int32($1.windowSeconds))].count += 1
        }
    }
}
