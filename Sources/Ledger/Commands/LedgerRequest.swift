/// A command, or the preview of one, with the result that it alone can have.
///
/// The queue carries commands and replies of all kinds; its caller submits a request and gets the
/// request's own result.
package protocol LedgerRequest: Sendable {
    associatedtype Success

    /// The command as the queue takes it.
    var intent: Command.Intent { get }

    /// Returns the result in the reply to the command; nil in a reply to another one.
    static func success(in reply: Reply) -> Success?
}

/// A merge, the undoing of one, or a relink that was executed as planned.
package struct Executed<Plan: Hashable & Sendable>: Hashable, Sendable {
    package let plan: Plan
    /// The event that executed it.
    package let event: EventID

    init?(_ plan: Plan, _ event: EventID?) {
        guard let event else { return nil }
        self.plan = plan
        self.event = event
    }
}
