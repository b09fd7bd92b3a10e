/// What changed about an account between two moments of the log.
///
/// A link that was taken away and made again in between is both removed and added; a session that was
/// opened and ended in between is only among the events.
package struct AccountDifference: Hashable, Sendable {
    package let from: ReplayedAccount
    package let to: ReplayedAccount

    /// Compares an account with itself at a later moment.
    ///
    /// - Precondition: it is the same account.
    package init(from: ReplayedAccount, to: ReplayedAccount) {
        precondition(from.id == to.id, "an account differs from itself only")
        self.from = from
        self.to = to
    }

    /// The links that were made, in linking order.
    package var addedLinks: [Account.Link] { Self.surplus(in: to.links, over: from.links) }

    /// The links that were taken away, in linking order.
    package var removedLinks: [Account.Link] { Self.surplus(in: from.links, over: to.links) }

    /// The sessions that were opened and still live, in the order of their opening.
    package var openedSessions: [Session] { Self.surplus(in: to.sessions, over: from.sessions) }

    /// The sessions that lived and were ended, in the order of their opening.
    package var endedSessions: [Session] { Self.surplus(in: from.sessions, over: to.sessions) }

    private static func surplus<Element: Hashable>(
        in elements: [Element], over others: [Element]
    ) -> [Element] {
        let others = Set(others)
        return elements.filter { !others.contains($0) }
    }
}
