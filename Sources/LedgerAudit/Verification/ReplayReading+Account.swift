import Ledger
import LedgerEngine
import LedgerPostgres
import Postgres

extension ReplayReading {
    private static let known = Statement(
        "replay_account",
        """
        SELECT next_seq FROM accounts WHERE tenant_id = $1 AND account_id = $2
        UNION ALL
        SELECT next_seq FROM erasures WHERE tenant_id = $1 AND account_id = $2
        """)

    private static func audited(_ audit: ProjectionTable) -> Statement {
        Statement(
            "\(audit)_replay",
            """
            SELECT account_seq, position FROM \(audit)
            WHERE tenant_id = $1 AND account_id = $2 AND account_seq >= $3
            ORDER BY account_seq LIMIT \(LogReader.pageMax)
            """)
    }

    private static let end = Statement(
        "replay_end", "SELECT coalesce(max(position), -1) FROM events WHERE tenant_id = $1")

    /// Reads an account's events by the positions in `account_audit`, and missing ones from the log itself.
    ///
    /// After the last of them the log is scanned to its end whatever the tables contain: the serving login
    /// may change those, but may only append to the log.
    /// - Returns: false when the account is not named anywhere.
    mutating func history(of account: AccountID, on connection: Connection) throws -> Bool {
        history = AccountHistory(of: account)
        let key: [Parameter] = [.text(tenant.description), .uuid(account.bits)]
        let row = try connection.query(Self.known, key)
        let expected = row.rowCount == 1 ? try row.int8(0, 0) : nil
        var needsScan = try !readAudited(key, on: connection)
        if !needsScan {
            do {
                try searchTail(for: account, on: connection)
            } catch let damage as LogDamage {
                summary.add(damage)
                needsScan = true
            }
        }
        if needsScan {
            try scan(after: history?.lastPosition ?? -1, through: .max, on: connection)
        }
        guard let end = history, expected != nil || end.nextSequence > 0 else { return false }
        if end.nextSequence != expected {
            summary.add(
                LogDamage(
                    position: LogPosition(max(0, end.lastPosition)),
                    fault: "account \(account) has \(end.nextSequence) events, "
                        + (expected.map { "but next_seq is \($0)" } ?? "but no row in accounts")))
        }
        return true
    }

    /// Reads the events that `account_audit` names; returns false as soon as one is not the account's next.
    private mutating func readAudited(
        _ key: [Parameter], on connection: Connection
    ) throws -> Bool {
        let audited = Self.audited(try ProjectionTables.served(.accountAudit, on: connection))
        while true {
            let next = history?.nextSequence ?? 0
            let rows = try connection.query(audited, key + [.int8(next)])
            let position = try rows.column("position")
            let positions = try (0..<rows.rowCount).map { try rows.int8($0, position) }
            guard !positions.isEmpty else { return true }
            guard try read(positions, on: connection) else { return false }
            guard positions.count == LogReader.pageMax else { return true }
        }
    }

    /// Reads the events that the log itself names after the last one, a window of positions at a time.
    private mutating func searchTail(for account: AccountID, on connection: Connection) throws {
        let last = try connection.query(Self.end, [.text(tenant.description)]).int8(0, 0)
        let first = LogPosition(history?.lastPosition ?? -1).next.value
        let end = max(first, LogPosition(last).next.value)
        var search = LogSearch(for: account, in: tenant, at: first..<end)
        while let positions = try search.positions(on: connection) {
            var rest = positions[...]
            while !rest.isEmpty {
                let part = Array(rest.prefix(LogReader.pageMax))
                rest = rest.dropFirst(part.count)
                let (page, disclosed) = try page(at: part, on: connection)
                var opened = disclosed
                for row in 0..<page.rowCount {
                    let position = LogPosition(try page.int8(row, 0))
                    try emitIfWanted(page, row, at: position, opened: &opened)
                }
            }
        }
    }

    private func page(
        at positions: [Int64], on connection: Connection
    ) throws -> (QueryResult, DisclosurePage) {
        let results = try connection.pipeline([
            LogReader.rowsCall(at: positions, in: tenant),
            DisclosureReader.call(at: disclosures == nil ? [] : positions, in: tenant),
        ])
        guard results.count == 2 else { throw PostgresError.unexpectedResult("no page") }
        return (
            results[0],
            DisclosurePage(try DisclosureReader.rows(results[1]), reader: disclosures)
        )
    }

    private mutating func read(
        _ positions: [Int64], on connection: Connection
    ) throws -> Bool {
        let (page, disclosed) = try page(at: positions, on: connection)
        var opened = disclosed
        for row in 0..<page.rowCount {
            let position = LogPosition(try page.int8(row, 0))
            guard let read = try? read(page, row, at: position).get(),
                history?.expects(read.event.recorded) == true
            else { return false }
            try emitEvent(read, opened: &opened)
        }
        return page.rowCount == positions.count
    }
}
