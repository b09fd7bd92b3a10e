package import Ledger
import Postgres

/// The names of passkeys, on their own connection.
package struct IdentityNameStore: IdentityNames {
    // The lock waits for an unlink of the same identity, and has it wait, so that no name outlives its link.
    private static let give = Statement(
        "name_identity",
        """
        WITH held AS (
            SELECT identity_id FROM identities
            WHERE tenant_id = $1 AND last_account_id = $3 AND account_id = $3
                AND identity_id = $2
            FOR SHARE)
        INSERT INTO identity_names AS n (tenant_id, identity_id, account_id, name)
        SELECT $1, identity_id, $3, $4 FROM held
        ON CONFLICT (tenant_id, identity_id) DO UPDATE
        SET account_id = excluded.account_id, name = excluded.name
        """)

    private static let names = Statement(
        "identity_names",
        """
        SELECT n.identity_id, n.name
        FROM unnest($2::uuid[]) AS k (identity_id)
        CROSS JOIN LATERAL (
            SELECT * FROM identity_names
            WHERE tenant_id = $1 AND identity_id = k.identity_id
            OFFSET 0) n
        """)

    private let session: Postgres.Session
    private let onFault: @Sendable (String) -> Void

    /// Configures the store; does not connect yet.
    ///
    /// - Parameters:
    ///   - url: The URL of the runtime role.
    ///   - onFault: Called with one line, free of personal data, for each failed statement.
    package init(url: String, onFault: @escaping @Sendable (String) -> Void) {
        self.onFault = onFault
        session = Session.forReads(url: url, named: "identity names", seconds: 5)
    }

    /// Closes the connection; the next statement opens a new one.
    package func close() async {
        await session.close()
    }

    /// Names an identity, in place of its former name.
    ///
    /// - Returns: Whether the account has the identity.
    package func give(
        _ name: IdentityName, to identity: IdentityID, of account: AccountID, in tenant: TenantID
    ) async throws(LedgerFault) -> Bool {
        try await run { connection in
            let written = try connection.query(
                Self.give,
                [
                    .text(tenant.description), .uuid(identity.bits), .uuid(account.bits),
                    .text(name.description),
                ])
            return written.rowsAffected == 1
        }
    }

    /// Returns the names of those identities that have one.
    package func names(
        of identities: [IdentityID], in tenant: TenantID
    ) async throws(LedgerFault) -> [IdentityID: IdentityName] {
        guard !identities.isEmpty else { return [:] }
        return try await run { connection in
            let rows = try connection.query(
                Self.names, [.text(tenant.description), .uuids(identities.map(\.bits))])
            var found: [IdentityID: IdentityName] = [:]
            for row in 0..<rows.rowCount {
                let id = IdentityID(bits: try rows.uuid(row, rows.column("identity_id")))
                // A text that no server has written is not shown.
                found[id] = IdentityName(try rows.text(row, rows.column("name")))
            }
            return found
        }
    }

    private func run<Found: Sendable>(
        _ body: @escaping @Sendable (Connection) throws -> Found
    ) async throws(LedgerFault) -> Found {
        do {
            return try await session.run { try body($0) }
        } catch {
            onFault("reading or writing the names of passkeys failed: \(error)")
            throw .unavailable
        }
    }
}
