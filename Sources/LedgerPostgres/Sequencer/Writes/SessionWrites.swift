import Ledger
import LedgerEngine
import Postgres

/// The writes of sessions that a batch opened, refreshed or ended.
enum SessionWrites {
    private static let insertSessions = RowsStatement(
        "insert_sessions",
        [
            "tenant_id": "text", "session_id": "uuid", "account_id": "uuid", "identity_id": "uuid",
            "authenticated_at": "timestamptz", "opened_at": "timestamptz",
            "opened_position": "bigint", "ended_position": "bigint", "refresh_current": "bytea",
            "refresh_generation": "integer", "expires_at": "timestamptz", "methods": "text",
            "mac": "bytea",
        ]
    ) { rows in
        """
        INSERT INTO sessions (tenant_id, session_id, account_id, identity_id, authenticated_at,
            opened_at, opened_position, ended_position, refresh_current, refresh_generation,
            expires_at, methods, mac)
        SELECT * FROM \(rows)
        """
    }

    private static let refreshSessions = RowsStatement(
        "refresh_sessions",
        [
            "tenant_id": "text", "session_id": "uuid", "current": "bytea", "preceding": "bytea",
            "sealed_successor": "bytea", "exchanged_at": "timestamptz", "generation": "integer",
            "expires_at": "timestamptz", "mac": "bytea",
        ]
    ) { rows in
        """
        WITH written AS (
            UPDATE sessions s
            SET refresh_current = k.current, refresh_preceding = k.preceding,
                refresh_sealed_successor = k.sealed_successor,
                refresh_exchanged_at = k.exchanged_at, refresh_generation = k.generation,
                expires_at = k.expires_at, mac = k.mac
            FROM \(rows)
            CROSS JOIN LATERAL (
                SELECT ctid FROM sessions
                WHERE tenant_id = k.tenant_id AND session_id = k.session_id
                OFFSET 0) place
            WHERE s.ctid = place.ctid
            RETURNING 1)
        SELECT ledger_expect(count(*), $10::bigint, 'sessions refreshed') FROM written
        """
    }

    private static let upgradeSessions = Statement(
        "upgrade_sessions",
        """
        WITH written AS (
            UPDATE sessions s
            SET identity_id = k.identity_id, authenticated_at = k.authenticated_at,
                methods = k.methods, mac = k.mac
            FROM unnest($2::uuid[], $3::uuid[], $4::timestamptz[], $5::text[], $6::bytea[])
                AS k (session_id, identity_id, authenticated_at, methods, mac)
            CROSS JOIN LATERAL (
                SELECT ctid FROM sessions
                WHERE tenant_id = $1 AND session_id = k.session_id
                OFFSET 0) place
            WHERE s.tenant_id = $1 AND s.ctid = place.ctid
            RETURNING 1)
        SELECT ledger_expect(count(*), $7::bigint, 'sessions upgraded') FROM written
        """)

    private static let endSessions = RowsStatement(
        "end_sessions", ["tenant_id": "text", "session_id": "uuid", "position": "bigint"]
    ) { rows in
        """
        WITH written AS (
            UPDATE sessions s SET ended_position = k.position, mac = NULL
            FROM \(rows)
            CROSS JOIN LATERAL (
                SELECT ctid FROM sessions
                WHERE tenant_id = k.tenant_id AND session_id = k.session_id
                    AND ended_position IS NULL
                OFFSET 0) place
            WHERE s.ctid = place.ctid
            RETURNING 1)
        SELECT ledger_expect(count(*), $4::bigint, 'sessions ended') FROM written
        """
    }

    // Only the table knows how many sessions an identity opened, so no count is expected.
    private static let endOpened = RowsStatement(
        "end_sessions_of_openers",
        ["tenant_id": "text", "account_id": "uuid", "identity_id": "uuid", "position": "bigint"]
    ) { rows in
        """
        UPDATE sessions s SET ended_position = k.position, mac = NULL
        FROM \(rows)
        CROSS JOIN LATERAL (
            SELECT ctid FROM sessions
            WHERE tenant_id IS NOT DISTINCT FROM k.tenant_id AND identity_id = k.identity_id
                AND account_id = k.account_id AND opened_position < k.position
                AND ended_position IS NULL
            OFFSET 0) place
        WHERE s.ctid = place.ctid
        """
    }

    /// - Throws: `BatchFault.damaged` if no key authenticates a row.
    static func calls(for batches: [TenantBatch]) throws(BatchFault) -> [Call] {
        // Upgrades precede the ends of the sessions that the former identity opened.
        try [opened(batches), refreshed(batches)].compactMap(\.self) + upgraded(batches)
            + [ended(batches), endedByOpener(batches)].compactMap(\.self)
    }

