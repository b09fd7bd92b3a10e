/// A SQL statement with a name, prepared once on each connection when it is first used.
package struct Statement: Sendable, Hashable {
    /// Names the statement; one name stands for one text on a connection.
    package let name: String
    /// The text, with numbered placeholders for its parameters.
    package let sql: String

    /// Names a statement.
    package init(_ name: String, _ sql: String) {
        self.name = name
        self.sql = sql
    }

    /// Opens a transaction at the server's default isolation level.
    package static let begin = Statement("begin", "BEGIN")
    /// Commits; a connection throws when the server answers it with a rollback.
    package static let commit = Statement("commit", "COMMIT")
    /// Rolls back; allowed where no transaction is open.
    package static let rollback = Statement("rollback", "ROLLBACK")
}

/// A statement together with the parameters of one execution.
package struct Call: Sendable {
    /// What is executed.
    package let statement: Statement
    /// The values of the placeholders, from the first on.
    package let parameters: [Parameter]

    /// Pairs a statement with its parameters.
    package init(_ statement: Statement, _ parameters: [Parameter] = []) {
        self.statement = statement
        self.parameters = parameters
    }
}
