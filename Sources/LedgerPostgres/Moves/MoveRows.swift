import Ledger
import Postgres

/// The name of a database in the marks of tenants that are moved.
enum DatabaseIdentity {
    private static let name = Statement(
        "move_database",
        """
        SELECT system_identifier::text || '/' || current_database() AS name
        FROM pg_control_system()
        """)

    /// Returns the name, which no other database has: that of its cluster and its own.
    static func read(on connection: Connection) throws(PostgresError) -> String {
        let result = try connection.query(name)
        return try result.text(0, result.column("name"))
    }
}

/// The statements of a move beside those of its tables; the writes need the login of the owner.
enum MoveRows {
    private static let size = Statement(
        "move_size", "SELECT next_position FROM ledger_head WHERE tenant_id = $1::text")
    private static let lockHead = Statement(
        "move_lock_head",
        "SELECT next_position FROM ledger_head WHERE tenant_id = $1::text FOR UPDATE")
    private static let pendingErasure = Statement(
        "move_pending_erasure",
        """
        SELECT EXISTS (
            SELECT FROM erasures WHERE tenant_id = $1::text AND destroyed_at IS NULL) AS is_pending
        """)
    private static let mark = Statement(
        "move_mark",
        """
        INSERT INTO tenant_moves AS m (tenant_id, state, peer, run) VALUES ($1::text, $2, $3, $4)
        ON CONFLICT (tenant_id) DO UPDATE SET state = excluded.state, run = excluded.run
            WHERE m.peer = excluded.peer
                AND (m.state = excluded.state OR m.state = 'leaving' AND excluded.state = 'moved')
        RETURNING 1
        """)
    private static let takeOver = Statement(
        "move_take_over",
        """
        UPDATE tenant_moves SET run = $4
        WHERE tenant_id = $1::text AND state = $2 AND peer = $3
        RETURNING 1
        """)
    private static let hold = Statement(
        "move_hold",
        """
        SELECT state FROM tenant_moves WHERE tenant_id = $1::text AND run = $2
        FOR SHARE
        """)
    private static let lockMark = Statement(
        "move_lock_mark",
        "SELECT state, peer, run FROM tenant_moves WHERE tenant_id = $1::text FOR UPDATE")
    private static let unmark = Statement(
        "move_unmark",
        """
        DELETE FROM tenant_moves WHERE tenant_id = $1::text AND state = $2 AND run = $3
        RETURNING 1
        """)
    private static let finish = Statement(
        "move_finish",
        """
        UPDATE tenant_moves SET state = 'moved'
        WHERE tenant_id = $1::text AND state = 'leaving' AND run = $2
        RETURNING 1
        """)
    private static let discarded = Statement(
        "move_discarded",
        """
        UPDATE tenant_moves SET state = 'discarded' WHERE tenant_id = $1::text AND state = 'moved'
        """)
    private static let endDeliveries = Statement(
        "move_end_deliveries",
        """
        UPDATE webhook_cursors SET lease = NULL, expires_at = NULL
        WHERE tenant_id = $1::text AND lease IS NOT NULL
        """)
    private static let endSealing = Statement(
        "move_end_sealing", "DELETE FROM sealer_leases WHERE tenant_id = $1::text")
    private static let endDigests = Statement(
        "move_end_digests", "DELETE FROM former_email_leases WHERE tenant_id = $1::text")
    private static let newTransaction = Statement(
        "move_new_transaction", "SELECT pg_current_xact_id()::text::bigint AS number")
    // A snapshot knows the transactions of all databases: those of others are left out, if they are known.
    private static let hasTransactions = Statement(
        "move_has_transactions",
        """
        SELECT EXISTS (
            SELECT FROM pg_snapshot_xip(pg_current_snapshot()) AS r (number)
            WHERE r.number <= $1::text::xid8
                AND NOT EXISTS (
                    SELECT FROM pg_stat_activity a
                    WHERE a.backend_xid = r.number::xid AND a.datname <> current_database())
                AND NOT EXISTS (
                    SELECT FROM pg_prepared_xacts p
                    WHERE p.transaction = r.number::xid AND p.database <> current_database())
        ) AS has_transactions
        """)

    /// Returns the number of events of a tenant; nil for one that does not exist.
    static func size(
        of tenant: TenantID, on connection: Connection
    ) throws(PostgresError) -> Int64? {
        let result = try connection.query(size, [.text(tenant.description)])
        return result.rowCount == 0 ? nil : try result.int8(0, result.column("next_position"))
    }

