package import Ledger
package import LedgerEngine
package import Postgres

/// Reads and decrypts the disclosures of a page of events.
///
/// A destroyed row or key is not a failure. A row that exists but does not decrypt, or whose
/// content does not match its entry's digests, is damage.
package struct DisclosureReader: Sendable {
    private static let columns = """
        SELECT d.position, d.account_id, d.ciphertext, k.wrapping_key, k.wrapped_key
        FROM disclosures d LEFT JOIN LATERAL (
            SELECT wrapping_key, wrapped_key FROM account_keys
            WHERE tenant_id = $1 AND account_id = d.account_id OFFSET 0) k ON true
        """

    private static let between = Statement(
        "disclosures_between",
        """
        \(columns) WHERE d.tenant_id = $1 AND d.position >= $2 AND d.position < $3
        ORDER BY d.position, d.account_id
        """)

    private static let at = Statement(
        "disclosures_at",
        """
        \(columns) WHERE d.tenant_id = $1 AND d.position = ANY ($2::bigint[])
        ORDER BY d.position, d.account_id
        """)

    /// One stored row with its account key, which is nil once destroyed.
    package struct Row {
        package let position: LogPosition
        let account: AccountID
        let ciphertext: [UInt8]
        let key: (wrappingKey: String, wrapped: [UInt8])?
    }

    private let keyring: WrappingKeyring

    /// The keys that authenticate the events themselves.
    package var macs: MACKeys { keyring.macs }

    /// Creates a reader with the keys that unwrap account keys.
    package init(keyring: WrappingKeyring) {
        self.keyring = keyring
    }

    /// Returns a wrapping key in use that is not available; nil if all are.
    package func missingKey(on connection: Connection) throws(PostgresError) -> String? {
        let result = try connection.query(AllTenants.wrappingKeys)
        for row in 0..<result.rowCount {
            let id = try result.text(row, 0)
            if !keyring.contains(id) { return id }
        }
        return nil
    }

    /// Requests the rows of a range of positions.
    package static func call(
        from first: LogPosition, count: Int, in tenant: TenantID
    ) -> Call {
        let end = first.value.addingReportingOverflow(Int64(count))
        return Call(
            between,
            [
                .text(tenant.description), .int8(first.value),
                .int8(end.overflow ? .max : end.partialValue),
            ])
    }

    /// Requests the rows at some positions.
    package static func call(at positions: [Int64], in tenant: TenantID) -> Call {
        Call(at, [.text(tenant.description), .int8s(positions)])
    }

    /// Copies the rows of a range of positions.
    package static func rows(
        at positions: Range<Int64>, in tenant: TenantID, on connection: Connection
    ) throws -> [Row] {
        var rows: [Row] = []
        try connection.copyRows(
            """
            COPY (SELECT d.position, d.account_id, d.ciphertext, k.wrapping_key, k.wrapped_key
            FROM disclosures d LEFT JOIN LATERAL (
                SELECT wrapping_key, wrapped_key FROM account_keys
                WHERE tenant_id = \(quoteLiteral(tenant.description))
                    AND account_id = d.account_id
                OFFSET 0) k ON true
            WHERE d.tenant_id = \(quoteLiteral(tenant.description))
                AND d.position >= \(positions.lowerBound) AND d.position < \(positions.upperBound)
            ORDER BY d.position, d.account_id) TO STDOUT (FORMAT binary)
            """
        ) { row in
            var key: (wrappingKey: String, wrapped: [UInt8])?
            if !row.isNull(3) { key = (wrappingKey: try row.text(3), wrapped: row.bytes(4)) }
            rows.append(
                Row(
                    position: LogPosition(try row.int8(0)),
                    account: AccountID(bits: try row.uuid(1)), ciphertext: row.bytes(2), key: key))
        }
        return rows
    }

    /// Reads the rows of a request.
    package static func rows(_ result: QueryResult) throws(PostgresError) -> [Row] {
        var rows: [Row] = []
        rows.reserveCapacity(result.rowCount)
        let (position, account) = (try result.column("position"), try result.column("account_id"))
        let ciphertext = try result.column("ciphertext")
        let (wrapping, wrapped) = (
            try result.column("wrapping_key"), try result.column("wrapped_key")
        )
        for row in 0..<result.rowCount {
            var key: (wrappingKey: String, wrapped: [UInt8])?
            if let wrappingKey = try result.optionalText(row, wrapping) {
                key = (wrappingKey: wrappingKey, wrapped: try result.bytes(row, wrapped))
            }
            rows.append(
                Row(
                    position: LogPosition(try result.int8(row, position)),
                    account: AccountID(bits: try result.uuid(row, account)),
                    ciphertext: try result.bytes(row, ciphertext), key: key))
        }
        return rows
    }

    /// Decrypts the disclosures of one event.
    ///
    /// - Throws: `LogDamage` for a row that is about another account than the event's first, does
    ///   not decrypt, or whose digests are not in the entry.
    package func open(
        _ rows: ArraySlice<Row>, of recorded: RecordedEvent, keys: inout KeyCache
    ) throws(LogDamage) -> DisclosedValues {
        var values = DisclosedValues()
        for (_, disclosure) in try openEncoded(rows, of: recorded, keys: &keys) {
            guard values.add(disclosure) else {
                throw LogDamage(
                    position: recorded.position, fault: "duplicate disclosure")
            }
        }
        return values
    }

    /// Decrypts the disclosures of one event, each with the encoding that its digest covers.
    ///
    /// - Throws: as ``open(_:of:keys:)``.
    package func openEncoded(
        _ rows: ArraySlice<Row>, of recorded: RecordedEvent, keys: inout KeyCache
    ) throws(LogDamage) -> [(encoded: [UInt8], disclosure: Disclosure)] {
        var disclosures: [(encoded: [UInt8], disclosure: Disclosure)] = []
        for row in rows {
            guard row.account == recorded.accounts.first?.id else {
                throw LogDamage(
                    position: row.position,
                    fault: "a disclosure is about account \(row.account), not the event's first")
            }
            guard let key = try accountKey(of: row, in: recorded.tenant, cache: &keys) else {
                continue
            }
            let opened = key.open(
                row.ciphertext, tenant: recorded.tenant, position: row.position,
                account: row.account)
            guard let opened else {
                throw LogDamage(position: row.position, fault: "a disclosure does not decrypt")
            }
            for (encoded, disclosure) in opened {
                guard recorded.disclosureDigests.contains(LogDigest.sha256(encoded)) else {
                    throw LogDamage(
                        position: row.position, fault: "a disclosure's digest is not in the entry")
                }
                disclosures.append((encoded: encoded, disclosure: disclosure))
            }
        }
        return disclosures
    }

    /// The account keys unwrapped for one page.
    package struct KeyCache {
        fileprivate var keys: [AccountID: AccountKey] = [:]

        /// Creates an empty cache.
        package init() {}
    }

    private func accountKey(
        of row: Row, in tenant: TenantID, cache: inout KeyCache
    ) throws(LogDamage) -> AccountKey? {
        if let key = cache.keys[row.account] { return key }
        guard let stored = row.key else { return nil }
        guard keyring.contains(stored.wrappingKey) else {
            throw LogDamage(
                position: row.position,
                fault: "the wrapping key of account \(row.account) is not in the key directory",
                lacksKey: true)
        }
        let key = keyring.unwrap(
            stored.wrapped, wrappingKey: stored.wrappingKey, tenant: tenant, account: row.account)
        guard let key else {
            throw LogDamage(
                position: row.position, fault: "the key of account \(row.account) does not unwrap",
                lacksKey: true)
        }
        cache.keys[row.account] = key
        return key
    }
}
