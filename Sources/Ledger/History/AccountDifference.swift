/// The changes of an account between two moments of the log.
///
/// A link that was removed and made again in between is both removed and added; a session that was
/// opened and ended in between appears only in the events.
package struct AccountDifference: Hashable, Sendable {
    package let from: ReplayedAccount
    package let to: ReplayedAccount

    /// Compares two states of the same account.
    ///
    /// - Precondition: both are of the same account.
    package init(from: ReplayedAccount, to: ReplayedAccount) {
        precondition(from.id == to.id, "only states of one account can be compared")
        self.from = from
        self.to = to
    }

    /// The links that were added, in linking order.
    package var addedLinks: [Account.Link] { Self.surplus(in: to.links, over: from.links) }

    /// The links that were removed, in linking order.
    package var removedLinks: [Account.Link] { Self.surplus(in: from.links, over: to.links) }

    /// The sessions that were opened and are still live, in the order of their opening.
    package var openedSessions: [Session] { Self.surplus(in: to, over: from) }

    /// The sessions that were live and were ended, in the order of their opening.
    package var endedSessions: [Session] { Self.surplus(in: from, over: to) }

    // By id, because an upgrade from an anonymous identity changes a live session.
    private static func surplus(
        in account: ReplayedAccount, over other: ReplayedAccount
    ) -> [Session] {
        let others = Set(other.sessions.map(\.id))
        return account.sessions.filter { !others.contains($0.id) }
    }

    private static func surplus<Element: Hashable>(
        in elements: [Element], over others: [Element]
    ) -> [Element] {
        let others = Set(others)
        return elements.filter { !others.contains($0) }
    }
}