    /// Whether data of an erased account are not destroyed yet.
    static func hasPendingErasure(
        _ tenant: TenantID, on connection: Connection
    ) throws(PostgresError) -> Bool {
        let result = try connection.query(pendingErasure, [.text(tenant.description)])
        return try result.bool(0, result.column("is_pending"))
    }

    /// Marks a tenant, or assigns its mark with the same peer to the run; returns false if it has another mark.
    ///
    /// The mark has the same state, or becomes moved after leaving.
    static func mark(
        _ tenant: TenantID, _ state: TenantMove.State, peer: String, run: UInt128,
        on connection: Connection
    ) throws(PostgresError) -> Bool {
        try connection.query(mark, parameters(tenant, state, peer, run)).rowCount == 1
    }

    private static func parameters(
        _ tenant: TenantID, _ state: TenantMove.State, _ peer: String, _ run: UInt128
    ) -> [Parameter] {
        [.text(tenant.description), .text(state.rawValue), .text(peer), .uuid(run)]
    }

    /// Assigns the mark with a state and a peer to a run, which stops earlier runs; returns false without such a mark.
    static func takeOver(
        _ tenant: TenantID, _ state: TenantMove.State, peer: String, run: UInt128,
        on connection: Connection
    ) throws(PostgresError) -> Bool {
        try connection.query(takeOver, parameters(tenant, state, peer, run)).rowCount == 1
    }

    /// Locks a run's mark against changes until the open transaction ends; returns its state, or nil without a mark.
    static func hold(
        _ tenant: TenantID, run: UInt128, on connection: Connection
    ) throws(PostgresError) -> TenantMove.State? {
        let result = try connection.query(hold, [.text(tenant.description), .uuid(run)])
        guard result.rowCount == 1 else { return nil }
        return TenantMove.State(rawValue: try result.text(0, result.column("state")))
    }

    /// Locks the mark of a tenant until the open transaction ends, and returns it.
    static func lock(
        _ tenant: TenantID, on connection: Connection
    ) throws(PostgresError) -> TenantMove? {
        let result = try connection.query(lockMark, [.text(tenant.description)])
        return result.rowCount == 0 ? nil : try TenantMove(result, 0)
    }

    /// Removes the mark with a state and a run; returns false without such a mark.
    static func unmark(
        _ tenant: TenantID, _ state: TenantMove.State, run: UInt128, on connection: Connection
    ) throws(PostgresError) -> Bool {
        try connection.query(
            unmark, [.text(tenant.description), .text(state.rawValue), .uuid(run)]
        ).rowCount == 1
    }

    /// Marks a tenant as leaving or moved under the lock of its head, and ends the leases of its workers.
    ///
    /// - Returns: false if it has another mark.
    static func stop(
        _ tenant: TenantID, _ state: TenantMove.State, peer: String, run: UInt128,
        on connection: Connection
    ) throws -> Bool {
        let name = Parameter.text(tenant.description)
        return try connection.transaction {
            _ = try connection.query(lockHead, [name])
            guard try mark(tenant, state, peer: peer, run: run, on: connection) else {
                return false
            }
            _ = try connection.query(endDeliveries, [name])
            _ = try connection.query(endSealing, [name])
            _ = try connection.query(endDigests, [name])
            return true
        }
    }

    /// Marks a tenant as moved; returns false if its mark is of another run.
    static func finish(
        _ tenant: TenantID, run: UInt128, on connection: Connection
    ) throws(PostgresError) -> Bool {
        try connection.query(finish, [.text(tenant.description), .uuid(run)]).rowCount == 1
    }

    /// Marks a moved tenant as discarded.
    static func markDiscarded(
        _ tenant: TenantID, on connection: Connection
    ) throws(PostgresError) {
        _ = try connection.query(discarded, [.text(tenant.description)])
    }

    /// Returns the number of a new transaction, which has ended by then.
    static func newTransaction(on connection: Connection) throws(PostgresError) -> Int64 {
        let result = try connection.query(newTransaction)
        return try result.int8(0, result.column("number"))
    }

    /// Whether a transaction of the database that has written has a number up to one that has ended, and goes on.
    static func hasTransactions(
        upTo number: Int64, on connection: Connection
    ) throws(PostgresError) -> Bool {
        let result = try connection.query(hasTransactions, [.text("\(number)")])
        return try result.bool(0, result.column("has_transactions"))
    }
}
