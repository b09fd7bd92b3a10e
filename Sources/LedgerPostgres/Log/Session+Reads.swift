package import Postgres

extension Session {
    /// Configures a session for reads on behalf of a person who waits; does not connect yet.
    ///
    /// - Parameters:
    ///   - url: The URL of a role that may read the tables.
    ///   - name: The name under which the server lists the connection.
    ///   - seconds: The maximum time of a statement.
    /// - Returns: The session.
    package static func forReads(url: String, named name: String, seconds: Int) -> Session {
        Session(
            url: url, applicationName: "account-ledger \(name)", connectTimeout: .seconds(2),
            // The server ends the statement first, so that its connection stays usable.
            statementDeadline: .seconds(seconds + 1)
        ) { try $0.execute("SET statement_timeout = '\(seconds)s'; SET jit = off") }
    }
}
