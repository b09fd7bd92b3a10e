import Ledger
import LedgerEngine
import Postgres

/// The limits of one transaction of an erasure.
package struct ErasureLimits: Sendable {
    /// The maximum number of the account's events.
    package var events: Int64 = 1_000
    /// The maximum number of log positions to search.
    package var positions: Int64 = 5_000
    /// The maximum number of erasures to read at a time.
    package var erasures = 1_000
    /// The seconds that the read model may be behind before the log is searched instead.
    package var patienceSeconds: Int64 = 60

    /// Creates the default limits.
    package init() {}
}

/// The destruction of one erased account's remaining data, a bounded part in each transaction.
///
/// `account_audit` lists the account's events. If it cannot, because it has stopped or has a gap,
/// the log is searched. Once the disclosures are deleted, the tables of the read models follow.
struct ErasureWork {
    /// The outcome of a transaction.
    enum Outcome: Sendable {
        /// Nothing is left, or another process is working on it.
        case ended
        /// More work remains.
        case partly
        /// The read model has not folded the account's events yet.
        case waits
    }

    let tenant: TenantID
    let account: AccountID
    var limits = ErasureLimits()

    private struct Progress {
        let position: Int64
        let nextSequence: Int64
        let destroyedSequence: Int64
        let searchedPosition: Int64
        let isOld: Bool

        /// Whether no disclosures and no secrets of sessions are left.
        var isDestroyed: Bool {
            destroyedSequence >= nextSequence || searchedPosition > position
        }
    }

    /// The outcome of a transaction, or the progress before the last step.
    private enum Part {
        case outcome(Outcome)
        case destroyed(Progress)
    }

    /// An event of the account, with the session that it opened, if any.
    private struct AccountEvent {
        let position: Int64
        let session: UInt128?
    }

    private static let lock = Statement(
        "erasure_lock",
        """
        SELECT position, next_seq, destroyed_seq, searched_position,
            erased_at < statement_timestamp() - make_interval(secs => $3::bigint) AS is_old
        FROM erasures WHERE tenant_id = $1 AND account_id = $2 AND destroyed_at IS NULL
        FOR UPDATE SKIP LOCKED
        """)

    private static func nextEvents(_ audit: ProjectionTable) -> Statement {
        Statement(
            "\(audit)_erasure",
            """
            SELECT account_seq, position, session_id FROM \(audit)
            WHERE tenant_id = $1 AND account_id = $2 AND account_seq >= $3
            ORDER BY account_seq LIMIT $4
            """)
    }

    private static let searched = Statement(
        "erasure_searched",
        """
        SELECT position, entry FROM events
        WHERE tenant_id = $1 AND position >= $2 AND position < $3 AND account_id = $4
        ORDER BY position
        """)

    private static let destroy = Statement(
        "erasure_destroy", "SELECT ledger_destroy_disclosures($1::text, $2::uuid, $3::bigint[])")

    private static let forgetTokens = Statement(
        "erasure_forget_tokens",
        """
        UPDATE sessions s
        SET refresh_current = decode(repeat('00', 32), 'hex'), refresh_preceding = NULL,
            refresh_sealed_successor = NULL, refresh_exchanged_at = NULL
        FROM unnest($3::uuid[]) AS k (session_id)
        CROSS JOIN LATERAL (
            SELECT ctid FROM sessions
            WHERE tenant_id = $1 AND session_id = k.session_id AND account_id = $2
            OFFSET 0) place
        WHERE s.tenant_id = $1 AND s.ctid = place.ctid
        """)

    private static let note = Statement(
        "erasure_note",
        """
        UPDATE erasures SET destroyed_seq = $3, searched_position = $4
        WHERE tenant_id = $1 AND account_id = $2
        """)

    private static let end = Statement(
        "erasure_end",
        """
        UPDATE erasures SET destroyed_at = statement_timestamp()
        WHERE tenant_id = $1 AND account_id = $2 AND destroyed_at IS NULL
        """)

