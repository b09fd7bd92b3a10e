package import Ledger
import LedgerEngine
package import Postgres

/// The merges in which named accounts, and those merged with them, absorbed others or were absorbed.
///
/// Each is loaded with the identities that it released and that still belong to no account. Rows of
/// `accounts` have no MACs, those of `merges` do: an account is absorbed only if a merge confirms
/// it.
package enum MergeLoad {
    /// The columns of a merge in a statement where it has an alias, by their names.
    package struct Columns: Sendable {
        private let id, position, survivor, absorbed, moved, dropped, replaced: Int

        /// Returns the columns for the list of the statement.
        package static func selected(_ m: String) -> SelectList {
            [
                "\(m).event_id", "\(m).position", "\(m).survivor_id", "\(m).absorbed_id",
                "\(m).moved", "\(m).dropped", "\(m).replaced",
            ]
        }

        /// Finds the columns of an alias in the list of a statement.
        package init(_ m: String, in list: SelectList) {
            id = list["\(m).event_id"]
            position = list["\(m).position"]
            survivor = list["\(m).survivor_id"]
            absorbed = list["\(m).absorbed_id"]
            moved = list["\(m).moved"]
            dropped = list["\(m).dropped"]
            replaced = list["\(m).replaced"]
        }

        /// Reads the merge.
        package func read(_ result: QueryResult, _ row: Int) throws -> Merge {
            func identities(_ column: Int) throws -> [IdentityID] {
                try result.uuidArray(row, column).map { IdentityID(bits: $0) }
            }
            return Merge(
                id: EventID(bits: try result.uuid(row, id)),
                position: LogPosition(try result.count(row, position)),
                survivor: AccountID(bits: try result.uuid(row, survivor)),
                absorbed: AccountID(bits: try result.uuid(row, absorbed)),
                moved: try identities(moved), dropped: try identities(dropped),
                replaced: try identities(replaced))
        }
    }

    private static let list: SelectList =
        ["k.tenant_id"] + Columns.selected("m") + ["m.mac"]
        + IdentityLoad.Columns.selected("i") + ["i.mac"]
    private static let columns = Columns("m", in: list)
    private static let released = IdentityLoad.Columns("i", in: list)
    private static let tenant = list["k.tenant_id"]
    private static let mac = list["m.mac"]
    private static let releasedMAC = list["i.mac"]

    private static let statement = Statement(
        "load_merges",
        """
        \(AccountLoad.family)
        SELECT \(list.sql)
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
            guard let batch = try tenants[result.tenant(row, tenant)] else { continue }
            let merge = try columns.read(result, row)
            try batch.check(
                try result.optionalBytes(row, mac), of: .merge(merge, of: batch.tenant), in: .merges
            )
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

    private static func readIdentity(
        _ row: Int, _ result: QueryResult, into batch: TenantBatch
    ) throws {
        guard let id = try released.optionalID(result, row),
            batch.state.ledger.identities[id] == nil
        else { return }
        let (identity, subject) = try released.read(result, row)
        try batch.check(
            try result.optionalBytes(row, releasedMAC),
            of: .identity(identity, named: subject, of: batch.tenant), in: .identities)
        batch.subjects[identity.id] = subject
        if batch.findsLinksBySubject { batch.state.directory[subject] = identity.id }
        batch.state.ledger.load(identity)
    }
}
