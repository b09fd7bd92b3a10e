package import Ledger
package import LedgerEngine
internal import Postgres

/// Reads passwords and the holders of addresses.
package final class PostgresPasswordReader: PasswordReader {
    private static let list = PasswordLoad.Columns.selected("c")
    private static let columns = PasswordLoad.Columns("c", in: list)

    private static let statement = Statement(
        "password_of_address",
        """
        SELECT \(list.sql)
        FROM unnest($2::bytea[]) AS k (digest)
        CROSS JOIN LATERAL (
            SELECT account_id FROM addresses WHERE tenant_id = $1 AND digest = k.digest
            OFFSET 0) d
        CROSS JOIN LATERAL (
            SELECT * FROM credentials WHERE tenant_id = $1 AND account_id = d.account_id
            OFFSET 0) c
        """)

    private static let held = Statement(
        "address_is_held",
        """
        SELECT EXISTS (
            SELECT FROM addresses WHERE tenant_id = $1 AND digest = ANY ($2::bytea[])) AS is_held
        """)

    private let session: Postgres.Session
    private let keyring: WrappingKeyring
    private let onFault: @Sendable (String) -> Void

    /// Creates a reader.
    ///
    /// - Parameters:
    ///   - url: The runtime role's URL.
    ///   - keyring: Decrypts hashes.
    ///   - onFault: Called with one line, free of personal data, for each failure.
    package init(
        url: String, keyring: WrappingKeyring, onFault: @escaping @Sendable (String) -> Void
    ) {
        session = Postgres.Session(
            url: url, applicationName: "account-ledger passwords", connectTimeout: .seconds(2),
            runDeadline: AnswerTime.transactionMax
        ) { try $0.execute(PostgresBatchStore.settings) }
        self.keyring = keyring
        self.onFault = onFault
    }

    /// Returns the password of the account that has an address.
    ///
    /// Its MAC is checked by the command that relies on its version.
    package func password(
        of names: [AddressName], in tenant: TenantID
    ) async throws(LedgerFault) -> StoredPassword? {
        try await run { [keyring] connection in
            let result = try connection.query(Self.statement, Self.parameters(names, tenant))
            guard result.rowCount > 0 else { return nil }
            let (version, sealed, wrappingKey) = try Self.columns.read(result, 0)
            let hash = keyring.openPassword(
                sealed, wrappingKey: wrappingKey, of: version, in: tenant)
            return hash.map { StoredPassword(version: version, hash: $0) }
        }
    }

    /// Whether an account has an address.
    package func isHeld(
        _ names: [AddressName], in tenant: TenantID
    ) async throws(LedgerFault) -> Bool {
        try await run { connection in
            let result = try connection.query(Self.held, Self.parameters(names, tenant))
            return try result.bool(0, result.column("is_held"))
        }
    }

    /// Closes the connection.
    package func close() async {
        await session.close()
    }

    private static func parameters(_ names: [AddressName], _ tenant: TenantID) -> [Parameter] {
        [.text(tenant.description), .byteArrays(names.map(\.digest.bytes))]
    }

    private func run<Value: Sendable>(
        _ body: @escaping @Sendable (Connection) throws -> Value
    ) async throws(LedgerFault) -> Value {
        do {
            return try await session.run { try body($0) }
        } catch {
            onFault("a password could not be read: \(error)")
            throw .unavailable
        }
    }
}
