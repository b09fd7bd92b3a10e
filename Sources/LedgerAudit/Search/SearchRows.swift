import Ledger
import LedgerEngine
import LedgerPostgres
import Postgres

/// The statements of a search, and the rows that they return.
enum SearchRows {
    /// A row of `identities`, without the subject.
    struct IdentityRow {
        let id: IdentityID
        let provider: ProviderName
        let account: AccountID?
        let lastAccount: AccountID
    }

    /// The remaining details of an account.
    struct AccountRow {
        let state: FoundAccount.State
        let mergedInto: AccountID?
    }

    private static let columns = "i.identity_id, i.provider, i.account_id, i.last_account_id"

    /// Finds a subject at any provider by one look-up of the unique key for each provider of the tenant.
    static let ofProviderID = Statement(
        "search_provider_id",
        """
        WITH RECURSIVE known (provider) AS (
            (SELECT provider FROM identities WHERE tenant_id = $1 ORDER BY provider LIMIT 1)
            UNION ALL
            SELECT (SELECT provider FROM identities
                WHERE tenant_id = $1 AND provider > k.provider ORDER BY provider LIMIT 1)
            FROM known k WHERE k.provider IS NOT NULL)
        SELECT \(columns) FROM known k CROSS JOIN LATERAL (
            SELECT identity_id, provider, account_id, last_account_id, linked_position
            FROM identities
            WHERE tenant_id = $1 AND provider = k.provider AND provider_id = $2
            OFFSET 0) i
        WHERE k.provider IS NOT NULL ORDER BY i.identity_id
        """)

    /// Finds an address by its digest by any key; a former one names the address that replaced it.
    static let ofAddress = Statement(
        "search_address",
        """
        SELECT d.address_id, d.former_of FROM unnest($2::bytea[]) AS k (digest)
        CROSS JOIN LATERAL (
            SELECT address_id, former_of FROM addresses
            WHERE tenant_id = $1 AND digest = k.digest
            OFFSET 0) d
        ORDER BY d.address_id
        """)

    static func ofEmail(_ table: ProjectionTable) -> Statement {
        Statement(
            "\(table)_search",
            """
            SELECT user_id, identity_id, email_verified FROM \(table)
            WHERE tenant_id = $1 AND email IS NOT NULL AND \(SearchedEmail.expression) = $2
            ORDER BY email_verified IS NOT TRUE, identity_id LIMIT $3
            """)
    }

    static func emails(_ table: ProjectionTable) -> Statement {
        Statement(
            "\(table)_emails",
            """
            SELECT u.identity_id, u.email, u.email_verified FROM unnest($2::uuid[]) AS k (user_id)
            CROSS JOIN LATERAL (
                SELECT identity_id, email, email_verified FROM \(table)
                WHERE tenant_id = $1 AND user_id = k.user_id AND email IS NOT NULL
                OFFSET 0) u
            """)
    }

    /// Finds digests in the order of `SearchKey.flags`, whose indexes are in the last column.
    static let ofFormerEmail = Statement(
        "search_former_email",
        """
        SELECT \(columns), k.n FROM \(ArrayRows.sql(["digest": "bytea"], from: 2, ordinal: "n")) AS k
        CROSS JOIN LATERAL (
            SELECT identity_id, provider, account_id, last_account_id FROM identities
            WHERE tenant_id = $1 AND former_email = k.digest
            OFFSET 0) i
        ORDER BY k.n, i.identity_id LIMIT $3
        """)

    /// Finds the identities that belong or last belonged to some accounts, in linking order.
    static let ofAccounts = Statement(
        "search_identities",
        """
        SELECT \(columns) FROM unnest($2::uuid[]) AS k (account_id)
        CROSS JOIN LATERAL (
            SELECT identity_id, provider, account_id, last_account_id, linked_position
            FROM identities
            WHERE tenant_id = $1 AND last_account_id = k.account_id
            OFFSET 0) i
        ORDER BY i.linked_position, i.identity_id
        """)

