package import Ledger
import LedgerEngine
internal import Postgres

extension PostgresCredentialStore: FactorStore {
    private static let factorList = FactorLoad.Columns.selected("f")
    private static let factorColumns = FactorLoad.Columns("f", in: factorList)

    private static let factorsOfAccount = Statement(
        "factors_of_account",
        """
        SELECT \(factorList.sql) FROM factors f
        WHERE f.tenant_id = $1 AND f.account_id = $2 ORDER BY f.version
        """)

    /// Returns the factors of an account whose secrets can be decrypted.
    ///
    /// Their MACs are checked by the command that relies on one.
    package func factors(
        of account: AccountID, in tenant: TenantID
    ) async throws(LedgerFault) -> [StoredFactor] {
        try await run { [keyring] connection in
            let result = try connection.query(
                Self.factorsOfAccount, [.text(tenant.description), .uuid(account.bits)])
            return try (0..<result.rowCount).compactMap { row in
                let stored = try Self.factorColumns.read(result, row)
                return keyring.openSecret(
                    stored.sealed, wrappingKey: stored.wrappingKey, of: stored.factor, in: tenant
                ).map { StoredFactor(factor: stored.factor, secret: $0, counter: stored.counter) }
            }
        }
    }
}
