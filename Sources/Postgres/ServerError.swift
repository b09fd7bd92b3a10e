/// What the server said when it refused a statement.
///
/// Carries the primary message only: DETAIL and CONTEXT quote the values of rows, and are never
/// read. Messages of class 22 (malformed values) are cut before the value that they quote.
package struct ServerError: Sendable, Hashable, CustomStringConvertible {
    /// The condition's code.
    package let state: SQLState
    /// The severity in English, `ERROR` as a rule; `FATAL` and `PANIC` never arrive here.
    package let severity: String
    /// The primary message, in the language of the server.
    package let message: String
    /// The constraint that was violated, when there is one.
    package let constraint: String?
    /// The table that the condition is about, when the server names one.
    package let table: String?
    /// Which call of a pipeline failed, or nil when the failure came at its end or outside of one.
    package let callIndex: Int?

    /// States what a server said; messages are kept as they are given here.
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
