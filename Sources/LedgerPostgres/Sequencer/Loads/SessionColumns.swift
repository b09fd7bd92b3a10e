package import Ledger
import LedgerEngine
package import Postgres

/// The columns of a session in a statement where it has an alias, by their names.
package struct SessionColumns: Sendable {
    private let session, account, identity, authenticatedAt, openedAt, openedPosition: Int
    private let endedPosition, current, preceding, sealedSuccessor, exchangedAt: Int
    private let generation, expiresAt, methods: Int

    /// Returns the columns for the list of the statement.
    package static func selected(_ s: String) -> SelectList {
        [
            "\(s).session_id", "\(s).account_id", "\(s).identity_id", "\(s).authenticated_at",
            "\(s).opened_at", "\(s).opened_position", "\(s).ended_position", "\(s).refresh_current",
            "\(s).refresh_preceding", "\(s).refresh_sealed_successor",
            "\(s).refresh_exchanged_at", "\(s).refresh_generation", "\(s).expires_at",
            "\(s).methods",
        ]
    }

    /// Finds the columns of an alias in the list of a statement.
    package init(_ s: String, in list: SelectList) {
        session = list["\(s).session_id"]
        account = list["\(s).account_id"]
        identity = list["\(s).identity_id"]
        authenticatedAt = list["\(s).authenticated_at"]
        openedAt = list["\(s).opened_at"]
        openedPosition = list["\(s).opened_position"]
        endedPosition = list["\(s).ended_position"]
        current = list["\(s).refresh_current"]
        preceding = list["\(s).refresh_preceding"]
        sealedSuccessor = list["\(s).refresh_sealed_successor"]
        exchangedAt = list["\(s).refresh_exchanged_at"]
        generation = list["\(s).refresh_generation"]
        expiresAt = list["\(s).expires_at"]
        methods = list["\(s).methods"]
    }

    /// Reads the id.
    func id(_ result: QueryResult, _ row: Int) throws(PostgresError) -> SessionID {
        SessionID(bits: try result.uuid(row, session))
    }

    /// Reads the account's id.
    func accountID(_ result: QueryResult, _ row: Int) throws(PostgresError) -> AccountID {
        AccountID(bits: try result.uuid(row, account))
    }

    /// Reads the session.
    package func read(
        _ result: QueryResult, _ row: Int
    ) throws -> (Ledger.Session, RefreshTokenState) {
        guard let methods = AuthenticationMethods(try result.text(row, methods)) else {
            throw BatchFault.damaged("sessions.methods")
        }
        let session = Ledger.Session(
            id: try id(result, row),
            account: try accountID(result, row),
            identity: IdentityID(bits: try result.uuid(row, identity)),
            authenticatedAt: Timestamp(microseconds: try result.timestamp(row, authenticatedAt)),
            methods: methods,
            openedAt: Timestamp(microseconds: try result.timestamp(row, openedAt)),
            openedPosition: LogPosition(try result.count(row, openedPosition)),
            endedPosition: try result.optionalInt8(row, endedPosition).map(LogPosition.init))
        let token = RefreshTokenState(
            current: try result.digest(row, current), preceding: try preceding(result, row),
            generation: try result.int4(row, generation),
            expiresAt: Timestamp(microseconds: try result.timestamp(row, expiresAt)))
        return (session, token)
    }

    private func preceding(
        _ result: QueryResult, _ row: Int
    ) throws -> RefreshTokenState.Preceding? {
        let sealed = try result.optionalBytes(row, sealedSuccessor)
        let exchanged = try result.optionalTimestamp(row, exchangedAt)
        guard let sealed, let exchanged else {
            guard sealed == nil, exchanged == nil, try result.isNull(row, preceding) else {
                throw BatchFault.damaged("sessions.refresh_preceding")
            }
            return nil
        }
        return RefreshTokenState.Preceding(
            digest: try result.digest(row, preceding), sealedSuccessor: sealed,
            exchangedAt: Timestamp(microseconds: exchanged))
    }
}
