import Ledger
import Postgres

/// Why writing a page did not work, by what is to be done about it.
enum WriteFault {
    /// The page itself is refused: some event in it cannot be folded into this table.
    case ofThePage(String)
    /// The database has no time, room or right for anybody: worth trying again later.
    case ofTheDatabase(PostgresError)

    init(_ error: PostgresError) {
        switch error {
        case .connectionFailed, .connectionLost, .timedOut:
            self = .ofTheDatabase(error)
        case .unexpectedResult(let reason):
            self = .ofThePage("unexpected result: \(reason)")
        case .server(let refusal):
            // Data exceptions, broken constraints and their like; the message itself may quote a
            // value.
            if ["21", "22", "23", "54", "P0"].contains(refusal.state.conditionClass) {
                let place = refusal.constraint.map { " (\($0))" } ?? ""
                self = .ofThePage("the table does not take it: \(refusal.state)\(place)")
            } else {
                self = .ofTheDatabase(error)
            }
        }
    }
}
