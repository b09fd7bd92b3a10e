import Ledger
import Postgres

/// The sessions that commands come through, each with its account.
enum CallerLoad {
    private static let statement = RowsStatement(
        "load_callers", ["tenant_id": "text", "session_id": "uuid"], ordinal: "n"
    ) { rows in
        """
        SELECT k.n, s.session_id, s.account_id, s.identity_id, s.authenticated_at, s.opened_at,
               s.opened_position, s.ended_position, s.refresh_current, s.refresh_preceding,
               s.refresh_sealed_successor, s.refresh_exchanged_at, s.refresh_generation,
               s.expires_at, s.methods,
               \(AccountColumns.selected)
        FROM \(rows)
        CROSS JOIN LATERAL (
            SELECT * FROM sessions
            WHERE tenant_id = k.tenant_id AND session_id = k.session_id
            OFFSET 0) s
        CROSS JOIN LATERAL (
            SELECT * FROM accounts
            WHERE tenant_id = k.tenant_id AND account_id = s.account_id
            OFFSET 0) a
        \(AccountColumns.joined)
        """
    }

    static func call(_ sessions: BatchKeys.Sessions) -> Call {
        statement.call(
            rows: sessions.ids.count,
            [.texts(sessions.tenants.map { $0.description }), .uuids(sessions.ids)])
    }

    static func read(
        _ result: QueryResult, of sessions: BatchKeys.Sessions,
        into tenants: [TenantID: TenantBatch]
    ) throws {
        let account = AccountColumns(result, from: 15)
        for row in 0..<result.rowCount {
            guard let batch = tenants[sessions.tenants[try result.keyIndex(row)]] else { continue }
            let id = SessionID(bits: try result.uuid(row, 1))
            if batch.state.refreshTokens[id] == nil {
                try readSession(id, result, row, into: batch)
            }
            try account.read(row, into: batch)
        }
    }

    private static func readSession(
        _ id: SessionID, _ result: QueryResult, _ row: Int, into batch: TenantBatch
    ) throws {
        guard let methods = AuthenticationMethods(try result.text(row, 14)) else {
            throw BatchFault.damaged("sessions.methods")
        }
        batch.state.ledger.load(
            Ledger.Session(
                id: id, account: AccountID(bits: try result.uuid(row, 2)),
                identity: IdentityID(bits: try result.uuid(row, 3)),
                authenticatedAt: Timestamp(microseconds: try result.timestamp(row, 4)),
                methods: methods,
                openedAt: Timestamp(microseconds: try result.timestamp(row, 5)),
                openedPosition: LogPosition(try result.count(row, 6)),
                endedPosition: try result.optionalInt8(row, 7).map(LogPosition.init)))
        batch.state.refreshTokens[id] = RefreshTokenState(
            current: try result.digest(row, 8), preceding: try preceding(result, row),
            generation: try result.int4(row, 12),
            expiresAt: Timestamp(microseconds: try result.timestamp(row, 13)))
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
