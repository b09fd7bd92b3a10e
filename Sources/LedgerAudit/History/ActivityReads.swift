package import Ledger
package import LedgerEngine
import LedgerPostgres
import Postgres
import Synchronization

/// Reads the recent activity of accounts for their holders, each from one snapshot of the log.
package final class ActivityReads: ActivityReader {
    /// The maximum number of events of one account that a request looks at.
    package static let eventsOfAccountMax = 500
    /// The maximum number of events of all accounts that a request looks at.
    package static let eventsMax = 2_000
    /// The maximum number of requests that wait; more are refused as overload.
    private static let waitingMax = 64

    private static let begin = Statement(
        "activity_begin", "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")

    /// The account and those merged into it, directly or not.
    private static let family = Statement(
        "activity_family",
        """
        WITH RECURSIVE family (account_id, depth) AS (
            SELECT $2::uuid, 0
            UNION ALL
            SELECT a.account_id, f.depth + 1 FROM family f
            CROSS JOIN LATERAL (
                SELECT account_id FROM accounts
                WHERE merged_into = f.account_id AND tenant_id = $1
                OFFSET 0) a
            WHERE f.depth < \(MergeAccounts.familyMax))
        SELECT f.account_id, a.handed_over_position
        FROM (SELECT DISTINCT account_id FROM family) f
        LEFT JOIN LATERAL (
            SELECT handed_over_position FROM accounts
            WHERE tenant_id = $1 AND account_id = f.account_id
            OFFSET 0) a ON true
        """)

    private static func last(_ table: ProjectionTable) -> Statement {
        Statement(
            "\(table)_activity",
            """
            SELECT r.position, r.event_id, r.client_ip FROM unnest($2::uuid[]) AS k (account_id)
            CROSS JOIN LATERAL (
                SELECT position, event_id, client_ip FROM \(table)
                WHERE tenant_id = $1 AND account_id = k.account_id
                ORDER BY account_seq DESC LIMIT $3) r
            ORDER BY r.position DESC, r.client_ip LIMIT $4
            """)
    }

    private let session: Postgres.Session
    private let macs: MACKeys?
    private let patience = Duration.seconds(5)
    private let waiting = Atomic<Int>(0)
    private let onFault: @Sendable (String) -> Void

    /// Configures the reads; does not connect yet.
    ///
    /// - Parameters:
    ///   - url: The URL of a role that may read `events`, `accounts`, `account_audit` and
    ///     `checkpoints`.
    ///   - macs: Authenticate the events.
    ///   - onFault: Called with one line, free of personal data, for each failed read.
    package init(
        url: String, macs: MACKeys?, onFault: @escaping @Sendable (String) -> Void
    ) {
        self.macs = macs
        self.onFault = onFault
        session = Session.forReads(url: url, named: "activity", seconds: 5)
    }

    /// Closes the connection; the next read opens a new one.
    package func close() async {
        await session.close()
    }

    /// Returns the last events of an account and of those merged into it, newest first.
    package func activity(
        of account: AccountID, before event: EventID?, limit: Int, in tenant: TenantID
    ) async throws(LedgerFault) -> ActivityPage? {
        defer { waiting.subtract(1, ordering: .relaxed) }
        guard waiting.add(1, ordering: .relaxed).newValue <= Self.waitingMax else {
            throw .overloaded
        }
        let deadline = ContinuousClock.now + patience
        do {
            return try await session.run { [macs] connection in
                try connection.readingServedTables(Self.begin) {
                    let snapshot = try HistorySnapshot.read(
                        tenant, macs: macs, deadline: deadline, on: connection)
                    try snapshot.checkDeadline()
                    return try Self.page(
                        of: account, before: event, limit: limit, in: snapshot, on: connection)
                }
            }
        } catch let damage as LogDamage {
            onFault("an activity could not be read: \(damage)")
            throw .internalFailure
        } catch {
            onFault("an activity could not be read: \(error)")
            throw .unavailable
        }
    }

    private static func page(
        of account: AccountID, before event: EventID?, limit: Int, in snapshot: HistorySnapshot,
        on connection: Connection
    ) throws -> ActivityPage? {
        let name = Parameter.text(snapshot.tenant.description)
        let known = try connection.query(family, [name, .uuid(account.bits)])
        let accounts = try (0..<known.rowCount).map {
            AccountID(bits: try known.uuid($0, known.column("account_id")))
        }
        // The addresses of the clients of a former holder are not shown.
        let handedOver = try (0..<known.rowCount).compactMap {
            try known.optionalInt8($0, known.column("handed_over_position"))
        }.max()
        let rows = try connection.query(
            last(snapshot.audit),
            [
                name, .uuids(accounts.map(\.bits)), .int8(Int64(eventsOfAccountMax)),
                .int8(Int64(eventsMax)),
            ])
        var places: [(position: Int64, event: EventID)] = []
        var addresses: [Int64: String] = [:]
        for row in 0..<rows.rowCount {
            let position = try rows.int8(row, rows.column("position"))
            if let address = try rows.optionalText(row, rows.column("client_ip")),
                position >= handedOver ?? 0
            {
                addresses[position] = address
            }
            // An event may be in the histories of several of the accounts.
            guard places.last?.position != position else { continue }
            let id = EventID(bits: try rows.uuid(row, rows.column("event_id")))
            places.append((position: position, event: id))
        }
        if let event {
            guard let seen = places.firstIndex(where: { $0.event == event }) else { return nil }
            places.removeFirst(seen + 1)
        }
        let positions = places.map(\.position)
        return try page(
            at: positions[...], addresses, of: Set(accounts), limit: limit, in: snapshot,
            on: connection)
    }

    /// Reads events until a page is full and one more is known, or none is left.
    private static func page(
        at positions: ArraySlice<Int64>, _ addresses: [Int64: String], of family: Set<AccountID>,
        limit: Int, in snapshot: HistorySnapshot, on connection: Connection
    ) throws -> ActivityPage {
        var rest = positions
        var found: [AccountActivity] = []
        while !rest.isEmpty, found.count <= limit {
            let chunk = Array(rest.prefix(limit + 1))
            rest = rest.dropFirst(chunk.count)
            for event in try snapshot.events(at: chunk, on: connection).reversed() {
                let position = event.recorded.position.value
                let row = AccountActivity(
                    event.recorded, of: family, clientIP: addresses[position])
                if let row { found.append(row) }
            }
        }
        return ActivityPage(rows: Array(found.prefix(limit)), hasMore: found.count > limit)
    }
}
