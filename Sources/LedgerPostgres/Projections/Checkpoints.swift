import Ledger
import Postgres

/// The statements over `projections`: where each projection of each tenant stands.
enum Checkpoints {
    /// A projection that has not folded everything.
    struct Behind {
        let tenant: TenantID
        let name: ProjectionName
        /// The next position that it folds, as it was read without a lock.
        let position: LogPosition
        /// The tenant's head when that was read.
        let head: LogPosition
        let isNew: Bool
    }

    /// A checkpoint whose row this transaction has locked.
    struct Lease {
        let position: LogPosition
        let version: Int32
        let failure: String?
    }

    private static let behind = Statement(
        "projections_behind",
        """
        SELECT h.tenant_id, n.name, p.position, h.next_position
        FROM ledger_head h CROSS JOIN unnest($1::text[], $2::int[]) AS n (name, version)
        LEFT JOIN LATERAL (
            SELECT * FROM projections
            WHERE tenant_id = h.tenant_id AND name = n.name
            OFFSET 0) p ON true
        WHERE p.position IS NULL
            OR (p.position < h.next_position AND p.failure IS NULL AND p.version = n.version)
        ORDER BY h.tenant_id, p.position NULLS FIRST
        """)

    private static let make = Statement(
        "make_projections",
        """
        INSERT INTO projections (tenant_id, name, version)
        SELECT * FROM unnest($1::text[], $2::text[], $3::int[]) ON CONFLICT DO NOTHING
        """)

    // Where another process holds the row there is nothing to wait for: it is doing the work.
    private static let lease = Statement(
        "lease_projection",
        """
        SELECT position, version, failure FROM projections
        WHERE tenant_id = $1 AND name = $2 FOR UPDATE SKIP LOCKED
        """)

    private static let lock = Statement(
        "lock_projection",
        """
        SELECT position, version, failure FROM projections
        WHERE tenant_id = $1 AND name = $2 FOR UPDATE
        """)

    private static let move = Statement(
        "move_projection",
        """
        WITH written AS (
            UPDATE projections
            SET position = $3, version = $4, failure = $5, updated_at = clock_timestamp()
            WHERE tenant_id = $1 AND name = $2 RETURNING 1)
        SELECT ledger_expect(count(*), 1, 'projections') FROM written
        """)

    private static let clearFailures = Statement(
        "clear_projection_failures",
        """
        UPDATE projections p SET failure = NULL, updated_at = clock_timestamp()
        FROM unnest($1::text[], $2::int[]) AS n (name, version)
        WHERE p.name = n.name AND p.version = n.version AND p.failure IS NOT NULL
        """)

    static var namesAndVersions: [Parameter] {
        let projections = ProjectionName.allCases.map { $0.projection() }
        return [.texts(projections.map(\.name.rawValue)), .int4s(projections.map(\.version))]
    }

    static func behind(on connection: Connection) throws(PostgresError) -> [Behind] {
        let result = try connection.query(behind, namesAndVersions)
        var found: [Behind] = []
        for row in 0..<result.rowCount {
            // A head of no possible tenant is for `verify` to report; nobody else waits for it.
            guard let tenant = TenantID(try result.text(row, 0)),
                let name = ProjectionName(rawValue: try result.text(row, 1))
            else { continue }
            let position = try result.optionalInt8(row, 2)
            found.append(
                Behind(
                    tenant: tenant, name: name, position: LogPosition(position ?? 0),
                    head: LogPosition(try result.int8(row, 3)), isNew: position == nil))
        }
        return found
    }

    /// Gives projections their first checkpoint, 0.
    static func make(_ new: [Behind], on connection: Connection) throws(PostgresError) {
        guard !new.isEmpty else { return }
        _ = try connection.query(
            make,
            [
                .texts(new.map(\.tenant.description)), .texts(new.map(\.name.rawValue)),
                .int4s(new.map { $0.name.projection().version }),
            ])
    }

    static func clearFailures(on connection: Connection) throws(PostgresError) {
        _ = try connection.query(clearFailures, namesAndVersions)
    }

    /// Locks a checkpoint unless another transaction holds it.
    static func leaseCall(_ name: ProjectionName, in tenant: TenantID) -> Call {
        Call(lease, [.text(tenant.description), .text(name.rawValue)])
    }

    /// Locks a checkpoint, waiting for whoever holds it.
    static func lockCall(_ name: ProjectionName, in tenant: TenantID) -> Call {
        Call(lock, [.text(tenant.description), .text(name.rawValue)])
    }

    /// What a lease or a lock gave; nil when somebody else holds the row or there is none.
    static func lease(_ result: QueryResult) throws(PostgresError) -> Lease? {
        guard result.rowCount == 1 else { return nil }
        return Lease(
            position: LogPosition(try result.int8(0, 0)), version: try result.int4(0, 1),
            failure: try result.optionalText(0, 2))
    }

    /// Moves a checkpoint that is locked.
    static func moveCall(
        _ name: ProjectionName, in tenant: TenantID, to position: LogPosition, version: Int32,
        failure: String?
    ) -> Call {
        Call(
            move,
            [
                .text(tenant.description), .text(name.rawValue), .int8(position.value),
                .int4(version), failure.map { .text($0) } ?? .null,
            ])
    }
}
