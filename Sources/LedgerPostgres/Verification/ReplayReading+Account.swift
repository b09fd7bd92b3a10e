import Ledger
import Postgres

extension ReplayReading {
    private static let known = Statement(
        "replay_account",
        """
        SELECT next_seq FROM accounts WHERE tenant_id = $1 AND account_id = $2
        UNION ALL
        SELECT next_seq FROM erasures WHERE tenant_id = $1 AND account_id = $2
        """)

    private static let audited = Statement(
        "replay_positions",
        """
        SELECT account_seq, position FROM account_audit
        WHERE tenant_id = $1 AND account_id = $2 AND account_seq >= $3
        ORDER BY account_seq LIMIT \(LogReader.pageMax)
        """)

    /// Reads an account's events by the positions that `account_audit` gives, as far as they are
    /// right, and from the log itself what is missing there; false when nothing names the account.
    mutating func history(of account: AccountID, on connection: Connection) throws -> Bool {
        history = AccountHistory(of: account)
        let key: [Parameter] = [.text(tenant.description), .uuid(account.bits)]
        let row = try connection.query(Self.known, key)
        let expected = row.rowCount == 1 ? try row.int8(0, 0) : nil
        let isAuditRight = try readAudited(key, on: connection)
        if !isAuditRight || (history?.nextSequence ?? 0) < expected ?? 0 {
            try scan(after: history?.lastPosition ?? -1, through: .max, on: connection)
        }
        guard let end = history, expected != nil || end.nextSequence > 0 else { return false }
        if end.nextSequence != expected {
            summary.add(
                LogDamage(
                    position: LogPosition(max(0, end.lastPosition)),
                    fault: "account \(account) has \(end.nextSequence) events, "
                        + (expected.map { "next_seq says \($0)" } ?? "and no row in accounts")))
        }
        return true
    }

    /// Reads the events that `account_audit` names; false as soon as one is not the account's next.
    private mutating func readAudited(
        _ key: [Parameter], on connection: Connection
    ) throws -> Bool {
        while true {
            let next = history?.nextSequence ?? 0
            let rows = try connection.query(Self.audited, key + [.int8(next)])
            let positions = try (0..<rows.rowCount).map { try rows.int8($0, 1) }
            guard !positions.isEmpty else { return true }
            guard try read(positions, on: connection) else { return false }
            guard positions.count == LogReader.pageMax else { return true }
        }
    }

    private mutating func read(
        _ positions: [Int64], on connection: Connection
    ) throws -> Bool {
        let results = try connection.pipeline([
            LogReader.rowsCall(at: positions, in: tenant),
            DisclosureReader.call(at: positions, in: tenant),
        ])
        guard results.count == 2 else { throw PostgresError.unexpectedResult("no page") }
        let page = results[0]
        var opened = DisclosurePage(
            disclosures == nil ? [] : try DisclosureReader.rows(results[1]), reader: disclosures)
        for row in 0..<page.rowCount {
            let position = LogPosition(try page.int8(row, 0))
            guard let read = try? read(page, row, at: position).get(),
                history?.expects(read.event.recorded) == true
            else { return false }
            try hand(read, opened: &opened)
        }
        return page.rowCount == positions.count
    }
}
