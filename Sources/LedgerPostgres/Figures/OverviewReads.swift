package import Ledger
import LedgerEngine
import Postgres

/// Reads figures and states of a tenant on its own connection.
package struct OverviewReads: OverviewReader {
    private static let begin = Statement(
        "overview_begin", "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")

    private static let figures = Statement(
        "overview_figures",
        """
        SELECT day, type, events FROM daily_figures
        WHERE tenant_id = $1 AND day >= $2 AND day <= $3
        """)

    private static let sizes = Statement(
        "overview_sizes",
        """
        SELECT coalesce((SELECT next_position FROM figure_heads WHERE tenant_id = $1), 0) AS counted,
            coalesce((SELECT next_position FROM ledger_head WHERE tenant_id = $1), 0) AS log,
            coalesce((SELECT next_position FROM access_heads WHERE tenant_id = $1), 0) AS accesses
        """)

    private static let projections = Statement(
        "overview_projections",
        """
        SELECT t.name, coalesce(p.position, 0) AS position, p.failure
        FROM projection_tables t
        LEFT JOIN projections p ON p.tenant_id = $1 AND p.name = t.name
            AND p.generation = t.generation
        WHERE t.state = 'served' ORDER BY t.name
        """)

    private static let webhooks = Statement(
        "overview_webhooks",
        """
        SELECT e.endpoint_id, e.disabled_at IS NOT NULL AS is_disabled, c.next_position,
            d.pending, d.dead
        FROM webhook_endpoints e
        JOIN webhook_cursors c ON c.tenant_id = $1 AND c.endpoint_id = e.endpoint_id
        CROSS JOIN LATERAL (
            SELECT count(*) FILTER (WHERE w.state = 'pending') AS pending,
                count(*) FILTER (WHERE w.state = 'dead') AS dead
            FROM (SELECT state FROM webhook_deliveries
                WHERE tenant_id = $1 AND endpoint_id = e.endpoint_id LIMIT $2) w) d
        WHERE e.tenant_id = $1 ORDER BY e.created_at, e.endpoint_id LIMIT 100
        """)

    private static let messages = Statement(
        "overview_messages",
        """
        SELECT m.state, count(*) AS count
        FROM (SELECT state FROM messages WHERE tenant_id = $1
            ORDER BY message_id DESC LIMIT $2) m
        GROUP BY m.state
        """)

    private let session: Postgres.Session
    private let onFault: @Sendable (String) -> Void

    /// Configures the reads; does not connect yet.
    ///
    /// - Parameters:
    ///   - url: The runtime role's URL.
    ///   - onFault: Called with one line, free of personal data, for each failed read.
    package init(url: String, onFault: @escaping @Sendable (String) -> Void) {
        self.onFault = onFault
        session = Session.forReads(url: url, named: "overview", seconds: 5)
    }

    /// Closes the connection; the next read opens a new one.
    package func close() async {
        await session.close()
    }

    /// Returns the figures of some days up to a time, and the states of now.
    package func overview(
        days: Int, through last: Timestamp, in tenant: TenantID
    ) async throws(LedgerFault) -> Overview {
        do {
            return try await session.run { connection in
                try connection.transaction(Self.begin) {
                    try Self.read(
                        DayFigures.days(days, through: last), in: tenant, on: connection)
                }
            }
        } catch {
            onFault("reading an overview failed: \(error)")
            throw .unavailable
        }
    }

    private static func read(
        _ days: [DayFigures], in tenant: TenantID, on connection: Connection
    ) throws -> Overview {
        let name = Parameter.text(tenant.description)
        let results = try connection.pipeline([
            Call(sizes, [name]),
            Call(
                figures,
                [name, .text(days.first?.day ?? ""), .text(days.last?.day ?? "")]),
            Call(projections, [name]), Call(webhooks, [name, .int8(WebhookFigure.countMax)]),
            Call(messages, [name, .int8(Overview.messagesMax)]),
        ])
        guard results.count == 5 else { throw PostgresError.unexpectedResult("no overview") }
        let size = try results[0].int8(0, results[0].column("log"))
        return Overview(
            days: try filled(days, results[1]),
            countedSize: try results[0].int8(0, results[0].column("counted")), logSize: size,
            accessLogSize: try results[0].int8(0, results[0].column("accesses")),
            projections: try projections(results[2], of: size),
            webhooks: try webhooks(results[3], of: size), messages: try messages(results[4]))
    }

    private static func filled(
        _ days: [DayFigures], _ rows: QueryResult
    ) throws(PostgresError) -> [DayFigures] {
        var days = days
        let places = Dictionary(
            days.indices.map { (days[$0].day, $0) }, uniquingKeysWith: { first, _ in first })
        for row in 0..<rows.rowCount {
            guard let place = places[try rows.text(row, rows.column("day"))] else { continue }
            days[place].add(
                try rows.int8(row, rows.column("events")),
                ofType: try rows.text(row, rows.column("type")))
        }
        return days
    }

    private static func projections(
        _ rows: QueryResult, of size: Int64
    ) throws(PostgresError) -> [ProjectionFigure] {
        var found: [ProjectionFigure] = []
        for row in 0..<rows.rowCount {
            found.append(
                ProjectionFigure(
                    name: try rows.text(row, rows.column("name")),
                    lag: max(0, size - (try rows.int8(row, rows.column("position")))),
                    failure: try rows.optionalText(row, rows.column("failure"))))
        }
        return found
    }

    private static func webhooks(
        _ rows: QueryResult, of size: Int64
    ) throws(PostgresError) -> [WebhookFigure] {
        var found: [WebhookFigure] = []
        for row in 0..<rows.rowCount {
            found.append(
                WebhookFigure(
                    endpoint: EntityID(bits: try rows.uuid(row, rows.column("endpoint_id"))),
                    isDisabled: try rows.bool(row, rows.column("is_disabled")),
                    lag: max(0, size - (try rows.int8(row, rows.column("next_position")))),
                    pending: try rows.int8(row, rows.column("pending")),
                    deadLetters: try rows.int8(row, rows.column("dead"))))
        }
        return found
    }

    private static func messages(_ rows: QueryResult) throws(PostgresError) -> [String: Int64] {
        var found: [String: Int64] = [:]
        for row in 0..<rows.rowCount {
            found[try rows.text(row, rows.column("state"))] = try rows.int8(
                row, rows.column("count"))
        }
        return found
    }
}
