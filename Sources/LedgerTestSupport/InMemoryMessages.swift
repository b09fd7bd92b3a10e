package import Ledger
package import LedgerMessages

/// Messages in memory, the same for every tenant.
package struct InMemoryMessages: MessageReader {
    private let all: [SentMessage]

    /// Keeps messages.
    package init(_ all: [SentMessage] = []) {
        self.all = all.sorted { $0.id < $1.id }
    }

    /// Returns the next messages, in the order of their ids.
    package func messages(
        matching query: MessageQuery, in tenant: TenantID
    ) async throws(LedgerFault) -> MessagePage {
        let found = all.filter { message in
            query.after.map { message.id > $0 } ?? true
                && query.account.map { message.account == $0 } ?? true
                && query.state.map { message.state == $0 } ?? true
        }
        let shown = Array(found.prefix(query.limit))
        return MessagePage(
            messages: shown, next: shown.last?.id ?? query.after,
            hasMore: found.count > shown.count)
    }
}
