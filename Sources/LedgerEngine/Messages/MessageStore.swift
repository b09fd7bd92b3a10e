package import Ledger
package import LedgerMessages

/// A dispatcher's outbox: in Postgres.
///
/// Any error means that the store cannot be reached, and that the outcome of a write is unknown.
package protocol MessageStore: Sendable {
    /// Leases due messages of a channel: every tenant gets a share, those with the fewest attempts under way first.
    ///
    /// - Parameters:
    ///   - channel: the channel.
    ///   - limit: the maximum number of messages.
    ///   - busy: the number of attempts of each tenant that are under way.
    /// - Returns: the leased messages.
    /// - Throws: any error of a store that cannot be reached.
    func take(
        _ channel: MessageChannel, atMost limit: Int, besides busy: [TenantID: Int]
    ) async throws -> [LeasedMessage]

    /// Checks under the lease that a message may still be sent, counts the attempt and renews the lease.
    func begin(_ message: LeasedMessage) async throws -> MessageCheck

    /// Records the end of an attempt.
    ///
    /// The content is destroyed with the final outcome. An acceptance is recorded even if the lease was lost,
    /// so that no other process sends the message again.
    func end(_ message: LeasedMessage, _ end: AttemptEnd) async throws

    /// Ends expired messages of all tenants and destroys their content; returns their numbers.
    func expire() async throws -> [MessageChannel: Int]

    /// Returns the unsent messages of all tenants, without waiting for the other calls.
    func backlog() async throws -> [MessageBacklog]

    /// Releases the store's resources; it is not used again.
    func close() async
}

/// The kind of the token of a dispatcher's lease.
package enum MessageLease {}

/// A message that a dispatcher has leased.
package struct LeasedMessage: Hashable, Sendable {
    package let tenant: TenantID
    package let id: MessageID
    /// The token of the lease, which every write requires.
    package let lease: EntityID<MessageLease>

    /// Creates the lease of a message.
    package init(tenant: TenantID, id: MessageID, lease: EntityID<MessageLease>) {
        self.tenant = tenant
        self.id = id
        self.lease = lease
    }
}

/// The state of a leased message immediately before it is sent.
package enum MessageCheck: Hashable, Sendable {
    /// It may be sent.
    case ready(OpenedMessage, MessageChannel, MessageLanguage, attempts: Int)
    /// It has ended or expired, or its account was erased, or another process holds it.
    case gone
    /// No key of this process decrypts it.
    case unreadable(attempts: Int)
}

/// The end of an attempt.
package enum AttemptEnd: Hashable, Sendable {
    case sent(code: Int?)
    case failed(code: Int?, MessageFailure? = nil)
    /// It is due again after some microseconds.
    case again(after: Int64, code: Int?, MessageFailure)
}

/// The unsent messages of a channel.
package struct MessageBacklog: Hashable, Sendable {
    package let channel: MessageChannel
    package let count: Int64
    /// The age of the oldest one.
    package let oldestSeconds: Double

    /// Describes the unsent messages of a channel.
    package init(channel: MessageChannel, count: Int64, oldestSeconds: Double) {
        self.channel = channel
        self.count = count
        self.oldestSeconds = oldestSeconds
    }
}
