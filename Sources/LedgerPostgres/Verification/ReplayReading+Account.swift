import Ledger
import Postgres

extension ReplayReading {
    private static let known = Statement(
        "replay_account",
        "SELECT next_seq FROM accounts WHERE tenant_id = $1 AND account_id = $2")

    private static let audited = Statement(
        "replay_positions",
        """
        SELECT account_seq, position FROM account_audit
        WHERE tenant_id = $1 AND account_id = $2 AND account_seq >= $3
        ORDER BY account_seq LIMIT \(LogReader.pageMax)
        """)

    /// Reads an account's events by the positions that `account_audit` gives, and from the log itself
    /// what is missing there; false when nothing names the account.
    mutating func history(of account: AccountID, on connection: Connection) throws -> Bool {
        history = AccountHistory(of: account)
        let key: [Parameter] = [.text(tenant.description), .uuid(account.bits)]
        let row = try connection.query(Self.known, key)
        let expected = row.rowCount == 1 ? try row.int8(0, 0) : nil
        var from: Int64 = 0
        while true {
            let rows = try connection.query(Self.audited, key + [.int8(from)])
            try readAudited(rows, on: connection)
            guard rows.rowCount == LogReader.pageMax else { break }
            from = try rows.int8(rows.rowCount - 1, 0) &+ 1
        }
        let found = history?.nextSequence ?? 0
        guard expected != nil || found > 0 else { return false }
        if let expected, found < expected {
            try scan(after: history?.lastPosition ?? -1, before: .max, on: connection)
        }
        if let end = history, end.nextSequence != expected {
            summary.add(
                LogDamage(
                    position: LogPosition(max(0, end.lastPosition)),
                    fault: "account \(account) has \(end.nextSequence) events, "
                        + (expected.map { "next_seq says \($0)" } ?? "and no row in accounts")))
        }
        return true
    }

    /// Reads the events of some rows of `account_audit`; between two that do not follow on each other,
    /// everything in the log.
    private mutating func readAudited(_ rows: QueryResult, on connection: Connection) throws {
        var positions: [Int64] = []
        var next = history?.nextSequence ?? 0
        for row in 0..<rows.rowCount {
            let sequence = try rows.int8(row, 0)
            let position = try rows.int8(row, 1)
            if sequence != next || position <= positions.last ?? history?.lastPosition ?? -1 {
                try read(positions, on: connection)
                positions = []
                try scan(
                    after: history?.lastPosition ?? -1, before: position, on: connection)
            }
            // A row that points back was passed already; the check of the sequence tells.
            if position > history?.lastPosition ?? -1 { positions.append(position) }
            next = sequence &+ 1
        }
        try read(positions, on: connection)
    }

    private mutating func read(_ positions: [Int64], on connection: Connection) throws {
        guard !positions.isEmpty else { return }
        let results = try connection.pipeline([
            LogReader.rowsCall(at: positions, in: tenant),
            DisclosureReader.call(at: positions, in: tenant),
        ])
        guard results.count == 2 else { throw PostgresError.unexpectedResult("no page") }
        var opened = DisclosurePage(
            disclosures == nil ? [] : try DisclosureReader.rows(results[1]), reader: disclosures)
        for row in 0..<results[0].rowCount {
            try take(results[0], row, opened: &opened)
        }
    }
}
