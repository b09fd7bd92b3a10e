package import Ledger
import LedgerEngine
package import Postgres

/// The merges in which named accounts, and those merged with them, absorbed others or were absorbed.
///
/// Each is loaded with the identities that it released and that still belong to no account. Rows of
/// `accounts` have no MACs, those of `merges` do: an account is absorbed only if a merge confirms
/// it.
package enum MergeLoad {
    /// Returns the columns of a merge with this alias, for ``merge(_:_:from:)``.
    package static func columns(_ m: String) -> String {
        """
        \(m).event_id, \(m).position, \(m).survivor_id, \(m).absorbed_id, \(m).moved, \(m).dropped,
        \(m).replaced
        """
    }

    private static let statement = Statement(
        "load_merges",
        """
        \(AccountLoad.family)
        SELECT k.tenant_id, \(columns("m")), m.mac, \(IdentityLoad.columns("i")), i.mac
        FROM family k
        CROSS JOIN LATERAL (
            SELECT * FROM merges
            WHERE survivor_id = k.account_id AND tenant_id IS NOT DISTINCT FROM k.tenant_id
            UNION ALL
            SELECT * FROM merges
            WHERE tenant_id = k.tenant_id AND absorbed_id = k.account_id
            OFFSET 0) m
        LEFT JOIN LATERAL (
            SELECT * FROM identities
            WHERE last_account_id IN (m.survivor_id, m.absorbed_id)
                AND tenant_id IS NOT DISTINCT FROM k.tenant_id AND account_id IS NULL
                AND identity_id = ANY (m.dropped || m.replaced)
            OFFSET 0) i ON true
        ORDER BY m.position
        """)

    static func call(_ keys: BatchKeys) -> Call {
        Call(statement, AccountLoad.parameters(keys))
    }

    /// - Throws: `BatchFault.damaged` also if `accounts.merged_into` contradicts the merges.
    static func read(
        _ result: QueryResult, into tenants: [TenantID: TenantBatch]
    ) throws {
        for row in 0..<result.rowCount {
            guard let batch = try tenants[result.tenant(row, 0)] else { continue }
            let merge = try Self.merge(result, row, from: 1)
            try batch.check(
                try result.optionalBytes(row, 8), of: .merge(merge, of: batch.tenant), in: .merges)
            guard batch.state.ledger.accounts[merge.absorbed]?.mergedInto == merge.survivor else {
                throw damage(in: batch)
            }
            batch.state.ledger.load(merge)
            try readIdentity(row, result, into: batch)
        }
        for batch in tenants.values where !agrees(batch.state.ledger) {
            throw damage(in: batch)
        }
    }

    /// Checks that each absorbed account has a merge that absorbed it, later than its own merges.
    ///
    /// The order rules out cycles.
    private static func agrees(_ ledger: LedgerState) -> Bool {
        ledger.accounts.values.allSatisfy { account in
            guard let survivor = account.mergedInto else { return true }
            let merge = ledger.accounts[survivor]?.merges.first { $0.absorbed == account.id }
            guard let merge else { return false }
            return account.merges.allSatisfy { $0.position < merge.position }
        }
    }

    private static func damage(in batch: TenantBatch) -> BatchFault {
        .damaged("accounts.merged_into of tenant \(batch.tenant)")
    }

    /// Reads ``columns(_:)``.
    package static func merge(_ result: QueryResult, _ row: Int, from first: Int) throws -> Merge {
        func identities(_ column: Int) throws -> [IdentityID] {
            try result.uuidArray(row, column).map { IdentityID(bits: $0) }
        }
        return Merge(
            id: EventID(bits: try result.uuid(row, first)),
            position: LogPosition(try result.count(row, first + 1)),
            survivor: AccountID(bits: try result.uuid(row, first + 2)),
            absorbed: AccountID(bits: try result.uuid(row, first + 3)),
            moved: try identities(first + 4), dropped: try identities(first + 5),
            replaced: try identities(first + 6))
    }

    private static func readIdentity(
        _ row: Int, _ result: QueryResult, into batch: TenantBatch
    ) throws {
        guard let bits = try result.optionalUUID(row, 9),
            batch.state.ledger.identities[IdentityID(bits: bits)] == nil
        else { return }
        let (identity, subject) = try IdentityLoad.identity(result, row, from: 9)
        try batch.check(
            try result.optionalBytes(row, 16),
            of: .identity(identity, named: subject, of: batch.tenant), in: .identities)
        batch.subjects[identity.id] = subject
        batch.state.ledger.load(identity)
    }
}
