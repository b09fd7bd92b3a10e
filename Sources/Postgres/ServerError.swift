/// A server's report on a statement that it refused.
///
/// Contains the primary message only: DETAIL and CONTEXT quote the values of rows and are never
/// read. Messages of class 22 (malformed values) are cut before the quoted value.
package struct ServerError: Sendable, Hashable, CustomStringConvertible {
    /// The condition's code.
    package let state: SQLState
    /// The severity in English, usually `ERROR`; `FATAL` and `PANIC` end the connection instead.
    package let severity: String
    /// The primary message, in the language of the server.
    package let message: String
    /// The constraint that was violated, if any.
    package let constraint: String?
    /// The table concerned, if the server names one.
    package let table: String?
    /// The index of the failed call in a pipeline; nil for a failure at its end or outside one.
    package let callIndex: Int?

    /// Creates an error; messages are kept as given.
    package init(
        state: SQLState, severity: String, message: String, constraint: String? = nil,
        table: String? = nil, callIndex: Int? = nil
    ) {
        self.state = state
        self.severity = severity
        self.message = message
        self.constraint = constraint
        self.table = table
        self.callIndex = callIndex
    }

    /// The code and the primary message.
    package var description: String { "\(severity) \(state): \(message)" }

    /// Cuts a message of class 22 before its first quotation mark; other messages stay whole.
    static func withoutValue(_ message: String, state: SQLState) -> String {
        guard state.conditionClass == "22" else { return message }
        return String(message.prefix { $0 != "\"" })
    }
}
