package import Ledger
package import LedgerEngine
package import Postgres

/// The second factors of accounts, for commands that use or change them.
package enum FactorLoad {
    /// A stored factor.
    package struct Row {
        package let factor: HeldFactor
        package let sealed: [UInt8]
        package let wrappingKey: String
        package let counter: Int64
        package let key: FactorKey?

        /// Returns the content that the row's MAC authenticates.
        package func message(of tenant: TenantID) -> MACMessage {
            .factor(factor, sealed, wrappingKey, counter: counter, key: key, of: tenant)
        }
    }

    /// The columns of a factor in a statement where it has an alias, by their names.
    package struct Columns: Sendable {
        private static let names = [
            "factor_id", "account_id", "kind", "version", "sealed", "wrapping_key", "counter",
            "removal_due", "credential", "domain",
        ]

        private let id, account, kind, version, sealed, wrappingKey, counter, removalDue: Int
        private let credential, domain: Int

        /// Returns the columns for the list of the statement.
        package static func selected(_ f: String) -> SelectList {
            SelectList(names.map { "\(f).\($0)" })
        }

        /// Finds the columns of an alias in the list of a statement.
        package init(_ f: String, in list: SelectList) {
            id = list["\(f).factor_id"]
            account = list["\(f).account_id"]
            kind = list["\(f).kind"]
            version = list["\(f).version"]
            sealed = list["\(f).sealed"]
            wrappingKey = list["\(f).wrapping_key"]
            counter = list["\(f).counter"]
            removalDue = list["\(f).removal_due"]
            credential = list["\(f).credential"]
            domain = list["\(f).domain"]
        }

        /// Whether a row of an outer join has no factor.
        func isAbsent(_ result: QueryResult, _ row: Int) throws -> Bool {
            try result.isNull(row, id)
        }

        /// Reads a row; without a holder the factor is held by the account that enrolled it.
        ///
        /// - Throws: `BatchFault.damaged` for a kind that no version of this program wrote.
        package func read(
            _ result: QueryResult, _ row: Int, holder: AccountID? = nil
        ) throws -> Row {
            guard let kind = FactorKind(rawValue: try result.text(row, kind)) else {
                throw BatchFault.damaged("factors.kind")
            }
            let counter = try result.int8(row, counter)
            let (providerID, domain) = (
                try result.optionalText(row, credential), try result.optionalText(row, domain)
            )
            // A row with one of them alone has another MAC, too.
            let key =
                providerID == nil && domain == nil
                ? nil : FactorKey(providerID: providerID ?? "", domain: domain ?? "")
            return Row(
                factor: HeldFactor(
                    id: FactorID(bits: try result.uuid(row, id)), kind: kind,
                    account: AccountID(bits: try result.uuid(row, account)), holder: holder,
                    position: LogPosition(try result.count(row, version)),
                    usedCodes: kind == .recoveryCodes ? counter : 0,
                    removalDue: try result.optionalTimestamp(row, removalDue)
                        .map { Timestamp(microseconds: $0) }),
                sealed: try result.bytes(row, sealed),
                wrappingKey: try result.text(row, wrappingKey), counter: counter, key: key)
        }
    }

    private static let list: SelectList =
        ["k.account_id", "k.holder"] + Columns.selected("f") + ["f.mac"]
        + MergeLoad.Columns.selected("m") + ["m.mac"]
    private static let account = list["k.account_id"]
    private static let holder = list["k.holder"]
    private static let columns = Columns("f", in: list)
    private static let mac = list["f.mac"]
    private static let merge = MergeLoad.Columns("m", in: list)
    private static let mergeMAC = list["m.mac"]

    private static let statement = Statement(
        "load_factors",
        """
        WITH RECURSIVE named AS (SELECT unnest($2::uuid[]) AS account_id),
        \(MergedAccounts.holders)
        \(factorsOfFamily)
        """)

    /// Those of the accounts that have claimed addresses, or are merged with such an account: they end with the claim.
    private static let claimed = Statement(
        "load_factors_of_claims",
        """
        WITH RECURSIVE \(AddressLoad.claimHolders),
        named AS (SELECT account_id FROM holder),
        \(MergedAccounts.holders)
        \(factorsOfFamily)
        """)

    /// The factors of a family, and the merges that made the absorbed accounts a part of it.
    private static let factorsOfFamily = """
        SELECT \(list.sql)
        FROM family k
        LEFT JOIN LATERAL (
            SELECT * FROM merges
            WHERE tenant_id = $1 AND absorbed_id = k.account_id AND k.depth > 0
            OFFSET 0) m ON true
        LEFT JOIN LATERAL (
            SELECT * FROM factors
            WHERE tenant_id = $1 AND account_id = k.account_id
            OFFSET 0) f ON true
        WHERE f.factor_id IS NOT NULL OR k.depth > 0
        ORDER BY k.depth
        """

    static func call(claimsOf names: [BatchKeys.ProvedName], of tenant: TenantID) -> Call {
        Call(
            claimed,
            [.text(tenant.description), .byteArrays(names.map(\.name.digest.bytes))])
    }

    static func call(_ accounts: [AccountID], of tenant: TenantID) -> Call {
        Call(statement, [.text(tenant.description), .uuids(accounts.map(\.bits))])
    }

    /// Reads factors with their holders.
    ///
    /// - Throws: `BatchFault.damaged` also where no merge makes an account one of the holder's.
    static func read(_ result: QueryResult, into batch: TenantBatch) throws {
        var held: Set<AccountID> = []
        for row in 0..<result.rowCount {
            let account = AccountID(bits: try result.uuid(row, account))
            let holder = AccountID(bits: try result.uuid(row, holder))
            if account != holder, !held.contains(account) {
                let merge = try merge.read(result, row)
                try batch.check(
                    try result.optionalBytes(row, mergeMAC), of: .merge(merge, of: batch.tenant),
                    in: .merges)
                guard merge.survivor == holder || held.contains(merge.survivor) else {
                    throw BatchFault.damaged("accounts.merged_into of tenant \(batch.tenant)")
                }
                held.insert(account)
            }
            guard try !columns.isAbsent(result, row) else { continue }
            let stored = try columns.read(result, row, holder: holder)
            try batch.check(
                try result.optionalBytes(row, mac), of: stored.message(of: batch.tenant),
                in: .factors)
            batch.state.ledger.load(stored.factor)
            batch.state.factorCounters[stored.factor.id] = stored.counter
            batch.state.factorKeys[stored.factor.id] = stored.key
            batch.factorSecrets[stored.factor.id] = (
                wrappingKey: stored.wrappingKey, wrapped: stored.sealed
            )
        }
    }
}
