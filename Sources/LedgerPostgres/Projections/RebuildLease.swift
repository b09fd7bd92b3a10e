import LedgerEngine
import Postgres

/// The right of one process to rebuild a projection: a lease in the row of the table that is served.
///
/// A transaction that writes holds the row's key (`FOR KEY SHARE`) to its end, which a renewal does not
/// conflict with. A lease counts until it is ended, and who ends one locks the row (`FOR UPDATE`): once it is
/// ended, nothing more is written under it.
struct RebuildLease: Sendable {
    /// The time after the last renewal in seconds, after which anyone may end the lease.
    static let seconds: Int32 = 10
    static let renewalInterval = Duration.seconds(2)

    let projection: ProjectionName
    /// The process that rebuilds.
    let builder: UInt128

    private static func end(_ name: String, _ rows: String) -> Statement {
        Statement(
            name,
            """
            WITH ended AS (
                SELECT name, generation FROM projection_tables WHERE \(rows)
                FOR UPDATE SKIP LOCKED)
            UPDATE projection_tables t SET builder = NULL, builder_until = NULL
            FROM ended e WHERE t.name = e.name AND t.generation = e.generation
            """)
    }

    // A clock that was set back must not extend a lease beyond twice its length. A lease that was renewed by a
    // statement that began later ends a little after a new one.
    private static let endLapsed = end(
        "rebuild_end_lapsed",
        """
        builder_until <= statement_timestamp()
            OR builder_until > statement_timestamp() + make_interval(secs => 2 * $1::int)
        """)

    private static let release = end("rebuild_release", "builder = $1")

    private static let take = Statement(
        "rebuild_take",
        """
        UPDATE projection_tables
        SET builder = $2, builder_until = statement_timestamp() + make_interval(secs => $3::int)
        WHERE name = $1 AND state = 'served' AND (builder IS NULL OR builder = $2)
        RETURNING 1
        """)

    private static let renew = Statement(
        "rebuild_renew",
        """
        UPDATE projection_tables
        SET builder_until = statement_timestamp() + make_interval(secs => $3::int)
        WHERE name = $1 AND builder = $2 AND builder_until > statement_timestamp()
        RETURNING 1
        """)

    // Only where the transaction has held the lease since before it lapsed.
    private static let extend = Statement(
        "rebuild_extend",
        """
        UPDATE projection_tables
        SET builder_until = statement_timestamp() + make_interval(secs => $3::int)
        WHERE name = $1 AND builder = $2
        """)

    private static let check = Statement(
        "rebuild_check",
        """
        SELECT ledger_expect(count(*), 1, 'the lease of a rebuild') FROM (
            SELECT FROM projection_tables
            WHERE name = $1 AND builder = $2 AND builder_until > statement_timestamp()
            FOR KEY SHARE) held
        """)

    /// Ends the leases that have lapsed, unless a transaction still writes under them.
    static var endLapsedCall: Call { Call(endLapsed, [.int4(seconds)]) }

    /// Ends the leases of a builder.
    static func release(
        from builder: UInt128, on connection: Connection
    ) throws(PostgresError) {
        _ = try connection.query(release, [.uuid(builder)])
    }

    /// Acquires the lease, or a new term of it; returns false while another builder has it.
    func take(on connection: Connection) throws(PostgresError) -> Bool {
        let results = try connection.pipeline([
            Self.endLapsedCall, Call(Self.take, key + [.int4(Self.seconds)]),
        ])
        return results.last?.rowCount == 1
    }

    /// Extends the lease; returns false when it has ended or lapsed.
    func renew(on connection: Connection) throws(PostgresError) -> Bool {
        try connection.query(Self.renew, key + [.int4(Self.seconds)]).rowCount == 1
    }

    /// Holds the lease until the end of the open transaction.
    ///
    /// - Throws: `.server` with `.dataException` when it has ended or lapsed.
    func hold(on connection: Connection) throws(PostgresError) {
        _ = try connection.query(Self.check, key)
    }

    /// Writes in a transaction that holds the lease.
    ///
    /// On Citus the lock of a row of a reference table keeps out every writer of the table, renewals included. No
    /// process can end the lease then, so a long transaction extends it at its end.
    ///
    /// - Throws: the body's error, or that of ``hold(on:)``, with nothing written.
    func write<Value>(
        on connection: Connection, _ body: () throws(PostgresError) -> Value
    ) throws(PostgresError) -> Value {
        _ = try connection.query(.begin)
        do throws(PostgresError) {
            try hold(on: connection)
            let begun = ContinuousClock.now
            let value = try body()
            if ContinuousClock.now - begun >= Self.renewalInterval,
                try DatabaseEngine(of: connection) == .citus
            {
                _ = try connection.query(Self.extend, key + [.int4(Self.seconds)])
            }
            _ = try connection.query(.commit)
            return value
        } catch {
            connection.rollBack()
            throw error
        }
    }

    private var key: [Parameter] { [.text(projection.rawValue), .uuid(builder)] }
}
