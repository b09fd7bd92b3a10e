package import Ledger
internal import LedgerEngine
package import Postgres

/// The sessions of the console in Postgres.
package final class PostgresStaffSessions: StaffSessionStore {
    /// The maximum number of sessions of one person.
    static let countMax = 20

    private static let read = Statement(
        "console_session",
        """
        SELECT staff_id, content, used_at, expires_at FROM console_sessions WHERE token_digest = $1
        """)

    private static let insert = Statement(
        "begin_console_session",
        """
        INSERT INTO console_sessions (token_digest, staff_id, content, used_at, expires_at)
        VALUES ($1, $2, $3, $4, $5)
        """)

    private static let endSurplus = Statement(
        "end_surplus_console_sessions",
        """
        DELETE FROM console_sessions WHERE token_digest IN (
            SELECT token_digest FROM console_sessions WHERE staff_id = $1
            ORDER BY used_at DESC, token_digest OFFSET $2)
        """)

    private static let use = Statement(
        "use_console_session",
        """
        UPDATE console_sessions SET used_at = greatest(used_at, $2::timestamptz)
        WHERE token_digest = $1
        """)

    private static let replaceContent = Statement(
        "change_console_session",
        "UPDATE console_sessions SET content = $2 WHERE token_digest = $1")

    private static let end = Statement(
        "end_console_session", "DELETE FROM console_sessions WHERE token_digest = $1")

    private static let endAll = Statement(
        "end_console_sessions_of", "DELETE FROM console_sessions WHERE staff_id = $1")

    private static let endEvery = Statement(
        "end_every_console_session", "DELETE FROM console_sessions")

    private let session: Postgres.Session
    private let onFault: @Sendable (String) -> Void

    /// Creates a store without connecting.
    ///
    /// - Parameters:
    ///   - url: The runtime role's URL.
    ///   - onFault: Called with one line, free of personal data, for each failure.
    package init(url: String, onFault: @escaping @Sendable (String) -> Void) {
        session = Postgres.Session(
            url: url, applicationName: "account-ledger console", connectTimeout: .seconds(2),
            runDeadline: AnswerTime.transactionMax
        ) { try $0.execute(PostgresBatchStore.settings) }
        self.onFault = onFault
    }

    /// Returns the session for a token digest, including an expired one; nil if the digest is unknown.
    package func session(
        _ digest: Digest
    ) async throws(LedgerFault) -> StoredStaffSession? {
        try await run { connection in
            let result = try connection.query(Self.read, [.bytes(digest.bytes)])
            guard result.rowCount > 0 else { return nil }
            return StoredStaffSession(
                digest: digest,
                staff: StaffID(bits: try result.uuid(0, result.column("staff_id"))),
                content: try result.text(0, result.column("content")),
                usedAt: Timestamp(
                    microseconds: try result.timestamp(0, result.column("used_at"))),
                expiresAt: Timestamp(
                    microseconds: try result.timestamp(0, result.column("expires_at"))))
        }
    }

    /// Stores a new session, and ends the former one of the browser and those of the person beyond the limit.
    package func begin(
        _ session: StoredStaffSession, replacing former: Digest?
    ) async throws(LedgerFault) {
        try await run { connection in
            try connection.transaction {
                var calls = [
                    Call(
                        Self.insert,
                        [
                            .bytes(session.digest.bytes), .uuid(session.staff.bits),
                            .text(session.content), .timestamp(session.usedAt.microseconds),
                            .timestamp(session.expiresAt.microseconds),
                        ]),
                    Call(
                        Self.endSurplus,
                        [.uuid(session.staff.bits), .int8(Int64(Self.countMax))]),
                ]
                if let former { calls.insert(Call(Self.end, [.bytes(former.bytes)]), at: 0) }
                _ = try connection.pipeline(calls)
            }
        }
    }

    /// Stores the time at which a session was used, unless it has ended.
    package func use(_ digest: Digest, at time: Timestamp) async throws(LedgerFault) {
        try await run {
            _ = try $0.query(
                Self.use, [.bytes(digest.bytes), .timestamp(time.microseconds)])
        }
    }

    /// Stores the content of a session, unless it has ended.
    package func replaceContent(
        of digest: Digest, with content: String
    ) async throws(LedgerFault) {
        try await run {
            _ = try $0.query(Self.replaceContent, [.bytes(digest.bytes), .text(content)])
        }
    }

    /// Ends a session.
    package func end(_ digest: Digest) async throws(LedgerFault) {
        try await run { _ = try $0.query(Self.end, [.bytes(digest.bytes)]) }
    }

    /// Ends every session of a person.
    package func endAll(of staff: StaffID) async throws(LedgerFault) {
        try await run { _ = try $0.query(Self.endAll, [.uuid(staff.bits)]) }
    }

    /// Ends every session of all staff, as after a restore, which brings back those that have ended since.
    package static func endEvery(on connection: Connection) throws(PostgresError) {
        _ = try connection.query(endEvery)
    }

    /// Closes the connection.
    package func close() async {
        await session.close()
    }

    private func run<Value: Sendable>(
        _ body: @escaping @Sendable (Connection) throws -> Value
    ) async throws(LedgerFault) -> Value {
        do {
            return try await session.run { try body($0) }
        } catch {
            onFault("sessions of the console could not be used: \(error)")
            throw .unavailable
        }
    }
}