    private static func opened(_ batches: [TenantBatch]) throws(BatchFault) -> Call? {
        var tenants: [String] = []
        var sessions: [Ledger.Session] = []
        var tokens: [RefreshTokenState] = []
        var macs: [[UInt8]?] = []
        for batch in batches {
            for id in batch.changes.sessionsOpened {
                guard let session = batch.state.ledger.sessions[id],
                    let token = batch.state.refreshTokens[id]
                else { continue }
                tenants.append(batch.tenant.description)
                sessions.append(session)
                tokens.append(token)
                macs.append(try mac(of: session, token, in: batch))
            }
        }
        guard !sessions.isEmpty else { return nil }
        return insertSessions.call(
            rows: sessions.count,
            [
                .texts(tenants), .uuids(sessions.map { $0.id.bits }),
                .uuids(sessions.map { $0.account.bits }), .uuids(sessions.map { $0.identity.bits }),
                .timestamps(sessions.map { $0.authenticatedAt.microseconds }),
                .timestamps(sessions.map { $0.openedAt.microseconds }),
                .int8s(sessions.map { $0.openedPosition.value }),
                .optionalInt8s(sessions.map { $0.endedPosition?.value }),
                .byteArrays(tokens.map { $0.current.bytes }), .int4s(tokens.map { $0.generation }),
                .timestamps(tokens.map { $0.expiresAt.microseconds }),
                .texts(sessions.map { $0.methods.description }), .optionalByteArrays(macs),
            ])
    }

    private static func refreshed(_ batches: [TenantBatch]) throws(BatchFault) -> Call? {
        var tenants: [String] = []
        var ids: [UInt128] = []
        var tokens: [RefreshTokenState] = []
        var macs: [[UInt8]?] = []
        for batch in batches {
            for id in batch.changes.sessionsRefreshed {
                guard let session = batch.state.ledger.sessions[id],
                    let token = batch.state.refreshTokens[id],
                    // The insert of a session writes everything except a preceding token.
                    token.preceding != nil || !batch.changes.sessionsOpened.contains(id)
                else { continue }
                tenants.append(batch.tenant.description)
                ids.append(id.bits)
                tokens.append(token)
                macs.append(try mac(of: session, token, in: batch))
            }
        }
        guard !ids.isEmpty else { return nil }
        return refreshSessions.call(
            rows: ids.count,
            [
                .texts(tenants), .uuids(ids), .byteArrays(tokens.map { $0.current.bytes }),
                .optionalByteArrays(tokens.map { $0.preceding?.digest.bytes }),
                .optionalByteArrays(tokens.map { $0.preceding?.sealedSuccessor }),
                .optionalTimestamps(tokens.map { $0.preceding?.exchangedAt.microseconds }),
                .int4s(tokens.map { $0.generation }),
                .timestamps(tokens.map { $0.expiresAt.microseconds }), .optionalByteArrays(macs),
            ], [.int8(Int64(ids.count))])
    }

    /// One call for each tenant: upgrades are rare.
    private static func upgraded(_ batches: [TenantBatch]) throws(BatchFault) -> [Call] {
        var calls: [Call] = []
        for batch in batches {
            let ids = batch.changes.sessionsUpgraded.subtracting(batch.changes.sessionsOpened)
            let sessions = ids.compactMap { batch.state.ledger.sessions[$0] }
            guard !sessions.isEmpty else { continue }
            var macs: [[UInt8]?] = []
            for session in sessions {
                guard let token = batch.state.refreshTokens[session.id] else {
                    throw .damaged("sessions.refresh_current of tenant \(batch.tenant)")
                }
                macs.append(try mac(of: session, token, in: batch))
            }
            calls.append(
                Call(
                    upgradeSessions,
                    [
                        .text(batch.tenant.description), .uuids(sessions.map { $0.id.bits }),
                        .uuids(sessions.map { $0.identity.bits }),
                        .timestamps(sessions.map { $0.authenticatedAt.microseconds }),
                        .texts(sessions.map { $0.methods.description }),
                        .optionalByteArrays(macs), .int8(Int64(sessions.count)),
                    ]))
        }
        return calls
    }

    /// Returns the MAC of a session's row; nil for an ended session, so that it cannot be revived.
    private static func mac(
        of session: Ledger.Session, _ token: RefreshTokenState, in batch: TenantBatch
    ) throws(BatchFault) -> [UInt8]? {
        guard session.endedPosition == nil else { return nil }
        return try batch.macs.mac(of: .session(session, token, of: batch.tenant))
    }

    private static func ended(_ batches: [TenantBatch]) -> Call? {
        let ended = batches.flatMap { batch in
            batch.changes.sessionsEnded.map { (batch.tenant, $0.session, $0.position) }
        }
        guard !ended.isEmpty else { return nil }
        return endSessions.call(
            rows: ended.count,
            [
                .texts(ended.map(\.0.description)), .uuids(ended.map(\.1.bits)),
                .int8s(ended.map(\.2.value)),
            ], [.int8(Int64(ended.count))])
    }

    private static func endedByOpener(_ batches: [TenantBatch]) -> Call? {
        let ended = batches.flatMap { batch in
            batch.changes.openersEnded.map { (batch.tenant, $0.key, $0.value) }
        }
        guard !ended.isEmpty else { return nil }
        return endOpened.call(
            rows: ended.count,
            [
                .texts(ended.map(\.0.description)), .uuids(ended.map(\.1.account.bits)),
                .uuids(ended.map(\.1.identity.bits)), .int8s(ended.map(\.2.value)),
            ])
    }
}
