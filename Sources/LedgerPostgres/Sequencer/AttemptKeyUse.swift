import Ledger
import Postgres

/// The remaining uses of encryption keys in the digests of attempts.
enum AttemptKeyUse {
    private static let candidates = Statement(
        "attempt_key_use",
        """
        SELECT attempts,
            statement_timestamp() - make_interval(hours => \(IdempotencyKey.hours)) AS oldest
        FROM accounts
        WHERE tenant_id = $1::text AND position(convert_to($2::text, 'UTF8') IN attempts) > 0
        """)

    /// Returns one of these keys that an attempt of the last day has.
    static func first(
        of keys: Set<String>, in tenant: TenantID, on connection: Connection
    ) throws(PostgresError) -> String? {
        for key in keys.sorted() {
            let rows = try connection.query(
                candidates, [.text(tenant.description), .text(key)])
            for row in 0..<rows.rowCount {
                let oldest = Timestamp(microseconds: try rows.timestamp(row, rows.column("oldest")))
                let attempts =
                    AttemptList.decode(try rows.bytes(row, rows.column("attempts"))) ?? [:]
                if attempts.contains(where: { $0.key.key == key && $0.value > oldest }) {
                    return key
                }
            }
        }
        return nil
    }
}
