import Ledger
import Postgres

/// The accounts that commands of operators and administrators name, with what other commands need not
/// know: their legal holds, and whether they were erased.
enum AccountLoad {
    private static let statement = Statement(
        "load_accounts",
        """
        SELECT k.n, x.position, coalesce(a.legal_holds, '{}'),
               \(AccountColumns.selected)
        FROM unnest($1::text[], $2::uuid[]) WITH ORDINALITY AS k (tenant_id, account_id, n)
        LEFT JOIN LATERAL (
            SELECT position FROM erasures
            WHERE tenant_id = k.tenant_id AND account_id = k.account_id
            OFFSET 0) x ON true
        LEFT JOIN LATERAL (
            SELECT * FROM accounts
            WHERE tenant_id = k.tenant_id AND account_id = k.account_id
            OFFSET 0) a ON true
        \(AccountColumns.joined)
        """)

    static func call(_ accounts: BatchKeys.Accounts) -> Call {
        Call(statement, [.texts(accounts.tenants.map { $0.description }), .uuids(accounts.ids)])
    }

    static func read(
        _ result: QueryResult, of accounts: BatchKeys.Accounts,
        into tenants: [TenantID: TenantBatch]
    ) throws {
        let columns = AccountColumns(result, from: 3)
        for row in 0..<result.rowCount {
            let index = try result.keyIndex(row)
            guard let batch = tenants[accounts.tenants[index]] else { continue }
            let id = AccountID(bits: accounts.ids[index])
            if let position = try result.optionalInt8(row, 1) {
                batch.state.ledger.load(.erased(id, at: LogPosition(position)))
                continue
            }
            try columns.read(row, into: batch)
            let holds = try result.uuidArray(row, 2).map { HoldID(bits: $0) }
            batch.state.ledger.load(holds, on: id)
        }
    }
}

extension Account {
    /// What a command has to know of an account that was erased: nothing will touch it again.
    fileprivate static func erased(_ id: AccountID, at position: LogPosition) -> Account {
        Account(
            id: id, openedPosition: LogPosition(0), nextSequence: 0, lastLeaf: .zero,
            lastPosition: position, links: [], erasedPosition: position)
    }
}
