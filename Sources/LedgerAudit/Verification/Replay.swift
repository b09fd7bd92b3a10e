package import Ledger
package import LedgerEngine
import LedgerPostgres
import Postgres

/// Reads the history of an account, or a range of positions, from the log.
///
/// Works in one snapshot, emits events one by one in order, and checks them: damage is collected in the
/// summary and does not end the replay.
package struct Replay: Sendable {
    private static let begin = Statement(
        "replay_begin", "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")

    private let session: Postgres.Session
    private let disclosures: DisclosureReader?
    private let macs: MACKeys?

    /// Creates a replay.
    ///
    /// - Parameters:
    ///   - url: the URL of a role that may read `events`, `accounts`, `account_audit`, and for disclosures
    ///     also `disclosures` and `account_keys`.
    ///   - keyring: unwraps the keys of accounts; nil when nothing is to be disclosed.
    ///   - macs: authenticate events; by default those of the keyring.
    package init(url: String, keyring: WrappingKeyring?, macs: MACKeys? = nil) {
        disclosures = keyring.map { DisclosureReader(keyring: $0) }
        self.macs = macs ?? keyring?.macs
        session = Postgres.Session(
            url: url, applicationName: "account-ledger replay", statementDeadline: .seconds(600)
        ) { try $0.execute("SET jit = off; SET idle_in_transaction_session_timeout = '600s'") }
    }

    /// Emits the events from one position to another, both included.
    ///
    /// `emit` is called on the connection's thread; an error it throws ends the replay.
    /// - Throws: `PostgresError` when the database fails, or the error of `emit`.
    package func range(
        from first: LogPosition, through last: LogPosition, in tenant: TenantID,
        emit: @escaping @Sendable (ReplayedEvent) throws -> Void
    ) async throws -> ReplaySummary {
        try await session.run { connection in
            try connection.transaction(Self.begin) {
                var reading = ReplayReading(
                    tenant: tenant, disclosures: self.disclosures,
                    protection: try LogProtection.read(
                        of: tenant, checkingWith: self.macs, on: connection), emit: emit)
                try reading.scan(
                    after: max(0, first.value) - 1, through: last.value, on: connection)
                return reading.summary
            }
        }
    }

    /// Emits every event that touches an account, in the order of its sequence.
    ///
    /// The positions come from `account_audit`; where that has a gap, and after its last, from the log
    /// itself. Nothing is disclosed of an event that begins with another account. `emit` is called on the
    /// connection's thread; an error it throws ends the replay.
    /// - Returns: nil when the account is not named anywhere.
    /// - Throws: `PostgresError` when the database fails, or the error of `emit`.
    package func account(
        _ account: AccountID, in tenant: TenantID,
        emit: @escaping @Sendable (ReplayedEvent) throws -> Void
    ) async throws -> ReplaySummary? {
        try await session.run { connection in
            try connection.transaction(Self.begin) {
                var reading = ReplayReading(
                    tenant: tenant, disclosures: self.disclosures,
                    protection: try LogProtection.read(
                        of: tenant, checkingWith: self.macs, on: connection), emit: emit)
                let isKnown = try reading.history(of: account, on: connection)
                return isKnown ? reading.summary : nil
            }
        }
    }

    /// Closes the connection.
    package func close() async {
        await session.close()
    }
}
