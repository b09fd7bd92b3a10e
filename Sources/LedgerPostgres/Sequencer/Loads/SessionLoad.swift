import Ledger
import Postgres

/// The sessions that commands come through.
enum SessionLoad {
    private static let statement = Statement(
        "load_sessions",
        """
        SELECT s.tenant_id, s.session_id, s.account_id, s.identity_id, s.authenticated_at,
               s.opened_at, s.opened_position, s.ended_position, s.refresh_current,
               s.refresh_preceding, s.refresh_sealed_successor, s.refresh_exchanged_at,
               s.refresh_generation, s.expires_at
        FROM unnest($1::text[], $2::uuid[]) AS k (tenant_id, session_id)
        CROSS JOIN LATERAL (
            SELECT * FROM sessions
            WHERE tenant_id = k.tenant_id AND session_id = k.session_id
            OFFSET 0) s
        """)

    static func call(_ keys: BatchKeys.Identifiers) -> Call {
        Call(statement, [.texts(keys.tenants), .uuids(keys.ids)])
    }

    static func read(_ result: QueryResult, into tenants: [TenantID: TenantBatch]) throws {
        for row in 0..<result.rowCount {
            let batch = try tenants.batch(result, row)
            let session = Ledger.Session(
                id: SessionID(bits: try result.uuid(row, 1)),
                account: AccountID(bits: try result.uuid(row, 2)),
                identity: IdentityID(bits: try result.uuid(row, 3)),
                authenticatedAt: Timestamp(microseconds: try result.timestamp(row, 4)),
                openedAt: Timestamp(microseconds: try result.timestamp(row, 5)),
                openedPosition: LogPosition(try result.count(row, 6)),
                endedPosition: try result.optionalInt8(row, 7).map(LogPosition.init))
            batch.state.ledger.load(session)
            batch.state.refreshTokens[session.id] = RefreshTokenState(
                current: try result.digest(row, 8), preceding: try preceding(result, row),
                generation: try result.int4(row, 12),
                expiresAt: Timestamp(microseconds: try result.timestamp(row, 13)))
        }
    }

    private static func preceding(
        _ result: QueryResult, _ row: Int
    ) throws -> RefreshTokenState.Preceding? {
        guard let sealed = try result.optionalBytes(row, 10),
            let exchanged = try result.optionalTimestamp(row, 11)
        else { return nil }
        return RefreshTokenState.Preceding(
            digest: try result.digest(row, 9), sealedSuccessor: sealed,
            exchangedAt: Timestamp(microseconds: exchanged))
    }
}
