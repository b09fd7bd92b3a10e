import Ledger
import Postgres

extension TenantVerification {
    /// Reads the erased accounts of the table, and checks that their keys are destroyed.
    mutating func readErasures(on connection: Connection) throws(PostgresError) {
        do throws(PostgresError) {
            erased = try ErasedAccounts(of: tenant, on: connection)
            for (account, position) in try ErasedAccounts.keyed(of: tenant, on: connection) {
                add(.erasures, position, "the key of account \(account) was not destroyed")
            }
        } catch {
            guard case .unexpectedResult = error else { throw error }
            add(.erasures, nil, "a row cannot be read")
        }
    }

    /// Compares `erasures` with the fold.
    mutating func compareErasures(on connection: Connection) throws(PostgresError) {
        var seen: Set<AccountID> = []
        try eachRow(
            of: .erasures,
            "account_id, opened_position, next_seq, last_leaf, position, erased_at",
            on: connection
        ) { check, result, row throws(PostgresError) in
            let id = AccountID(bits: try result.uuid(row, result.column("account_id")))
            seen.insert(id)
            guard let account = check.state.accounts[id], let erasedAt = check.erasedAt[id] else {
                return check.add(.erasures, nil, "the log does not erase account \(id)")
            }
            let differing: String? =
                if try result.int8(row, result.column("opened_position"))
                    != account.openedPosition.value
                {
                    "opened_position"
                } else if try result.int8(row, result.column("next_seq")) != account.nextSequence {
                    "next_seq"
                } else if try result.bytes(row, result.column("last_leaf"))
                    != account.lastLeaf.bytes
                {
                    "last_leaf"
                } else if try result.int8(row, result.column("position"))
                    != account.lastPosition.value
                {
                    "position"
                } else if try result.timestamp(row, result.column("erased_at"))
                    != erasedAt.microseconds
                {
                    "erased_at"
                } else {
                    nil
                }
            if let differing {
                check.add(
                    .erasures, account.lastPosition,
                    "\(differing) of account \(id) is not what the log says")
            }
        }
        let missing = erasedAt.keys.filter { !seen.contains($0) }
        for id in missing.sorted() {
            add(
                .erasures, state.accounts[id]?.erasedPosition,
                "account \(id) was erased but its rows were not deleted")
        }
    }
}
