package import Ledger
package import Postgres

/// The times before which device tokens were issued that have ended: those of an account, which are also those of the
/// addresses that it has proved, and all of a tenant.
package enum DeviceEnds {
    // A former address is not among them, so that the device by which it is taken back stays known; nor is a claimed
    // one, which is not the account's yet.
    private static let selectLast = Statement(
        "devices_ended",
        """
        SELECT max(greatest(h.devices_ended_at, a.ended_at)) AS ended_at
        FROM ledger_head h
        LEFT JOIN unnest($2::bytea[]) AS k (digest) ON true
        LEFT JOIN LATERAL (
            SELECT account_id FROM addresses
            WHERE tenant_id = $1 AND digest = k.digest AND NOT claimed AND former_of IS NULL
            OFFSET 0) d ON true
        LEFT JOIN LATERAL (
            SELECT max(devices_ended_at) AS ended_at FROM accounts
            WHERE tenant_id = $1 AND account_id IN (d.account_id, $3::uuid)
            OFFSET 0) a ON true
        WHERE h.tenant_id = $1
        """)

    private static let end = Statement(
        "end_devices",
        """
        UPDATE accounts SET devices_ended_at = $3::timestamptz
        WHERE tenant_id = $1 AND account_id = ANY ($2::uuid[])
        """)

    private static let endAll = Statement(
        "end_all_devices",
        """
        UPDATE ledger_head SET devices_ended_at = statement_timestamp() WHERE tenant_id = $1
        """)

    /// Returns the call that reads the last one of addresses or an account.
    static func last(
        of names: [AddressName], _ account: AccountID?, in tenant: TenantID
    ) -> Call {
        Call(
            selectLast,
            [
                .text(tenant.description), .byteArrays(names.map(\.digest.bytes)),
                account.map { .uuid($0.bits) } ?? .null,
            ])
    }

    /// Returns the last one; nil without one.
    static func last(in result: QueryResult) throws -> Timestamp? {
        try result.optionalTimestamp(0, result.column("ended_at"))
            .map { Timestamp(microseconds: $0) }
    }

    /// Returns the call that ends the device tokens of accounts.
    static func ending(
        of accounts: [AccountID], in tenant: TenantID, at now: Timestamp
    ) -> Call {
        Call(
            end,
            [
                .text(tenant.description), .uuids(accounts.map(\.bits)),
                .timestamp(now.microseconds),
            ])
    }

    /// Returns the call that ends all device tokens of a tenant, as after a restore, which brings back the tokens of
    /// accounts whose sessions have ended since.
    ///
    /// Servers that start afterwards refuse the tenant's sealed tokens of before, too: ``AllTenants/restores(on:)``.
    package static func endingAll(of tenant: TenantID) -> Call {
        Call(endAll, [.text(tenant.description)])
    }
}
