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

        /// Reads a row.
        ///
        /// - Throws: `BatchFault.damaged` for a kind that no version of this program wrote.
        package func read(_ result: QueryResult, _ row: Int) throws -> Row {
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
                    account: AccountID(bits: try result.uuid(row, account)),
                    position: LogPosition(try result.count(row, version)),
                    usedCodes: kind == .recoveryCodes ? counter : 0,
                    removalDue: try result.optionalTimestamp(row, removalDue)
                        .map { Timestamp(microseconds: $0) }),
                sealed: try result.bytes(row, sealed),
                wrappingKey: try result.text(row, wrappingKey), counter: counter, key: key)
        }
    }

    private static let list = Columns.selected("f") + ["f.mac"]
    private static let columns = Columns("f", in: list)
    private static let mac = list["f.mac"]

    private static let statement = Statement(
        "load_factors",
        """
        SELECT \(list.sql)
        FROM unnest($2::uuid[]) AS k (account_id)
        CROSS JOIN LATERAL (
            SELECT * FROM factors
            WHERE tenant_id = $1 AND account_id = k.account_id
            OFFSET 0) f
        """)

    /// Those of the accounts that have claimed addresses, or have absorbed such an account: they end with the claim.
    private static let claimed = Statement(
        "load_factors_of_claims",
        """
        WITH RECURSIVE \(AddressLoad.claimHolders)
        SELECT \(list.sql)
        FROM holder k
        CROSS JOIN LATERAL (
            SELECT * FROM factors
            WHERE tenant_id = $1 AND account_id = k.account_id
            OFFSET 0) f
        """)

    static func call(claimsOf names: [BatchKeys.ProvedName], of tenant: TenantID) -> Call {
        Call(
            claimed,
            [.text(tenant.description), .byteArrays(names.map(\.name.digest.bytes))])
    }

    static func call(_ accounts: [AccountID], of tenant: TenantID) -> Call {
        Call(statement, [.text(tenant.description), .uuids(accounts.map(\.bits))])
    }

    static func read(_ result: QueryResult, into batch: TenantBatch) throws {
        for row in 0..<result.rowCount {
            let stored = try columns.read(result, row)
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
