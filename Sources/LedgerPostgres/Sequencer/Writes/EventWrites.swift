import Ledger
import LedgerEngine
import Postgres

/// The writes of a batch's events and of the heads that they advance.
enum EventWrites {
    private static let eventColumns: KeyValuePairs<String, String> = [
        "tenant_id": "text", "position": "bigint", "event_id": "uuid", "type": "text",
        "schema_version": "integer", "recorded_at": "timestamptz", "account_id": "uuid",
        "account_seq": "bigint", "command_id": "uuid", "request_id": "uuid", "actor": "text",
        "entry": "bytea", "mac": "bytea",
    ]

    private static func insertion(_ rows: String) -> String {
        """
        INSERT INTO events (tenant_id, position, event_id, type, schema_version, recorded_at,
            account_id, account_seq, command_id, request_id, actor, entry, mac)
        SELECT * FROM \(rows)
        """
    }

    /// Counts the inserted rows, because a foreign trigger or rule could swallow some of the events.
    private static let insertEvents = RowsStatement("insert_events", eventColumns) { rows in
        """
        WITH written AS (
            \(insertion(rows))
            RETURNING 1)
        SELECT ledger_expect(count(*), $14::bigint, 'events') FROM written
        """
    }

    // Citus collects rows that are returned in files, and writes a statement for each of its shards.
    private static let insertEventsOnCitus = RowsStatement(
        "insert_events", eventColumns, insertion)

    private static let moveHeads = moving("")

    /// Moves no head to a position before which events are missing: there the insertion does not count them.
    private static let moveHeadsOnCitus = moving(
        """
         AND k.next - k.first = (
            SELECT count(*) FROM events
            WHERE tenant_id = $1 AND position >= k.first AND position < k.next)
        """)

    private static func moving(_ condition: String) -> RowsStatement {
        RowsStatement(
            "move_heads",
            [
                "tenant_id": "text", "first": "bigint", "next": "bigint",
                "recorded_at": "timestamptz", "log_id": "uuid", "log_number": "bigint",
                "protected_from": "bigint", "rules_version": "bigint", "mac": "bytea",
            ]
        ) { rows in
            """
            WITH written AS (
                UPDATE ledger_head h
                SET next_position = k.next, last_recorded_at = k.recorded_at, log_id = k.log_id,
                    log_number = k.log_number, protected_from = k.protected_from,
                    rules_version = k.rules_version, mac = k.mac
                FROM \(rows)
                WHERE h.tenant_id = k.tenant_id AND h.next_position = k.first\(condition)
                RETURNING 1)
            SELECT ledger_expect(count(*), $10::bigint, 'ledger_head') FROM written
            """
        }
    }

    /// Returns the insertion of the events that are not written yet, and the move of the heads behind them.
    ///
    /// - Throws: `BatchFault.damaged` if the key that authenticates them is not available.
    static func calls(
        for batches: [TenantBatch], on engine: DatabaseEngine
    ) throws(BatchFault) -> [Call] {
        let moved = batches.filter { !$0.recordings.isEmpty }
        guard !moved.isEmpty else { return [] }
        let insertions = try insertions(for: moved, on: engine)
        return insertions + [try move(moved, by: engine == .citus ? moveHeadsOnCitus : moveHeads)]
    }

    /// Returns the insertion of the events that are not written yet.
    ///
    /// - Throws: `BatchFault.damaged` if the key that authenticates them is not available.
    static func insertions(
        for batches: [TenantBatch], on engine: DatabaseEngine
    ) throws(BatchFault) -> [Call] {
        var recordings: [Recording] = []
        var macs: [[UInt8]] = []
        for batch in batches {
            for recording in batch.takeRecordings() {
                macs.append(try batch.macs.mac(of: recording))
                recordings.append(recording)
            }
        }
        guard !recordings.isEmpty else { return [] }
        // Of the recordings: a list of events would copy all fields of each for every column.
        let isCounted = engine != .citus
        return [
            (isCounted ? insertEvents : insertEventsOnCitus).call(
                rows: recordings.count,
                [
                    .texts(recordings.map { $0.recorded.tenant.description }),
                    .int8s(recordings.map { $0.recorded.position.value }),
                    .uuids(recordings.map { $0.recorded.id.bits }),
                    .texts(recordings.map { $0.recorded.event.name.rawValue }),
                    .int4s(recordings.map { Int32($0.recorded.event.version) }),
                    .timestamps(recordings.map { $0.recorded.recordedAt.microseconds }),
                    .optionalUUIDs(recordings.map { $0.recorded.accounts.first?.id.bits }),
                    .optionalInt8s(recordings.map { $0.recorded.accounts.first?.sequence }),
                    .uuids(recordings.map { $0.recorded.command.bits }),
                    .optionalUUIDs(recordings.map { $0.recorded.request?.bits }),
                    .texts(recordings.map { $0.recorded.actor.columnText }),
                    .byteArrays(recordings.map { $0.entry }),
                    .byteArrays(macs),
                ], isCounted ? [.int8(Int64(recordings.count))] : [])
        ]
    }

    private static func move(
        _ moved: [TenantBatch], by statement: RowsStatement
    ) throws(BatchFault) -> Call {
        let heads = moved.map { $0.macs.head($0.state.ledger) }
        var macs: [[UInt8]] = []
        for (batch, head) in zip(moved, heads) {
            macs.append(try batch.macs.mac(of: .head(head, of: batch.tenant)))
        }
        return statement.call(
            rows: moved.count,
            [
                .texts(moved.map { $0.tenant.description }),
                .int8s(moved.map { $0.firstPosition.value }),
                .int8s(heads.map { $0.nextPosition.value }),
                .timestamps(heads.map { $0.recordedAt.microseconds }),
                .optionalUUIDs(heads.map { $0.log?.bits }), .int8s(heads.map { $0.number }),
                .optionalInt8s(heads.map { $0.protectedFrom?.value }),
                .optionalInt8s(heads.map(\.rulesVersion)), .byteArrays(macs),
            ], [.int8(Int64(moved.count))])
    }
}
