import Ledger
import LedgerEngine
import Postgres

/// Finds the events whose entries name an identifier, by reading the log itself.
///
/// Postgres searches the bytes, one window of positions at a time, and counts the rows: an incomplete window
/// is damage, so that nothing is overlooked.
struct LogSearch {
    /// The number of events that one query scans.
    private static let windowEvents: Int64 = 10_000

    private static let matches = Statement(
        "history_matches",
        """
        SELECT count(*) AS count, coalesce(array_agg(position ORDER BY position)
            FILTER (WHERE position($4::bytea IN entry) > 0), '{}') AS positions
        FROM events WHERE tenant_id = $1 AND position >= $2 AND position < $3
        """)

    private static let anyMatches = Statement(
        "history_any_matches",
        """
        SELECT count(*) AS count, count(*) FILTER (WHERE position($4::bytea IN entry) > 0) AS named,
            coalesce(array_agg(position ORDER BY position)
                FILTER (WHERE position($4::bytea IN entry) > 0
                    OR EXISTS (SELECT FROM unnest($5::bytea[]) AS n (name)
                        WHERE position(n.name IN entry) > 0)), '{}') AS positions
        FROM events WHERE tenant_id = $1 AND position >= $2 AND position < $3
        """)

    private static let firstMissing = Statement(
        "history_first_missing",
        """
        SELECT p FROM generate_series($2::bigint, $3::bigint - 1) AS s (p)
        WHERE NOT EXISTS (SELECT FROM events WHERE tenant_id = $1 AND position = p)
        ORDER BY p LIMIT 1
        """)

    let tenant: TenantID
    private let name: [UInt8]
    /// Byte strings of other entries that are also searched for.
    private let others: [[UInt8]]
    /// The first position that has not been scanned.
    private(set) var next: Int64
    /// The number of entries so far that hold the name itself; only in a search for others, too.
    private(set) var namedCount: Int64 = 0
    private let end: Int64

    /// Begins a search for an identifier, and for every event of some types, in a range of positions.
    init<Kind>(
        for id: EntityID<Kind>, orAny types: [Event.Name] = [], in tenant: TenantID,
        at positions: Range<Int64>
    ) {
        self.tenant = tenant
        others = types.flatMap { type in
            var query = EventQuery(limit: 0)
            query.type = type
            return query.fragments.map { Array($0.utf8) }
        }
        var name: [UInt8] = []
        id.appendText(to: &name)
        self.name = name
        next = positions.lowerBound
        end = positions.upperBound
    }

    /// Returns the next positions whose entries match, in order and often none; nil at the end.
    ///
    /// - Throws: `LogDamage` when events are missing, or `PostgresError`.
    mutating func positions(on connection: Connection) throws -> [Int64]? {
        guard next < end else { return nil }
        let stop = end - next > Self.windowEvents ? next + Self.windowEvents : end
        let window: [Parameter] = [.text(tenant.description), .int8(next), .int8(stop)]
        let named = window + [.bytes(name)]
        let result =
            others.isEmpty
            ? try connection.query(Self.matches, named)
            : try connection.query(Self.anyMatches, named + [.byteArrays(others)])
        if try result.int8(0, result.column("count")) != stop - next {
            let missing = try connection.query(Self.firstMissing, window)
            let first = missing.rowCount == 1 ? try missing.int8(0, 0) : next
            throw LogDamage(position: LogPosition(first), fault: "the event is missing")
        }
        next = stop
        if !others.isEmpty { namedCount += try result.int8(0, result.column("named")) }
        return try result.int8Array(0, result.column("positions"))
    }
}
