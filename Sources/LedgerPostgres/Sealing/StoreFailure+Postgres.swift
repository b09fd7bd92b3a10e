import LedgerEngine
import Postgres

extension StoreFailure {
    /// Classifies an error; returns nil for one that does not come from the database.
    init?(_ error: any Error) {
        guard let error = error as? PostgresError else { return nil }
        let what = error.description
        switch error {
        case .connectionFailed, .connectionLost, .timedOut:
            self = .unavailable
        case .unexpectedResult:
            self = .permanent(what)
        case .server(let refusal):
            self =
                switch refusal.state.rawValue {
                // The server is stopping, starting or a standby, or the session was terminated.
                case "57P01", "57P02", "57P03", "57P04", "57P05", "25006", "25P03": .unavailable
                case "55P03", "57014": .temporary(what)
                default:
                    switch refusal.state.conditionClass {
                    case "08": .unavailable
                    case "40", "53": .temporary(what)
                    default: .permanent(what)
                    }
                }
        }
    }
}
