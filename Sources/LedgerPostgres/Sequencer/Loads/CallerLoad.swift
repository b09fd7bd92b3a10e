package import Ledger
import LedgerEngine
package import Postgres

/// The sessions that commands are sent in, each with its account.
package enum CallerLoad {
    /// Returns the columns of a session with this alias, for ``session(_:_:from:)``.
    package static func columns(_ s: String) -> String {
        """
        \(s).session_id, \(s).account_id, \(s).identity_id, \(s).authenticated_at, \(s).opened_at,
        \(s).opened_position, \(s).ended_position, \(s).refresh_current, \(s).refresh_preceding,
        \(s).refresh_sealed_successor, \(s).refresh_exchanged_at, \(s).refresh_generation,
        \(s).expires_at, \(s).methods
        """
    }

    private static let statement = RowsStatement(
        "load_callers", ["tenant_id": "text", "session_id": "uuid"], ordinal: "n"
    ) { rows in
        """
        SELECT k.n, \(columns("s")), s.mac,
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

    static func call(_ sessions: BatchKeys.IDs) -> Call {
        statement.call(
            rows: sessions.ids.count,
            [.texts(sessions.tenants.map { $0.description }), .uuids(sessions.ids)])
    }

    static func read(
        _ result: QueryResult, of sessions: BatchKeys.IDs,
        into tenants: [TenantID: TenantBatch]
    ) throws {
        let account = AccountColumns(result, from: 16)
        for row in 0..<result.rowCount {
            guard let batch = tenants[sessions.tenants[try result.keyIndex(row)]] else { continue }
            let id = SessionID(bits: try result.uuid(row, 1))
            if batch.state.refreshTokens[id] == nil {
                let (session, token) = try Self.session(result, row, from: 1)
                // The end of a session removes its MAC, so that the session cannot be revived.
                if session.endedPosition == nil {
                    batch.loadedRows.append(
                        LoadedRow(
                            content: .session(session, token),
                            stored: try result.optionalBytes(row, 15)))
                }
                batch.state.ledger.load(session)
                batch.state.refreshTokens[id] = token
            }
            try account.read(row, into: batch)
        }
    }

    /// Reads ``columns(_:)``.
    package static func session(
        _ result: QueryResult, _ row: Int, from first: Int
    ) throws -> (Ledger.Session, RefreshTokenState) {
        guard let methods = AuthenticationMethods(try result.text(row, first + 13)) else {
            throw BatchFault.damaged("sessions.methods")
        }
        let session = Ledger.Session(
            id: SessionID(bits: try result.uuid(row, first)),
            account: AccountID(bits: try result.uuid(row, first + 1)),
            identity: IdentityID(bits: try result.uuid(row, first + 2)),
            authenticatedAt: Timestamp(microseconds: try result.timestamp(row, first + 3)),
            methods: methods,
            openedAt: Timestamp(microseconds: try result.timestamp(row, first + 4)),
            openedPosition: LogPosition(try result.count(row, first + 5)),
            endedPosition: try result.optionalInt8(row, first + 6).map(LogPosition.init))
        let token = RefreshTokenState(
            current: try result.digest(row, first + 7),
            preceding: try preceding(result, row, from: first + 8),
            generation: try result.int4(row, first + 11),
            expiresAt: Timestamp(microseconds: try result.timestamp(row, first + 12)))
        return (session, token)
    }

    private static func preceding(
        _ result: QueryResult, _ row: Int, from first: Int
    ) throws -> RefreshTokenState.Preceding? {
        let sealed = try result.optionalBytes(row, first + 1)
        let exchanged = try result.optionalTimestamp(row, first + 2)
        guard let sealed, let exchanged else {
            guard sealed == nil, exchanged == nil, try result.isNull(row, first) else {
                throw BatchFault.damaged("sessions.refresh_preceding")
            }
            return nil
        }
        return RefreshTokenState.Preceding(
            digest: try result.digest(row, first), sealedSuccessor: sealed,
            exchangedAt: Timestamp(microseconds: exchanged))
    }
}
