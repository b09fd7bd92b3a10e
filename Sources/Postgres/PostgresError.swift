/// Everything that can go wrong between this process and Postgres, by what is known of the outcome.
///
/// No case carries a parameter value or a password.
package enum PostgresError: Error, Sendable, Hashable, CustomStringConvertible {
    /// No connection was made, so nothing was sent.
    case connectionFailed(String)
    /// The connection ended; the outcome of what was in flight is unknown.
    case connectionLost(String)
    /// The server refused; the transaction is certainly not committed.
    ///
    /// Holds for a pipeline as long as its COMMIT is the last call.
    case server(ServerError)
    /// The deadline passed while waiting; the connection is closed and the outcome unknown.
    case timedOut
    /// Something this program did not expect: a wrong type, a null, a text that cannot be sent.
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

    /// The server's code, when it was the server that refused.
    package var state: SQLState? {
        guard case .server(let refusal) = self else { return nil }
        return refusal.state
    }
}
