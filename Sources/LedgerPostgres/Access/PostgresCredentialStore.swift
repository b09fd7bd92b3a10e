package import Ledger
package import LedgerEngine
internal import Postgres

/// Reads passwords, passkeys, second factors and the holders of addresses, and renews hashes.
package final class PostgresCredentialStore: PasswordStore {
    static let list = PasswordLoad.Columns.selected("c")
    static let columns = PasswordLoad.Columns("c", in: list)
    private static let addressedList = list + ["d.claimed"]
    private static let claimed = addressedList["d.claimed"]

    private static let statement = Statement(
        "password_of_address",
        """
        SELECT \(addressedList.sql)
        FROM unnest($2::bytea[]) AS k (digest)
        CROSS JOIN LATERAL (
            SELECT address_id, claimed FROM addresses WHERE tenant_id = $1 AND digest = k.digest
            OFFSET 0) d
        CROSS JOIN LATERAL (
            SELECT identity_id FROM identities
            WHERE tenant_id = $1 AND provider = $3 AND provider_id = d.address_id::text
                AND account_id IS NOT NULL
            OFFSET 0) i
        CROSS JOIN LATERAL (
            SELECT * FROM credentials WHERE tenant_id = $1 AND identity_id = i.identity_id
            OFFSET 0) c
        """)

    private static let used = Statement(
        "address_is_used",
        """
        SELECT EXISTS (
            SELECT FROM addresses d
            JOIN identities i ON i.tenant_id = $1 AND i.provider = ANY ($3::text[])
                AND i.provider_id = d.address_id::text AND i.account_id IS NOT NULL
            WHERE d.tenant_id = $1 AND d.digest = ANY ($2::bytea[]) AND NOT d.claimed) AS is_used
        """)

    private static let former = Statement(
        "address_can_be_taken_back",
        """
        SELECT EXISTS (
            SELECT FROM addresses d
            JOIN identities i ON i.tenant_id = $1 AND i.provider = $3
                AND i.provider_id = d.former_of::text AND i.account_id IS NOT NULL
            WHERE d.tenant_id = $1 AND d.digest = ANY ($2::bytea[])
                AND d.former_of IS NOT NULL AND d.kept_until > $4::timestamptz) AS is_former
        """)

    private static let stored = Statement(
        "password_of_identity",
        """
        SELECT \(storedList.sql) FROM credentials c
        WHERE c.tenant_id = $1 AND c.identity_id = $2
        """)
    private static let storedList = PasswordLoad.Columns.selected("c") + ["c.mac"]
    private static let storedColumns = PasswordLoad.Columns("c", in: storedList)

    private static let renew = Statement(
        "renew_password",
        """
        UPDATE credentials SET sealed = $4, wrapping_key = $5, mac = $6
        WHERE tenant_id = $1 AND identity_id = $2 AND sealed = $3
        """)

    private let session: Postgres.Session
    let keyring: WrappingKeyring
    private let onFault: @Sendable (String) -> Void

    /// Creates a reader.
    ///
    /// - Parameters:
    ///   - url: The runtime role's URL.
    ///   - keyring: Decrypts hashes, keys and secrets.
    ///   - onFault: Called with one line, free of personal data, for each failure.
    package init(
        url: String, keyring: WrappingKeyring, onFault: @escaping @Sendable (String) -> Void
    ) {
        session = Postgres.Session(
            url: url, applicationName: "account-ledger credentials", connectTimeout: .seconds(2),
            runDeadline: AnswerTime.transactionMax
        ) { try $0.execute(PostgresBatchStore.settings) }
        self.keyring = keyring
        self.onFault = onFault
    }

    /// Returns the password of the account that has an address.
    ///
    /// Its MAC is checked by the command that relies on its version.
    package func password(
        of names: [AddressName], at provider: ProviderName, in tenant: TenantID
    ) async throws(LedgerFault) -> StoredPassword? {
        try await run { [keyring] connection in
            let result = try connection.query(
                Self.statement,
                Self.parameters(names, tenant) + [.text(provider.description)])
            guard result.rowCount > 0 else { return nil }
            let (version, sealed, wrappingKey) = try Self.columns.read(result, 0)
            let hash = keyring.openPassword(
                sealed, wrappingKey: wrappingKey, of: version, in: tenant)
            let isClaimed = try result.bool(0, Self.claimed)
            return hash.map {
                StoredPassword(version: version, hash: $0, isClaimed: isClaimed)
            }
        }
    }

    /// Whether an account is signed in to with a proved address, at one of some providers.
    package func isUsed(
        _ names: [AddressName], at providers: [ProviderName], in tenant: TenantID
    ) async throws(LedgerFault) -> Bool {
        try await run { connection in
            let result = try connection.query(
                Self.used,
                Self.parameters(names, tenant) + [.texts(providers.map(\.description))])
            return try result.bool(0, result.column("is_used"))
        }
    }

    /// Whether an address was replaced and can still be taken back.
    package func canBeTakenBack(
        _ names: [AddressName], at provider: ProviderName, in tenant: TenantID, at now: Timestamp
    ) async throws(LedgerFault) -> Bool {
        try await run { connection in
            let result = try connection.query(
                Self.former,
                Self.parameters(names, tenant) + [
                    .text(provider.description), .timestamp(now.microseconds),
                ])
            return try result.bool(0, result.column("is_former"))
        }
    }

    /// Replaces the hash of a password, unless the row has changed or its MAC is not valid.
    package func replace(
        _ stored: StoredPassword, by renewed: NewPassword, in tenant: TenantID
    ) async throws(LedgerFault) {
        try await run { [keyring] connection in
            let version = stored.version
            let key: [Parameter] = [
                .text(tenant.description), .uuid(version.identity.bits),
            ]
            let result = try connection.query(Self.stored, key)
            guard result.rowCount > 0 else { return }
            let (present, sealed, wrappingKey) = try Self.storedColumns.read(result, 0)
            guard present == version,
                keyring.openPassword(sealed, wrappingKey: wrappingKey, of: present, in: tenant)
                    == stored.hash,
                let again = keyring.seal(renewed, of: version, in: tenant),
                let mac = keyring.macs.mac(
                    replacing: try result.optionalBytes(0, Self.storedList["c.mac"]),
                    of: .password(version, sealed, wrappingKey, of: tenant),
                    by: .password(version, again.wrapped, again.wrappingKey, of: tenant))
            else { return }
            _ = try connection.query(
                Self.renew,
                key + [
                    .bytes(sealed), .bytes(again.wrapped), .text(again.wrappingKey),
                    mac.map { .bytes($0) } ?? .null,
                ])
        }
    }

    /// Closes the connection.
    package func close() async {
        await session.close()
    }

    private static func parameters(_ names: [AddressName], _ tenant: TenantID) -> [Parameter] {
        [.text(tenant.description), .byteArrays(names.map(\.digest.bytes))]
    }

    func run<Value: Sendable>(
        _ body: @escaping @Sendable (Connection) throws -> Value
    ) async throws(LedgerFault) -> Value {
        do {
            return try await session.run { try body($0) }
        } catch {
            onFault("credentials could not be read: \(error)")
            throw .unavailable
        }
    }
}
