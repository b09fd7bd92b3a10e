/// The reasons why a command or a read could not be executed, none of them caused by the caller.
package enum LedgerFault: Error, Hashable, Sendable {
    /// The queue is full, or the command waited too long in it; nothing was changed.
    case overloaded
    /// The database is unavailable or slow; whether the command was executed is unknown.
    case unavailable
    /// This process is configured with other rules than those that the tenant has recorded; nothing was
    /// changed.
    case rulesDiffer
    /// The tenant is served by another database, or is being moved to one; nothing was changed.
    case tenantMoved
    /// An internal error; the server's log has the details.
    case internalFailure
}
