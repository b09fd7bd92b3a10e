/// A failure between this process and Postgres, classified by the certainty of the outcome.
///
/// No case carries a parameter value or a password.
package enum PostgresError: Error, Sendable, Hashable, CustomStringConvertible {
    /// No connection was established, so nothing was sent.
    case connectionFailed(String)
    /// The connection ended; the outcome of calls in flight is unknown.
    case connectionLost(String)
    /// The server refused; the transaction is certainly not committed.
    ///
    /// Holds for a pipeline if its COMMIT is the last call.
    case server(ServerError)
    /// The deadline passed while waiting; the connection is closed and the outcome unknown.
    case timedOut
    /// An unexpected value: a wrong type, a null, a text that cannot be sent.
    case unexpectedResult(String)

    /// One line for logs, without values.
    package var description: String {
        switch self {
        case .connectionFailed(let reason): "connection failed: \(reason)"
        case .connectionLost(let reason): "connection lost: \(reason)"
        case .server(let refusal): refusal.description
        case .timedOut: "no answer from Postgres within the deadline"
        case .unexpectedResult(let reason): "unexpected result: \(reason)"
        }
    }

    /// The server's code, if the server refused.
    package var state: SQLState? {
        guard case .server(let refusal) = self else { return nil }
        return refusal.state
    }
}
