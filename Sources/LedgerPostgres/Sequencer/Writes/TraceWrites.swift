import Ledger
import LedgerEngine
import Postgres

/// The traces of the requests that made events, for the webhooks that report them.
enum TraceWrites {
    /// The retention of a trace, in seconds: longer than the default retries of a webhook.
    static let seconds: Int64 = 3 * 86_400

    // A position is used again after a restore.
    private static let insert = Statement(
        "insert_event_traces",
        """
        INSERT INTO event_traces (tenant_id, position, traceparent, recorded_at)
        SELECT $1::text, t.position, t.traceparent, statement_timestamp()
        FROM unnest($2::bigint[], $3::text[]) AS t (position, traceparent)
        WHERE EXISTS (SELECT FROM webhook_endpoints WHERE tenant_id = $1)
        ON CONFLICT (tenant_id, position) DO UPDATE
        SET traceparent = excluded.traceparent, recorded_at = excluded.recorded_at
        """)

    static func calls(for batches: [TenantBatch]) -> [Call] {
        batches.filter { !$0.traces.isEmpty }.map { batch in
            let rows = batch.traces.flatMap { made in
                (made.positions.lowerBound.value...made.positions.upperBound.value).map {
                    (position: $0, trace: made.trace.text)
                }
            }
            return Call(
                insert,
                [
                    .text(batch.tenant.description), .int8s(rows.map(\.position)),
                    .texts(rows.map(\.trace)),
                ])
        }
    }
}