    static let accounts = Statement(
        "search_accounts",
        """
        SELECT account_id, merged_into, disabled_position IS NOT NULL AS is_disabled,
            false AS is_erased
        FROM accounts
        WHERE tenant_id = $1 AND account_id = ANY ($2::uuid[])
        UNION ALL
        SELECT account_id, NULL, false, true FROM erasures
        WHERE tenant_id = $1 AND account_id = ANY ($2::uuid[])
        """)

    /// Finds the accounts that were merged into some accounts, including those in between.
    static let absorbed = Statement(
        "search_absorbed",
        """
        \(MergedAccounts.family)
        SELECT survivor, account_id FROM family WHERE depth > 0 ORDER BY 1, 2
        """)

    /// Finds the last account that an identity signed in to.
    static let lastHolder = Statement(
        "search_last_holder",
        """
        SELECT account_id FROM sessions WHERE identity_id = $2 AND tenant_id = $1
        ORDER BY opened_at DESC, opened_position DESC LIMIT 1
        """)

    /// Finds what an id names within a range of positions: an event, a request, or a linked identity.
    static let ofWindow = Statement(
        "search_window",
        """
        SELECT position, entry, mac FROM events
        WHERE tenant_id = $1 AND position >= $2 AND position < $3
            AND (event_id = $4 OR request_id = $4
                OR (type = 'ProviderLinked' AND position($5::bytea in entry) > 0))
        ORDER BY position LIMIT $6
        """)

    static let ofRequest = Statement(
        "search_request",
        """
        SELECT position, entry, mac FROM events
        WHERE tenant_id = $1 AND position >= $2 AND position < $3 AND request_id = $4
        ORDER BY position LIMIT $5
        """)

    static func identities(_ result: QueryResult) throws(PostgresError) -> [IdentityRow] {
        var rows: [IdentityRow] = []
        for row in 0..<result.rowCount {
            guard let provider = ProviderName(try result.text(row, result.column("provider")))
            else { continue }
            rows.append(
                IdentityRow(
                    id: IdentityID(bits: try result.uuid(row, result.column("identity_id"))),
                    provider: provider,
                    account: try result.optionalUUID(row, result.column("account_id")).map {
                        AccountID(bits: $0)
                    },
                    lastAccount: AccountID(
                        bits: try result.uuid(row, result.column("last_account_id")))))
        }
        return rows
    }

    static func accounts(_ result: QueryResult) throws(PostgresError) -> [AccountID: AccountRow] {
        var rows: [AccountID: AccountRow] = [:]
        for row in 0..<result.rowCount {
            let survivor = try result.optionalUUID(row, result.column("merged_into")).map {
                AccountID(bits: $0)
            }
            let isErased = try result.bool(row, result.column("is_erased"))
            let isDisabled = try result.bool(row, result.column("is_disabled"))
            rows[AccountID(bits: try result.uuid(row, result.column("account_id")))] = AccountRow(
                state: isErased
                    ? .erased : survivor != nil ? .absorbed : isDisabled ? .disabled : .live,
                mergedInto: survivor)
        }
        return rows
    }

    static func absorbed(_ result: QueryResult) throws(PostgresError) -> [AccountID: [AccountID]] {
        var rows: [AccountID: [AccountID]] = [:]
        for row in 0..<result.rowCount {
            rows[AccountID(bits: try result.uuid(row, result.column("survivor"))), default: []]
                .append(
                    AccountID(bits: try result.uuid(row, result.column("account_id"))))
        }
        return rows
    }

    /// Decodes the events of rows, without damaged and unauthentic ones, which `verify` reports.
    static func events(
        _ result: QueryResult, in tenant: TenantID, _ protection: LogProtection?
    ) throws(PostgresError) -> [RecordedEvent] {
        var events: [RecordedEvent] = []
        for row in 0..<result.rowCount {
            let position = LogPosition(try result.int8(row, result.column("position")))
            let entry = try result.bytes(row, result.column("entry"))
            let mac = try result.optionalBytes(row, result.column("mac"))
            guard
                let event = try? StoredEvent(
                    entry: entry, mac: mac, at: position, in: tenant, protection)
            else { continue }
            events.append(event.recorded)
        }
        return events
    }
}
