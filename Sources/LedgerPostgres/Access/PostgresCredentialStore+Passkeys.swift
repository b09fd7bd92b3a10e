package import Ledger
import LedgerEngine
internal import Postgres

extension PostgresCredentialStore: PasskeyStore {
    private static let subjectList = list + ["i.account_id"]
    private static let account = subjectList["i.account_id"]

    private static let ofSubject = Statement(
        "passkey_of_subject",
        """
        SELECT \(subjectList.sql)
        FROM identities i
        CROSS JOIN LATERAL (
            SELECT * FROM credentials WHERE tenant_id = $1 AND identity_id = i.identity_id
            OFFSET 0) c
        WHERE i.tenant_id = $1 AND i.provider = $2 AND i.provider_id = $3
            AND i.account_id IS NOT NULL
        """)

    private static let ofAccount = Statement(
        "passkeys_of_account",
        """
        SELECT \(list.sql), EXISTS (
            SELECT FROM merges m
            WHERE m.tenant_id = $1 AND m.survivor_id = $2 AND i.identity_id = ANY (m.moved))
            AS is_absorbed
        FROM identities i
        CROSS JOIN LATERAL (
            SELECT * FROM credentials WHERE tenant_id = $1 AND identity_id = i.identity_id
            OFFSET 0) c
        WHERE i.tenant_id = $1 AND i.last_account_id = $2 AND i.provider = $3
            AND i.account_id IS NOT NULL
        """)

    /// Returns the passkey that is an identity, with its account.
    ///
    /// Its MAC is checked by the command that relies on its version.
    package func passkey(
        of subject: Subject, in tenant: TenantID
    ) async throws(LedgerFault) -> StoredPassword? {
        try await run { [keyring] connection in
            let rows = try connection.query(
                Self.ofSubject,
                [
                    .text(tenant.description), .text(subject.provider.description),
                    .text(subject.providerID),
                ])
            guard rows.rowCount > 0, let key = try Self.read(rows, 0, of: tenant, keyring)
            else { return nil }
            return StoredPassword(
                version: key.version, hash: key.hash,
                account: AccountID(bits: try rows.uuid(0, Self.account)))
        }
    }

    /// Returns the passkeys of an account at a provider.
    package func passkeys(
        of account: AccountID, at provider: ProviderName, in tenant: TenantID
    ) async throws(LedgerFault) -> [AccountPasskey] {
        try await run { [keyring] connection in
            let rows = try connection.query(
                Self.ofAccount,
                [
                    .text(tenant.description), .uuid(account.bits),
                    .text(provider.description),
                ])
            let isAbsorbed = try rows.column("is_absorbed")
            return try (0..<rows.rowCount).compactMap { row in
                guard let key = try Self.read(rows, row, of: tenant, keyring) else { return nil }
                return AccountPasskey(text: key.hash, isAbsorbed: try rows.bool(row, isAbsorbed))
            }
        }
    }

    private static func read(
        _ result: QueryResult, _ row: Int, of tenant: TenantID, _ keyring: WrappingKeyring
    ) throws -> StoredPassword? {
        let (version, sealed, wrappingKey) = try columns.read(result, row)
        return keyring.openPassword(
            sealed, wrappingKey: wrappingKey, of: version, in: tenant
        ).map { StoredPassword(version: version, hash: $0) }
    }
}
