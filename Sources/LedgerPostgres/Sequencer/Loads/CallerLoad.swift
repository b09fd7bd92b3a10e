import Ledger
import LedgerEngine
import Postgres

/// The sessions that commands are sent in, each with its account.
///
/// `is_told` is whether the account, or one that was merged into it, has an address to which notices go. Two lookups
/// for it here cost less than a statement for each tenant that would write notices and finds no address.
enum CallerLoad {
    private static let list: SelectList =
        ["k.n"] + SessionColumns.selected("s") + ["s.mac", "t.is_told"] + AccountColumns.selected
    private static let session = SessionColumns("s", in: list)
    private static let account = AccountColumns(in: list)
    private static let mac = list["s.mac"]
    private static let told = list["t.is_told"]

    private static let statement = RowsStatement(
        "load_callers", ["tenant_id": "text", "session_id": "uuid"], ordinal: "n"
    ) { rows in
        """
        SELECT \(list.sql)
        FROM \(rows)
        CROSS JOIN LATERAL (
            SELECT * FROM sessions
            WHERE tenant_id = k.tenant_id AND session_id = k.session_id
            OFFSET 0) s
        CROSS JOIN LATERAL (
            SELECT * FROM accounts
            WHERE tenant_id = k.tenant_id AND account_id = s.account_id
            OFFSET 0) a
        CROSS JOIN LATERAL (
            SELECT EXISTS (
                    SELECT FROM addresses
                    WHERE tenant_id IS NOT DISTINCT FROM k.tenant_id AND account_id = a.account_id)
                OR EXISTS (
                    SELECT FROM accounts
                    WHERE tenant_id IS NOT DISTINCT FROM k.tenant_id
                        AND merged_into = a.account_id) AS is_told
            OFFSET 0) t
        \(AccountColumns.joined)
        """
    }

    static func call(_ sessions: BatchKeys.IDs) -> Call {
        statement.call(
            rows: sessions.ids.count,
            [.texts(sessions.tenants.map { $0.description }), .uuids(sessions.ids)])
    }

    static func read(
        _ result: QueryResult, of sessions: BatchKeys.IDs,
        into tenants: [TenantID: TenantBatch]
    ) throws {
        for row in 0..<result.rowCount {
            guard let batch = tenants[sessions.tenants[try result.keyIndex(row)]] else { continue }
            let id = try session.id(result, row)
            if batch.state.refreshTokens[id] == nil {
                let (session, token) = try session.read(result, row)
                // The end of a session removes its MAC, so that the session cannot be revived.
                if session.endedPosition == nil {
                    batch.loadedRows.append(
                        LoadedRow(
                            content: .session(session, token),
                            stored: try result.optionalBytes(row, mac)))
                }
                batch.state.ledger.load(session)
                batch.state.refreshTokens[id] = token
            }
            if try !result.bool(row, told) {
                batch.accountsWithoutAddresses.insert(try session.accountID(result, row))
            }
            try account.read(result, row, into: batch)
        }
    }
}
