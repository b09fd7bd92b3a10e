import Ledger
import Postgres

/// One event as projections see it: decoded once, with what it still discloses.
struct DisclosedEvent: Sendable {
    let recorded: RecordedEvent
    let disclosed: DisclosedValues

    var position: LogPosition { recorded.position }
}

/// A page of the log for folding: events without a gap, and what stopped the reading, if anything
/// did.
struct LogPage: Sendable {
    let from: LogPosition
    let events: [DisclosedEvent]
    /// Damage at the position after the last event.
    let damage: LogDamage?

    /// The position after the last event.
    var end: LogPosition { LogPosition(from.value + Int64(events.count)) }

    /// Whether a fold at this position can go on with this page.
    func covers(_ position: LogPosition) -> Bool {
        position >= from && (position < end || (position == end && damage != nil))
    }

    /// Reads a page that begins at a position which the head has passed.
    ///
    /// The limit is cut to `LogReader.pageMax`.
    static func read(
        from: LogPosition, in tenant: TenantID, limit: Int, disclosures: DisclosureReader,
        on connection: Connection
    ) throws(PostgresError) -> LogPage {
        let limit = min(limit, LogReader.pageMax)
        let results = try connection.pipeline([
            LogReader.entriesCall(from: from, in: tenant, limit: limit),
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
