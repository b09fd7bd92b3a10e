import Ledger
import LedgerEngine
import Postgres

/// The writes of accounts that a batch opened or touched.
enum AccountWrites {
    private static let insertAccounts = RowsStatement(
        "insert_accounts",
        [
            "tenant_id": "text", "account_id": "uuid", "opened_position": "bigint",
            "next_seq": "bigint", "last_leaf": "bytea", "last_position": "bigint",
            "attempts": "bytea",
        ]
    ) { rows in
        """
        INSERT INTO accounts (tenant_id, account_id, opened_position, next_seq, last_leaf,
            last_position, attempts)
        SELECT * FROM \(rows)
        """
    }

    private static let updateAccounts = RowsStatement(
        "update_accounts",
        [
            "tenant_id": "text", "account_id": "uuid", "loaded_seq": "bigint", "next_seq": "bigint",
            "last_leaf": "bytea", "last_position": "bigint", "attempts": "bytea",
        ],
        // Found by its key: no second look-up, and on Citus one table to plan.
        single: """
            WITH written AS (
                UPDATE accounts
                SET next_seq = $4::bigint, last_leaf = $5::bytea, last_position = $6::bigint,
                    attempts = $7::bytea
                WHERE tenant_id = $1::text AND account_id = $2::uuid AND next_seq = $3::bigint
                RETURNING 1)
            SELECT ledger_expect(count(*), $8::bigint, 'accounts') FROM written
            """
    ) { rows in
        """
        WITH written AS (
            UPDATE accounts a
            SET next_seq = k.next_seq, last_leaf = k.last_leaf, last_position = k.last_position,
                attempts = k.attempts
            FROM \(rows)
            CROSS JOIN LATERAL (
                SELECT ctid FROM accounts
                WHERE tenant_id = k.tenant_id AND account_id = k.account_id
                    AND next_seq = k.loaded_seq
                OFFSET 0) place
            WHERE a.ctid = place.ctid
            RETURNING 1)
        SELECT ledger_expect(count(*), $8::bigint, 'accounts') FROM written
        """
    }

    private static let setHolds = Statement(
        "set_legal_holds",
        """
        WITH written AS (
            UPDATE accounts SET legal_holds = nullif($3::uuid[], '{}')
            WHERE tenant_id = $1::text AND account_id = $2::uuid
            RETURNING 1)
        SELECT ledger_expect(count(*), 1, 'legal holds') FROM written
        """)

    private static let setMarks = Statement(
        "set_account_marks",
        """
        WITH written AS (
            UPDATE accounts SET disabled_position = $3::bigint, handed_over_position = $4::bigint
            WHERE tenant_id = $1::text AND account_id = $2::uuid
            RETURNING 1)
        SELECT ledger_expect(count(*), 1, 'marks of accounts') FROM written
        """)

    private struct Columns {
        var tenants: [String] = []
        var ids: [UInt128] = []
        /// `opened_position` of a new account, the loaded `next_seq` of an existing one.
        var origins: [Int64] = []
        var sequences: [Int64] = []
        var leaves: [[UInt8]] = []
        var positions: [Int64] = []
        var attempts: [[UInt8]?] = []

        mutating func add(_ batch: TenantBatch, _ account: Account, origin: Int64) {
            tenants.append(batch.tenant.description)
            ids.append(account.id.bits)
            origins.append(origin)
            sequences.append(account.nextSequence)
            leaves.append(account.lastLeaf.bytes)
            positions.append(account.lastPosition.value)
            attempts.append(batch.state.attempts[account.id].flatMap(AttemptList.encode))
        }

        var columns: [Parameter] {
            [
                .texts(tenants), .uuids(ids), .int8s(origins), .int8s(sequences),
                .byteArrays(leaves), .int8s(positions), .optionalByteArrays(attempts),
            ]
        }
    }

    static func calls(for batches: [TenantBatch]) -> [Call] {
        var opened = Columns()
        var touched = Columns()
        for batch in batches {
            for id in batch.changes.accountsTouched {
                guard let account = batch.state.ledger.accounts[id] else { continue }
                if let loaded = batch.loadedSequences[id] {
                    // The row of an erased account is deleted unchanged.
                    guard account.erasedPosition == nil else { continue }
                    touched.add(batch, account, origin: loaded)
                } else {
                    opened.add(batch, account, origin: account.openedPosition.value)
                }
            }
        }
        var calls: [Call] = []
        if !opened.ids.isEmpty {
            calls.append(insertAccounts.call(rows: opened.ids.count, opened.columns))
        }
        if !touched.ids.isEmpty {
            calls.append(
                updateAccounts.call(
                    rows: touched.ids.count, touched.columns, [.int8(Int64(touched.ids.count))]))
        }
        return calls + batches.flatMap(holdCalls) + batches.flatMap(markCalls)
    }

    /// Includes accounts that the batch erases: the erasure checks for holds that were not lifted.
    private static func holdCalls(for batch: TenantBatch) -> [Call] {
        batch.changes.accountsHeld.compactMap { id in
            guard let account = batch.state.ledger.accounts[id] else { return nil }
            return Call(
                setHolds,
                [
                    .text(batch.tenant.description), .uuid(id.bits),
                    .uuids(account.holds.map { $0.bits }),
                ])
        }
    }

    private static func markCalls(for batch: TenantBatch) -> [Call] {
        batch.changes.accountsMarked.compactMap { id -> Call? in
            guard let account = batch.state.ledger.accounts[id], account.erasedPosition == nil
            else { return nil }
            return Call(
                setMarks,
                [
                    .text(batch.tenant.description), .uuid(id.bits),
                    account.disabledPosition.map { .int8($0.value) } ?? .null,
                    account.handedOverPosition.map { .int8($0.value) } ?? .null,
                ])
        }
    }
}
