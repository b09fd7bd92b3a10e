package import Ledger
package import LedgerMessages
import Postgres

/// Reads of the outbox for support, on its own connection.
///
/// They name only columns that the group of support may read.
package struct MessageReads: MessageReader {
    /// The maximum number of messages that one page examines.
    package static let windowMax: Int64 = 20_000

    private static func page(_ name: String, where condition: String) -> Statement {
        Statement(
            "messages_\(name)",
            """
            WITH examined AS (
                SELECT message_id, account_id, channel, template, language, state, created_at,
                    expires_at, ended_at, attempts, response_code, fault
                FROM messages
                WHERE tenant_id = $1 AND message_id > $2\(condition)
                ORDER BY message_id LIMIT $3),
            found AS (
                SELECT * FROM examined WHERE $4::text IS NULL OR state = $4
                ORDER BY message_id LIMIT $5)
            SELECT f.*, e.count AS examined_count, e.last AS examined_last
            FROM (SELECT count(*) AS count,
                    (array_agg(message_id ORDER BY message_id DESC))[1] AS last
                FROM examined) e
            LEFT JOIN found f ON true
            ORDER BY f.message_id
            """)
    }

    private static let all = page("page", where: "")
    private static let ofAccount = page("of_account", where: " AND account_id = $6")

    private let session: Postgres.Session
    private let onFault: @Sendable (String) -> Void

    /// Configures the reads; does not connect yet.
    ///
    /// - Parameters:
    ///   - url: The URL of a role that may read messages.
    ///   - onFault: Called with one line, free of personal data, for each failed read.
    package init(url: String, onFault: @escaping @Sendable (String) -> Void) {
        self.onFault = onFault
        session = Session.forReads(url: url, named: "message reads", seconds: 10)
    }

    /// Closes the connection; the next read opens a new one.
    package func close() async {
        await session.close()
    }

    /// Returns the next messages, in the order of their creation.
    package func messages(
        matching query: MessageQuery, in tenant: TenantID
    ) async throws(LedgerFault) -> MessagePage {
        do {
            return try await session.run { try Self.read(query, in: tenant, on: $0) }
        } catch {
            onFault("reading messages failed: \(error)")
            throw .unavailable
        }
    }

    private static func read(
        _ query: MessageQuery, in tenant: TenantID, on connection: Connection
    ) throws(PostgresError) -> MessagePage {
        let common: [Parameter] = [
            .text(tenant.description), .uuid(query.after?.bits ?? 0), .int8(windowMax),
            query.state.map { .text($0.rawValue) } ?? .null, .int8(Int64(query.limit) + 1),
        ]
        let rows =
            if let account = query.account {
                try connection.query(ofAccount, common + [.uuid(account.bits)])
            } else {
                try connection.query(all, common)
            }
        var found: [SentMessage] = []
        for row in 0..<rows.rowCount {
            if let message = try message(rows, row) { found.append(message) }
        }
        let isFull = found.count > query.limit
        let shown = Array(found.prefix(query.limit))
        let examined = try rows.int8(0, rows.column("examined_count"))
        // A page that is not full was examined up to the window's end.
        let last = try rows.optionalUUID(0, rows.column("examined_last")).map(
            MessageID.init(bits:))
        return MessagePage(
            messages: shown, next: (isFull ? shown.last?.id : last) ?? query.after,
            hasMore: isFull || examined >= windowMax)
    }

    /// Reads a message; nil where a page without one has its only row.
    private static func message(
        _ rows: QueryResult, _ row: Int
    ) throws(PostgresError) -> SentMessage? {
        guard let id = try rows.optionalUUID(row, rows.column("message_id")) else { return nil }
        let name = try rows.text(row, rows.column("state"))
        guard let state = SentMessage.State(rawValue: name) else {
            throw .unexpectedResult("a message has an unknown state")
        }
        return SentMessage(
            id: MessageID(bits: id),
            account: try rows.optionalUUID(row, rows.column("account_id")).map(
                AccountID.init(bits:)),
            channel: try rows.text(row, rows.column("channel")),
            template: try rows.text(row, rows.column("template")),
            language: try rows.text(row, rows.column("language")), state: state,
            createdAt: Timestamp(
                microseconds: try rows.timestamp(row, rows.column("created_at"))),
            expiresAt: Timestamp(
                microseconds: try rows.timestamp(row, rows.column("expires_at"))),
            endedAt: try rows.optionalTimestamp(row, rows.column("ended_at")).map(
                Timestamp.init(microseconds:)),
            attempts: Int(try rows.int4(row, rows.column("attempts"))),
            responseCode: try rows.optionalInt4(row, rows.column("response_code")).map(Int.init),
            fault: try rows.optionalText(row, rows.column("fault")))
    }
}
