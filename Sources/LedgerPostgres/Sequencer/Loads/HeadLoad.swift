package import Ledger
package import LedgerEngine
package import Postgres

/// The tenants' heads, whose lock determines the order of all commits.
package enum HeadLoad {
    private static let makeHeads = Statement(
        "make_heads",
        """
        INSERT INTO ledger_head (tenant_id) SELECT * FROM unnest($1::text[])
        ON CONFLICT DO NOTHING
        """)

    /// The columns of a head `h`, for ``readMACs(_:_:of:keys:columns:)``.
    ///
    /// The log is searched for a sign of protection only if a head has none: before `protect`, or if
    /// the head's MAC was removed or a head from before it was put back. `KeyRotated` of version 2 has the kind
    /// `mac`, and no other version. The tenant is `$1`.
    package static let list =
        head + [
            """
            h.protected_from IS NULL AND (
                EXISTS (SELECT FROM events WHERE tenant_id = $1 AND position = 0
                    AND schema_version > 1)
                OR EXISTS (SELECT FROM events WHERE tenant_id = $1 AND type = 'KeyRotated'
                    AND schema_version = 2)) AS is_said_protected
            """
        ]

    /// As ``list``, in the same order, for heads of several tenants.
    static let listOfMany =
        head + [
            """
            h.protected_from IS NULL AND (
                EXISTS (SELECT FROM events WHERE tenant_id = h.tenant_id AND position = 0
                    AND schema_version > 1)
                OR EXISTS (SELECT FROM events WHERE tenant_id = h.tenant_id AND type = 'KeyRotated'
                    AND schema_version = 2)) AS is_said_protected
            """
        ]

    private static let head: SelectList = [
        "h.tenant_id", "h.next_position", "h.last_recorded_at", "h.log_id", "h.log_number",
        "h.protected_from", "h.rules_version", "h.mac",
    ]

    /// The positions of the columns of a head.
    package struct Columns: Sendable {
        fileprivate let nextPosition, recordedAt, log, number, protectedFrom, rulesVersion, mac: Int
        fileprivate let isSaidProtected: Int
        /// The position of the tenant's name, null in a row without a head.
        let tenant: Int

        /// Finds the columns of an alias in the list of a statement.
        init(_ h: String, in list: SelectList) {
            tenant = list["\(h).tenant_id"]
            nextPosition = list["\(h).next_position"]
            recordedAt = list["\(h).last_recorded_at"]
            log = list["\(h).log_id"]
            number = list["\(h).log_number"]
            protectedFrom = list["\(h).protected_from"]
            rulesVersion = list["\(h).rules_version"]
            mac = list["\(h).mac"]
            isSaidProtected = list["is_said_protected"]
        }
    }

    /// The positions in ``list``.
    package static let columns = Columns("h", in: list)

    private static let lockHead = Statement(
        "lock_head",
        """
        SELECT \(list.sql) FROM ledger_head h
        WHERE tenant_id = $1::text FOR UPDATE
        """)

    // The log was found to be protected before: a head that says otherwise is damaged.
    private static let lockProtectedHead = Statement(
        "lock_protected_head",
        """
        SELECT \((head + ["h.protected_from IS NULL AS is_said_protected"]).sql) FROM ledger_head h
        WHERE tenant_id = $1::text FOR UPDATE
        """)

    // Sorted before it is locked, so that two processes never deadlock.
    private static let lockHeads = Statement(
        "lock_heads",
        """
        SELECT \(listOfMany.sql) FROM ledger_head h
        WHERE tenant_id = ANY ($1::text[]) ORDER BY tenant_id FOR UPDATE
        """)

    /// The clock and the schema's version (``SchemaFence``).
    ///
    /// A separate statement after the lock: `now()` would be the transaction's start, and the
    /// snapshot of a statement that waited for the lock may be older than the migration that it
    /// waited for.
    static let clockList: SelectList = [
        "clock_timestamp() AS now",
        "(SELECT max(version) FROM public.ledger_migrations) AS schema_version",
    ]

    static func make(_ tenants: Set<TenantID>) -> Call {
        Call(makeHeads, [.texts(tenants.sorted().map { $0.description })])
    }

    /// Locks heads; `protected` are the logs that need no look for a sign of protection.
    static func lock(_ tenants: Set<TenantID>, protected: ProtectedLogs? = nil) -> Call {
        if tenants.count == 1, let tenant = tenants.first {
            let isProtected = protected?.contains(tenant) ?? false
            return Call(
                isProtected ? lockProtectedHead : lockHead, [.text(tenant.description)])
        }
        return Call(lockHeads, [.texts(tenants.sorted().map { $0.description })])
    }

    static func read(
        _ result: QueryResult, into tenants: inout [TenantID: TenantBatch],
        keyring: WrappingKeyring, protected: ProtectedLogs? = nil
    ) throws {
        for row in 0..<result.rowCount {
            guard let tenant = TenantID(try result.text(row, columns.tenant)) else {
                throw BatchFault.damaged("ledger_head.tenant_id")
            }
            let batch = TenantBatch(
                tenant: tenant,
                firstPosition: LogPosition(try result.count(row, columns.nextPosition)),
                lastRecordedAt: Timestamp(
                    microseconds: try result.timestamp(row, columns.recordedAt)),
                keyring: keyring)
            batch.macs = try readMACs(result, row, of: tenant, keys: keyring.macs)
            if try !result.isNull(row, columns.protectedFrom) { protected?.insert(tenant) }
            tenants[tenant] = batch
        }
    }

    /// Reads ``list`` and checks the head's MAC.
    ///
    /// - Throws: `BatchFault.damaged` for a head that no server has written.
    package static func readMACs(
        _ result: QueryResult, _ row: Int, of tenant: TenantID, keys: MACKeys,
        columns: Columns = HeadLoad.columns
    ) throws -> LogMACs {
        let head = LogMACs.Head(
            nextPosition: LogPosition(try result.int8(row, columns.nextPosition)),
            recordedAt: Timestamp(microseconds: try result.timestamp(row, columns.recordedAt)),
            log: try result.optionalUUID(row, columns.log).map(EventID.init(bits:)),
            number: try result.int8(row, columns.number),
            protectedFrom: try result.optionalInt8(row, columns.protectedFrom)
                .map(LogPosition.init),
            rulesVersion: try result.optionalInt8(row, columns.rulesVersion))
        var macs = LogMACs(tenant: tenant, keys: keys)
        try macs.load(
            head, stored: try result.optionalBytes(row, columns.mac),
            logSaysProtected: try result.bool(row, columns.isSaidProtected))
        return macs
    }
}