    /// Executes one part in a transaction of its own; the read models, in one transaction per
    /// statement.
    ///
    /// The read models come last. Two processes may do this concurrently without harm.
    func step(on connection: Connection) throws -> Outcome {
        let part = try connection.transaction { try work(on: connection) }
        switch part {
        case .outcome(let outcome): return outcome
        case .destroyed(let progress):
            let readModels = ReadModelErasure(tenant: tenant, account: account, limits: limits)
            let isDone = try readModels.run(
                position: progress.position, sequences: progress.nextSequence,
                isPatient: !progress.isOld, on: connection)
            guard isDone else { return .waits }
            _ = try connection.query(Self.end, key)
            return .ended
        }
    }

    private func work(on connection: Connection) throws -> Part {
        guard let progress = try lock(on: connection) else { return .outcome(.ended) }
        guard !progress.isDestroyed else { return .destroyed(progress) }
        let audit = try ProjectionTables.served(.accountAudit, on: connection)
        let checkpoint = try Checkpoints.checkpoint(
            connection.pipeline([Checkpoints.call(of: audit, in: tenant)])[0], of: audit)
        let isFolded = checkpoint.map { $0.position.value > progress.position } ?? false
        let hasStopped = checkpoint.map { $0.failure != nil } ?? true
        guard isFolded || hasStopped || progress.isOld else { return .outcome(.waits) }
        if isFolded, let events = try nextEvents(in: audit, progress, on: connection) {
            try destroy(
                events, sequence: progress.destroyedSequence + Int64(events.count),
                searched: progress.searchedPosition, on: connection)
        } else {
            let end = min(progress.searchedPosition + limits.positions, progress.position + 1)
            try destroy(
                try searched(progress.searchedPosition..<end, on: connection),
                sequence: progress.destroyedSequence, searched: end, on: connection)
        }
        return .outcome(.partly)
    }

    private func lock(on connection: Connection) throws -> Progress? {
        let row = try connection.query(Self.lock, key + [.int8(limits.patienceSeconds)])
        guard row.rowCount == 1 else { return nil }
        return Progress(
            position: try row.int8(0, row.column("position")),
            nextSequence: try row.int8(0, row.column("next_seq")),
            destroyedSequence: try row.int8(0, row.column("destroyed_seq")),
            searchedPosition: try row.int8(0, row.column("searched_position")),
            isOld: try row.bool(0, row.column("is_old")))
    }

    /// Returns the account's next events from the read model; nil if one is missing.
    private func nextEvents(
        in audit: ProjectionTable, _ progress: Progress, on connection: Connection
    ) throws -> [AccountEvent]? {
        let rows = try connection.query(
            Self.nextEvents(audit), key + [.int8(progress.destroyedSequence), .int8(limits.events)])
        var events: [AccountEvent] = []
        for row in 0..<rows.rowCount {
            guard
                try rows.int8(row, rows.column("account_seq")) == progress.destroyedSequence
                    + Int64(row)
            else {
                return nil
            }
            events.append(
                AccountEvent(
                    position: try rows.int8(row, rows.column("position")),
                    session: try rows.optionalUUID(row, rows.column("session_id"))))
        }
        let isWhole = progress.destroyedSequence + Int64(events.count) >= progress.nextSequence
        return isWhole || events.count == limits.events ? events : nil
    }

    private func searched(
        _ positions: Range<Int64>, on connection: Connection
    ) throws -> [AccountEvent] {
        let rows = try connection.query(
            Self.searched,
            [
                .text(tenant.description), .int8(positions.lowerBound),
                .int8(positions.upperBound), .uuid(account.bits),
            ])
        return try (0..<rows.rowCount).map { row in
            // An unreadable entry is for verify to report; its disclosures are deleted all the
            // same.
            let recorded = try? EntryEncoding.decode(try rows.bytes(row, rows.column("entry")))
            var session: UInt128?
            if case .signedIn(let fact) = recorded?.event { session = fact.session.bits }
            return AccountEvent(
                position: try rows.int8(row, rows.column("position")), session: session)
        }
    }

    private func destroy(
        _ events: [AccountEvent], sequence: Int64, searched: Int64, on connection: Connection
    ) throws {
        _ = try connection.pipeline([
            Call(Self.destroy, key + [.int8s(events.map(\.position))]),
            Call(Self.forgetTokens, key + [.uuids(events.compactMap(\.session))]),
            Call(Self.note, key + [.int8(sequence), .int8(searched)]),
        ])
    }

    private var key: [Parameter] { [.text(tenant.description), .uuid(account.bits)] }
}
