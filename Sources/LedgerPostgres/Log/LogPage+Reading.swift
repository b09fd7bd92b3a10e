import Dispatch
import Ledger
import LedgerEngine
import Postgres
import Synchronization

extension LogPage {
    private static let entries = Statement(
        "log_page_entries",
        """
        SELECT position, entry, mac FROM events
        WHERE tenant_id = $1 AND position >= $2 ORDER BY position LIMIT $3
        """)

    /// Reads a page that begins at a position below the head.
    ///
    /// The limit is capped at ``eventsMax``. Decoding uses one thread per part: for callers with
    /// the machine to themselves.
    static func read(
        from: LogPosition, in tenant: TenantID, limit: Int, disclosures: DisclosureReader,
        threads: Int = 1, on connection: Connection
    ) throws(PostgresError) -> LogPage {
        let limit = min(limit, eventsMax)
        let results = try connection.pipeline(
            [
                Call(
                    entries,
                    [.text(tenant.description), .int8(from.value), .int8(Int64(limit))]),
                DisclosureReader.call(from: from, count: limit, in: tenant),
            ] + LogProtection.calls(of: tenant, keys: disclosures.macs))
        guard results.count >= 2 else { throw .unexpectedResult("no page") }
        var entries: [[UInt8]] = []
        var macs: [[UInt8]?] = []
        entries.reserveCapacity(results[0].rowCount)
        macs.reserveCapacity(results[0].rowCount)
        let (position, entry) = (
            try results[0].column("position"), try results[0].column("entry")
        )
        let mac = try results[0].column("mac")
        for row in 0..<results[0].rowCount {
            guard try results[0].int8(row, position) == from.value + Int64(row) else { break }
            entries.append(try results[0].bytes(row, entry))
            macs.append(try results[0].optionalBytes(row, mac))
        }
        let isWhole = entries.count == results[0].rowCount && !entries.isEmpty
        let linked = try LinkedDisclosures.read(
            for: entries, from: from, in: tenant, with: disclosures, on: connection)
        let page = UndecodedPage(
            from: from, tenant: tenant, entries: entries, macs: macs,
            protection: try LogProtection.found(
                in: results[2...], of: tenant, keys: disclosures.macs),
            rows: try DisclosureReader.rows(results[1]), linked: linked, disclosures: disclosures)
        let decoded = page.decoded(in: threads)
        guard decoded.damage == nil, !isWhole else { return decoded }
        return LogPage(
            from: from, events: decoded.events,
            damage: LogDamage(position: decoded.end, fault: "the event is missing"))
    }
}

/// An undecoded page: entries without a gap, and the rows of disclosures in order.
private struct UndecodedPage: Sendable {
    /// The minimum number of events that justifies another thread.
    private static let eventsPerThreadMin = 250

    let from: LogPosition
    let tenant: TenantID
    let entries: [[UInt8]]
    let macs: [[UInt8]?]
    /// Nil if this process has no keys to check the MACs.
    let protection: LogProtection?
    let rows: [DisclosureReader.Row]
    let linked: LinkedDisclosures
    let disclosures: DisclosureReader

    func decoded(in threads: Int) -> LogPage {
        let threads = max(1, min(threads, entries.count / Self.eventsPerThreadMin))
        guard threads > 1 else { return decoded(entries.indices) }
        let size = (entries.count + threads - 1) / threads
        let done = Mutex<[Int: LogPage]>([:])
        // No `BlockingPool`: nothing blocks here, and the calling thread takes a part of the work.
        DispatchQueue.concurrentPerform(iterations: threads) { part in
            let range = part * size..<min((part + 1) * size, entries.count)
            let page = decoded(range)
            done.withLock { $0[part] = page }
        }
        var events: [DisclosedEvent] = []
        events.reserveCapacity(entries.count)
        for (_, page) in done.withLock({ $0.sorted { $0.key < $1.key } }) {
            events += page.events
            if page.damage != nil {
                return LogPage(from: from, events: events, damage: page.damage)
            }
        }
        return LogPage(from: from, events: events, damage: nil)
    }

    private func decoded(_ range: Range<Int>) -> LogPage {
        let first = LogPosition(from.value + Int64(range.lowerBound))
        var events: [DisclosedEvent] = []
        events.reserveCapacity(range.count)
        var rest = rows[...]
        var keys = DisclosureReader.KeyCache()
        for index in range {
            let position = LogPosition(from.value + Int64(index))
            do throws(LogDamage) {
                let event = try StoredEvent(
                    entry: entries[index], mac: macs[index], at: position, in: tenant, protection)
                while let row = rest.first, row.position < position { rest.removeFirst() }
                let own = rest.prefix { $0.position == position }
                events.append(
                    DisclosedEvent(
                        recorded: event.recorded,
                        disclosed: try disclosures.open(own, of: event.recorded, keys: &keys),
                        linked: try linked.values(of: event.recorded)))
            } catch {
                return LogPage(from: first, events: events, damage: error)
            }
        }
        return LogPage(from: first, events: events, damage: nil)
    }
}
