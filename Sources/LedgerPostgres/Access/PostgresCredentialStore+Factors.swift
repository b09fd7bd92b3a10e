package import Ledger
import LedgerEngine
internal import Postgres

extension PostgresCredentialStore: FactorStore {
    private static let factorList: SelectList = ["k.holder"] + FactorLoad.Columns.selected("f")
    private static let holder = factorList["k.holder"]
    private static let factorColumns = FactorLoad.Columns("f", in: factorList)

    private static let factorsOfAccount = Statement(
        "factors_of_account",
        """
        WITH RECURSIVE named AS (SELECT $2::uuid AS account_id),
        \(MergedAccounts.holders)
        SELECT \(factorList.sql)
        FROM family k
        CROSS JOIN LATERAL (
            SELECT * FROM factors WHERE tenant_id = $1 AND account_id = k.account_id
            OFFSET 0) f
        ORDER BY f.version
        """)

    /// Returns the factors of an account and of those merged with it, whose secrets can be decrypted.
    ///
    /// Their MACs, and those of the merges, are checked by the command that relies on one.
    package func factors(
        of account: AccountID, in tenant: TenantID
    ) async throws(LedgerFault) -> [StoredFactor] {
        try await run { [keyring] connection in
            let result = try connection.query(
                Self.factorsOfAccount, [.text(tenant.description), .uuid(account.bits)])
            return try (0..<result.rowCount).compactMap { row in
                let stored = try Self.factorColumns.read(
                    result, row, holder: AccountID(bits: try result.uuid(row, Self.holder)))
                return keyring.openSecret(
                    stored.sealed, wrappingKey: stored.wrappingKey, of: stored.factor, in: tenant
                ).map { StoredFactor(factor: stored.factor, secret: $0, counter: stored.counter) }
            }
        }
    }
}
