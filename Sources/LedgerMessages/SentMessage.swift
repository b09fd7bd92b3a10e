package import Ledger

/// A message as support sees it, without its recipient and its content.
package struct SentMessage: Hashable, Sendable {
    /// The outcome of a message, so far.
    package enum State: String, Hashable, Sendable, CaseIterable {
        /// It waits, or is being sent.
        case pending
        /// The mail server or the service has taken it over.
        case sent
        /// It was refused for good.
        case failed
        /// It was not sent in time.
        case expired
        /// Its cause ended before it was sent.
        case withdrawn
    }

    package let id: MessageID
    package let account: AccountID?
    package let channel: String
    package let template: String
    package let language: String
    package let state: State
    package let createdAt: Timestamp
    package let expiresAt: Timestamp
    package let endedAt: Timestamp?
    package let attempts: Int
    /// The code of the last answer.
    package let responseCode: Int?
    /// Why the last attempt had no answer, or none that is final.
    package let fault: String?

    /// Describes a message.
    package init(
        id: MessageID, account: AccountID?, channel: String, template: String, language: String,
        state: State, createdAt: Timestamp, expiresAt: Timestamp, endedAt: Timestamp?,
        attempts: Int, responseCode: Int?, fault: String?
    ) {
        self.id = id
        self.account = account
        self.channel = channel
        self.template = template
        self.language = language
        self.state = state
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.endedAt = endedAt
        self.attempts = attempts
        self.responseCode = responseCode
        self.fault = fault
    }
}

/// The filters of a read of messages.
package struct MessageQuery: Hashable, Sendable {
    /// The last message that was examined; nil to start at the beginning.
    package var after: MessageID?
    package var account: AccountID?
    package var state: SentMessage.State?
    /// The maximum number of messages.
    package var limit: Int

    /// Selects all of them.
    package init(limit: Int) {
        self.limit = limit
    }
}

/// A page of messages, in the order of their creation.
package struct MessagePage: Sendable {
    package let messages: [SentMessage]
    /// The last message that was examined, on the page or not.
    package let next: MessageID?
    /// Whether more followed it.
    package let hasMore: Bool

    /// Collects a page.
    package init(messages: [SentMessage], next: MessageID?, hasMore: Bool) {
        self.messages = messages
        self.next = next
        self.hasMore = hasMore
    }
}

/// Reads of the outbox for support.
package protocol MessageReader: Sendable {
    /// Returns the next messages; a page may hold few or none and yet not be the last.
    func messages(
        matching query: MessageQuery, in tenant: TenantID
    ) async throws(LedgerFault) -> MessagePage
}
