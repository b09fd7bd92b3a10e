package import Ledger
import LedgerEngine
package import Postgres

/// Reads what a fold onto a table of `conflicts` needs, and writes its changes.
package struct ConflictsTable {
    private static let list = SelectList(
        Catalogue.conflicts.columns.map(\.name).filter { $0 != "tenant_id" })

    /// The columns of a row after the tenant, in the order of ``add(_:of:to:)``.
    package static let columns = list.sql

    /// The number of ``columns``.
    package static let columnCount = list.count

    /// The positions in ``columns``.
    private struct Positions {
        let first = MarkPositions("first")
        let last = MarkPositions("last")
        let resolved = MarkPositions("resolved")
        let attempts = list["attempts"]
        let reason = list["reason"]
        let provider = list["provider"]
        let identity = list["identity_id"]
        let caller = list["caller_id"]
        let callerNow = list["caller_now"]
        let callers = list["callers"]
        let holder = list["holder_id"]
        let holderNow = list["holder_now"]
        let type = list["resolved_type"]
        let actor = list["resolved_actor"]
    }

    /// The positions of an event's place, id and time.
    private struct MarkPositions {
        let position, event, recordedAt: Int

        init(_ name: String) {
            position = list["\(name)_position"]
            event = list["\(name)_event"]
            recordedAt = list["\(name)_at"]
        }
    }

    private static let at = Positions()

    private static let open = "resolved_position IS NULL"
    private static let merged = "resolved_type = 'AccountsMerged'"
    private static let followed = "(\(open) OR \(merged))"

    /// The indexes of a table beside its primary key: name suffix, columns in order, and condition on rows.
    package static let indexes: [(name: String, columns: String, rows: String?)] = [
        ("last", "tenant_id, last_position", nil), ("caller", "caller_id, tenant_id", followed),
        ("caller_now", "caller_now, tenant_id", followed),
        ("identity", "identity_id, tenant_id", open), ("holder", "holder_now, tenant_id", open),
        ("resolved", "resolved_event, tenant_id", merged),
    ]

    /// The maximum number of rows that one statement writes, so that it ends before its timeout.
    private static let chunk = 10_000

    private let name: String

    init(_ name: String) {
        self.name = name
    }

    /// The number of followed conflicts, over all tenants, that a load inspects before it looks up keys.
    private static let probeLimit = 64

    // Each key is an index look-up, whatever the planner's estimate of the table. No key is looked up when
    // the first few entries of an index of followed conflicts are all it has and none is the tenant's: most
    // events change no conflict.
    private func keyed(on engine: DatabaseEngine) -> Statement {
        func by(_ column: String, _ keys: String, _ rows: String) -> String {
            """
            SELECT p.first_position FROM unnest(\(keys)::uuid[]) AS k (id)
            CROSS JOIN LATERAL (
                SELECT first_position FROM \(name) WHERE \(column) = k.id AND tenant_id = $1
                    AND \(rows)
                OFFSET 0) p
            """
        }
        let probed = engine == .citus ? " AND tenant_id = $1" : ""
        let found = [
            by("caller_id", "$2", Self.followed), by("caller_now", "$2", Self.followed),
            by("holder_now", "$2", Self.open), by("identity_id", "$3", Self.open),
            by("resolved_event", "$4", Self.merged),
        ].joined(separator: "\nUNION\n")
        return Statement(
            "\(name)_keyed",
            """
            SELECT \(Self.columns) FROM (\(found)) AS f (place)
            CROSS JOIN LATERAL (
                SELECT * FROM \(name) WHERE tenant_id = $1 AND first_position = f.place OFFSET 0) c
            WHERE (
                SELECT count(*) = \(Self.probeLimit) OR count(*) FILTER (WHERE g.tenant_id = $1) > 0
                FROM (
                    SELECT tenant_id FROM \(name) WHERE \(Self.followed)\(probed)
                    ORDER BY caller_id, tenant_id LIMIT \(Self.probeLimit)) g)
            """)
    }

    /// Returns the call that loads the conflicts that events can change.
    func load(
        _ keys: ConflictFold.Keys, of tenant: TenantID, on engine: DatabaseEngine
    ) -> Call {
        Call(
            keyed(on: engine),
            [
                .text(tenant.description), .uuids(keys.accounts.map(\.bits)),
                .uuids(keys.identities.map(\.bits)), .uuids(keys.merges.map(\.bits)),
            ])
    }

    private var delete: Statement {
        Statement(
            "\(name)_delete",
            """
            WITH written AS (
                DELETE FROM \(name) WHERE tenant_id = $1 AND first_position = ANY ($2::bigint[])
                RETURNING 1)
            SELECT ledger_expect(count(*), cardinality($2::bigint[]), 'conflicts') FROM written
            """)
    }

    private var empty: Statement {
        Statement("\(name)_empty", "DELETE FROM \(name) WHERE tenant_id = $1")
    }

    /// The COPY statement, with its columns in the order of ``add(_:of:to:)``.
    var copy: String {
        "COPY \(name) (tenant_id, \(Self.columns)) FROM STDIN (FORMAT binary)"
    }

    /// Writes the changes of a page inside the open transaction; raises when a row to be replaced is missing.
    func write(
        _ changes: ConflictChanges, of tenant: TenantID, through rows: inout CopyRows,
        on connection: Connection
    ) throws(PostgresError) {
        guard !changes.rows.isEmpty else { return }
        var replaced = changes.replaced[...]
        while !replaced.isEmpty {
            let chunk = replaced.prefix(Self.chunk)
            replaced = replaced.dropFirst(chunk.count)
            _ = try connection.query(
                delete, [.text(tenant.description), .int8s(chunk.map(\.value))])
        }
        try add(changes.rows, of: tenant, through: &rows, on: connection)
    }

    /// Writes all conflicts of a tenant and replaces those that exist.
    func write(
        _ fold: ConflictFold, insteadOfOthers: Bool, of tenant: TenantID,
        through rows: inout CopyRows, on connection: Connection
    ) throws(PostgresError) {
        if insteadOfOthers { _ = try connection.query(empty, [.text(tenant.description)]) }
        try add(fold.conflicts, of: tenant, through: &rows, on: connection)
    }

    private func add(
        _ conflicts: [Conflict], of tenant: TenantID, through rows: inout CopyRows,
        on connection: Connection
    ) throws(PostgresError) {
        var rest = conflicts[...]
        while !rest.isEmpty {
            let chunk = rest.prefix(Self.chunk)
            rest = rest.dropFirst(chunk.count)
            rows.removeAll()
            for conflict in chunk { Self.add(conflict, of: tenant.description, to: &rows) }
            try connection.write(&rows, by: copy)
        }
        rows.removeAll()
    }

    private static func add(_ conflict: Conflict, of tenant: String, to rows: inout CopyRows) {
        rows.row(columns: Int16(columnCount) + 1)
        rows.text(tenant)
        for mark in [conflict.first, conflict.last] {
            rows.int8(mark.position.value)
            rows.uuid(mark.event.bits)
            rows.timestamp(mark.recordedAt.microseconds)
        }
        rows.int8(conflict.attempts)
        rows.text(conflict.reason.rawValue)
        rows.text(conflict.provider.description)
        rows.uuid(conflict.identity?.bits)
        rows.uuid(conflict.caller.bits)
        rows.uuid(conflict.callerNow.bits)
        rows.texts(conflict.callers.map(\.description))
        rows.uuid(conflict.holder?.bits)
        rows.uuid(conflict.holderNow?.bits)
        guard let resolution = conflict.resolution else {
            for _ in 0..<5 { rows.null() }
            return
        }
        rows.int8(resolution.mark.position.value)
        rows.uuid(resolution.mark.event.bits)
        rows.timestamp(resolution.mark.recordedAt.microseconds)
        rows.text(resolution.type)
        rows.text(resolution.actor)
    }

    /// Reads a row of ``columns``.
    ///
    /// - Throws: `.unexpectedResult` for a row that no fold writes.
    package static func read(_ result: QueryResult, _ row: Int) throws(PostgresError) -> Conflict {
        let callers = try result.textArray(row, at.callers).map { text throws(PostgresError) in
            guard let account = AccountID(canonical: text) else {
                throw .unexpectedResult("a conflict has a caller that is not an account")
            }
            return account
        }
        guard let reason = ConflictRejected.Reason(rawValue: try result.text(row, at.reason)),
            let provider = ProviderName(try result.text(row, at.provider)),
            callers.first == AccountID(bits: try result.uuid(row, at.caller)),
            callers.last == AccountID(bits: try result.uuid(row, at.callerNow))
        else { throw .unexpectedResult("a row of conflicts can't be read") }
        return Conflict(
            callers: callers, reason: reason, provider: provider,
            identity: try result.optionalUUID(row, at.identity).map { IdentityID(bits: $0) },
            holder: try result.optionalUUID(row, at.holder).map { AccountID(bits: $0) },
            holderNow: try result.optionalUUID(row, at.holderNow).map { AccountID(bits: $0) },
            first: try mark(result, row, at.first), last: try mark(result, row, at.last),
            attempts: try result.int8(row, at.attempts), resolution: try resolution(result, row))
    }

    private static func resolution(
        _ result: QueryResult, _ row: Int
    ) throws(PostgresError) -> Conflict.Resolution? {
        guard try result.isNull(row, at.resolved.position) else {
            return Conflict.Resolution(
                mark: try mark(result, row, at.resolved), type: try result.text(row, at.type),
                actor: try result.text(row, at.actor))
        }
        for column in [at.resolved.event, at.resolved.recordedAt, at.type, at.actor]
        where try !result.isNull(row, column) {
            throw .unexpectedResult("a row of conflicts is half resolved")
        }
        return nil
    }

    private static func mark(
        _ result: QueryResult, _ row: Int, _ columns: MarkPositions
    ) throws(PostgresError) -> Conflict.Mark {
        Conflict.Mark(
            position: LogPosition(try result.int8(row, columns.position)),
            event: EventID(bits: try result.uuid(row, columns.event)),
            recordedAt: Timestamp(microseconds: try result.timestamp(row, columns.recordedAt)))
    }
}
