import Ledger
import Postgres

/// Why writing a page failed, by how the failure is handled.
enum WriteFault {
    /// The page is refused: one of its events cannot be folded into this table.
    case pageRefused(String)
    /// The database is unavailable, busy or denies access: the write is retried later.
    case databaseFailed(PostgresError)

    init(_ error: PostgresError) {
        switch error {
        case .connectionFailed, .connectionLost, .timedOut:
            self = .databaseFailed(error)
        case .unexpectedResult(let reason):
            self = .pageRefused("unexpected result: \(reason)")
        case .server(let refusal):
            // Data exceptions, violated constraints and the like; the message itself may quote a value.
            if ["21", "22", "23", "54", "P0"].contains(refusal.state.conditionClass) {
                let constraint = refusal.constraint.map { " (\($0))" } ?? ""
                self = .pageRefused("the table rejects the rows: \(refusal.state)\(constraint)")
            } else {
                self = .databaseFailed(error)
            }
        }
    }
}
