package import Ledger
package import LedgerEngine
internal import Postgres

/// Reads second factors.
package final class PostgresFactorStore: FactorStore {
    private static let list = FactorLoad.Columns.selected("f")
    private static let columns = FactorLoad.Columns("f", in: list)

    private static let statement = Statement(
        "factors_of_account",
        """
        SELECT \(list.sql) FROM factors f
        WHERE f.tenant_id = $1 AND f.account_id = $2 ORDER BY f.version
        """)

    private let session: Postgres.Session
    private let keyring: WrappingKeyring
    private let onFault: @Sendable (String) -> Void

    /// Creates a reader.
    ///
    /// - Parameters:
    ///   - url: The runtime role's URL.
    ///   - keyring: Decrypts secrets.
    ///   - onFault: Called with one line, free of personal data, for each failure.
    package init(
        url: String, keyring: WrappingKeyring, onFault: @escaping @Sendable (String) -> Void
    ) {
        session = Postgres.Session(
            url: url, applicationName: "account-ledger factors", connectTimeout: .seconds(2),
            runDeadline: AnswerTime.transactionMax
        ) { try $0.execute(PostgresBatchStore.settings) }
        self.keyring = keyring
        self.onFault = onFault
    }

    /// Returns the factors of an account whose secrets can be decrypted.
    ///
    /// Their MACs are checked by the command that relies on one.
    package func factors(
        of account: AccountID, in tenant: TenantID
    ) async throws(LedgerFault) -> [StoredFactor] {
        do {
            return try await session.run { [keyring] connection in
                let result = try connection.query(
                    Self.statement, [.text(tenant.description), .uuid(account.bits)])
                return try (0..<result.rowCount).compactMap { row in
                    let stored = try Self.columns.read(result, row)
                    return keyring.openSecret(
                        stored.sealed, wrappingKey: stored.wrappingKey, of: stored.factor,
                        in: tenant
                    ).map { StoredFactor(factor: stored.factor, secret: $0) }
                }
            }
        } catch {
            onFault("second factors could not be read: \(error)")
            throw .unavailable
        }
    }

    /// Closes the connection.
    package func close() async {
        await session.close()
    }
}
