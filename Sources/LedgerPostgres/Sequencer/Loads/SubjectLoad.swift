import Ledger
import LedgerEngine
import Postgres

/// The identities of the subjects that commands claim, including those without an account.
///
/// Each is loaded with the account that holds it and, for a sign-in, its number of recent sign-ins.
enum SubjectLoad {
    private static let list = list(count: "NULL::bigint", earliest: "NULL::timestamptz")
    private static let countedList = list(count: "s.count", earliest: "s.earliest")
    private static let identity = IdentityLoad.Columns("i", in: list)
    private static let mac = list["i.mac"]
    private static let count = list["count"]
    private static let earliest = list["earliest"]
    private static let account = AccountColumns(in: list)

    private static func list(count: String, earliest: String) -> SelectList {
        ["k.n"] + IdentityLoad.Columns.selected("i")
            + ["i.mac", "\(count) AS count", "\(earliest) AS earliest"] + AccountColumns.selected
    }

    private static let statement = RowsStatement(
        "load_subjects", ["tenant_id": "text", "provider": "text", "provider_id": "text"],
        ordinal: "n"
    ) { rows in
        text(rows, list, counting: "")
    }

    // Since the last link, because an upgrade of an anonymous account leaves an earlier session to its
    // new identity; by position, because times are equal while a clock that was set back catches up. Only for batches with sign-ins: others would pay for a join that finds nothing.
    // statement_timestamp() instead of the clock, because it is stable and the index serves the
    // bound.
    private static let counting = RowsStatement(
        "load_counted_subjects",
        [
            "tenant_id": "text", "provider": "text", "provider_id": "text",
            "window_seconds": "bigint",
        ], ordinal: "n"
    ) { rows in
        text(
            rows, countedList,
            counting: """
                LEFT JOIN LATERAL (
                    SELECT count(*), min(opened_at) AS earliest FROM sessions
                    WHERE tenant_id IS NOT DISTINCT FROM k.tenant_id
                        AND identity_id = i.identity_id AND opened_at >= i.linked_at
                        AND opened_position > i.linked_position
                        AND opened_at > statement_timestamp() - make_interval(secs => k.window_seconds)
                        AND k.window_seconds IS NOT NULL) s ON true
                """)
    }

    private static func text(_ rows: String, _ list: SelectList, counting: String) -> String {
        """
        SELECT \(list.sql)
        FROM \(rows)
        CROSS JOIN LATERAL (
            SELECT * FROM identities
            WHERE tenant_id = k.tenant_id AND provider = k.provider
                AND provider_id = k.provider_id
            OFFSET 0) i
        \(counting)
        LEFT JOIN LATERAL (
            SELECT * FROM accounts
            WHERE tenant_id = k.tenant_id AND account_id = i.account_id
            OFFSET 0) a ON true
        \(AccountColumns.joined)
        """
    }

    /// Requests the subjects; `windowSeconds` returns the period over which a tenant's sign-ins are
    /// counted.
    static func call(_ claims: BatchKeys.Claims, windowSeconds: (TenantID) -> Int64) -> Call {
        let keys: [Parameter] = [
            .texts(claims.tenants.map { $0.description }),
            .texts(claims.subjects.map { $0.provider.description }),
            .texts(claims.subjects.map { $0.providerID }),
        ]
        guard claims.countsSignIns.contains(true) else {
            return statement.call(rows: claims.subjects.count, keys)
        }
        let windows = zip(claims.tenants, claims.countsSignIns).map { $1 ? windowSeconds($0) : nil }
        return counting.call(rows: claims.subjects.count, keys + [.optionalInt8s(windows)])
    }

    static func read(
        _ result: QueryResult, of claims: BatchKeys.Claims, into tenants: [TenantID: TenantBatch]
    ) throws {
        for row in 0..<result.rowCount {
            let index = try result.keyIndex(row)
            guard let batch = tenants[claims.tenants[index]] else { continue }
            let subject = claims.subjects[index]
            let id = try identity.id(result, row)
            if batch.state.directory.updateValue(id, forKey: subject) == nil {
                let (identity, _) = try identity.read(result, row)
                batch.loadedRows.append(
                    LoadedRow(
                        content: .identity(identity, named: subject),
                        stored: try result.optionalBytes(row, mac)))
                batch.subjects[id] = subject
                batch.state.ledger.load(identity)
            }
            if let count = try result.optionalInt8(row, count), count > 0 {
                batch.state.signIns[id] = DecisionState.SignInCount(
                    count: Int(count),
                    earliest: Timestamp(microseconds: try result.timestamp(row, earliest)))
            }
            try account.read(result, row, into: batch)
        }
    }
}
