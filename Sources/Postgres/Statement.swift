/// A named SQL statement, prepared on each connection at its first use.
package struct Statement: Sendable, Hashable {
    /// The name, unique on a connection for its text.
    package let name: String
    /// The SQL text with numbered placeholders.
    package let sql: String

    /// Creates a named statement.
    package init(_ name: String, _ sql: String) {
        self.name = name
        self.sql = sql
    }

    /// Opens a transaction at the server's default isolation level.
    package static let begin = Statement("begin", "BEGIN")
    /// Commits; a connection throws if the server answers with a rollback.
    package static let commit = Statement("commit", "COMMIT")
    /// Rolls back; allowed without an open transaction.
    package static let rollback = Statement("rollback", "ROLLBACK")
}

/// A statement together with the parameters of one execution.
package struct Call: Sendable {
    /// The statement to execute.
    package let statement: Statement
    /// The values of the placeholders in order.
    package let parameters: [Parameter]

    /// Pairs a statement with its parameters.
    package init(_ statement: Statement, _ parameters: [Parameter] = []) {
        self.statement = statement
        self.parameters = parameters
    }
}
