package import Ledger
import Postgres

/// One event as projections see it: decoded once, with what it still discloses.
package struct DisclosedEvent: Sendable {
    package let recorded: RecordedEvent
    package let disclosed: DisclosedValues

    /// Pairs an event with what it still discloses.
    package init(recorded: RecordedEvent, disclosed: DisclosedValues) {
        self.recorded = recorded
        self.disclosed = disclosed
    }

    package var position: LogPosition { recorded.position }
}

/// A page of the log for folding: events without a gap, and what stopped the reading, if anything
/// did.
package struct LogPage: Sendable {
    package let from: LogPosition
    package let events: [DisclosedEvent]
    /// Damage at the position after the last event.
    package let damage: LogDamage?

    /// Collects the events from a position on.
    package init(from: LogPosition, events: [DisclosedEvent], damage: LogDamage?) {
        self.from = from
        self.events = events
        self.damage = damage
    }

    /// The position after the last event.
    package var end: LogPosition { LogPosition(from.value + Int64(events.count)) }

    /// Whether a fold at this position can go on with this page.
    func covers(_ position: LogPosition) -> Bool {
        position >= from && (position < end || (position == end && damage != nil))
    }

    /// The most events of one page.
    static let eventsMax = 4_000

    private static let entries = Statement(
        "log_page_entries",
        """
        SELECT position, entry FROM events
        WHERE tenant_id = $1 AND position >= $2 ORDER BY position LIMIT $3
        """)

    /// Reads a page that begins at a position which the head has passed.
    ///
    /// The limit is cut to ``eventsMax``.
    static func read(
        from: LogPosition, in tenant: TenantID, limit: Int, disclosures: DisclosureReader,
        on connection: Connection
    ) throws(PostgresError) -> LogPage {
        let limit = min(limit, eventsMax)
        let results = try connection.pipeline([
            Call(
                entries,
                [.text(tenant.description), .int8(from.value), .int8(Int64(limit))]),
            DisclosureReader.call(from: from, count: limit, in: tenant),
        ])
        guard results.count == 2 else { throw .unexpectedResult("no page") }
        return try decode(
            results[0], rows: DisclosureReader.rows(results[1]), from: from, in: tenant,
            disclosures: disclosures)
    }

    private static func decode(
        _ result: QueryResult, rows: [DisclosureReader.Row], from: LogPosition,
        in tenant: TenantID, disclosures: DisclosureReader
    ) throws(PostgresError) -> LogPage {
        var events: [DisclosedEvent] = []
        events.reserveCapacity(result.rowCount)
        var damage: LogDamage?
        var rest = rows[...]
        var keys = DisclosureReader.KeyCache()
        for row in 0..<result.rowCount {
            let position = LogPosition(try result.int8(row, 0))
            let entry = try result.bytes(row, 1)
            do throws(LogDamage) {
                let expected = LogPosition(from.value + Int64(row))
                guard position == expected else {
                    throw LogDamage(position: expected, fault: "the event is missing")
                }
                let event = try StoredEvent(entry: entry, at: position, in: tenant)
                rest = rest.drop { $0.position < position }
                let own = rest.prefix { $0.position == position }
                events.append(
                    DisclosedEvent(
                        recorded: event.recorded,
                        disclosed: try disclosures.open(own, of: event.recorded, keys: &keys)))
            } catch {
                damage = error
                break
            }
        }
        if result.rowCount == 0 {
            damage = LogDamage(position: from, fault: "the event is missing")
        }
        return LogPage(from: from, events: events, damage: damage)
    }
}
