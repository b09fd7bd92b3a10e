import Postgres

/// What it means for a sealer that the database did not do what it was asked for one log.
enum StoreTrouble: Hashable, Sendable {
    /// The connection is gone or will be: no log can be looked at.
    case away
    /// It may well work next time: a lock or a timeout, memory or disk that ran out.
    case passing(String)
    /// It will fail again: what is stored for this log can't be read, or a write is refused.
    case lasting(String)

    /// Judges an error; nil for one that does not come from the database.
    init?(_ error: any Error) {
        guard let error = error as? PostgresError else { return nil }
        let what = error.description
        switch error {
        case .connectionFailed, .connectionLost, .timedOut:
            self = .away
        case .unexpectedResult:
            self = .lasting(what)
        case .server(let refusal):
            self =
                switch refusal.state.rawValue {
                // The server stops, starts or follows another one, or the session was ended.
                case "57P01", "57P02", "57P03", "57P04", "57P05", "25006", "25P03": .away
                case "55P03", "57014": .passing(what)
                default:
                    switch refusal.state.conditionClass {
                    case "08": .away
                    case "40", "53": .passing(what)
                    default: .lasting(what)
                    }
                }
        }
    }
}
