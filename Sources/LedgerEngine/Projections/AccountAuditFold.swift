package import Ledger

/// The rows that a page of events adds to `account_audit`.
package struct AccountAuditFold {
    /// One linked identity; its name is unknown where only the providers' names were loaded.
    package struct Link: Hashable, Sendable {
        package let identity: IdentityID?
        package let provider: String

        /// Creates a linked identity.
        package init(identity: IdentityID?, provider: String) {
            self.identity = identity
            self.provider = provider
        }
    }

    /// The state of an account's history before the next event.
    package struct HistoryState: Hashable, Sendable {
        /// The `account_seq` that the account's next row must have.
        package var nextSequence: Int64 = 0
        /// The links in linking order; see ``Link/identity``.
        package private(set) var links: [Link] = []
        /// The linked providers in linking order, each named once.
        package private(set) var providers: [String] = []

        /// An account without rows.
        package init() {}

        /// An account with rows.
        package init(nextSequence: Int64, links: [Link]) {
            self.nextSequence = nextSequence
            self.links = links
            nameProviders()
        }

        mutating func add(_ link: Link) {
            links.append(link)
            if !providers.contains(link.provider) { providers.append(link.provider) }
        }

        /// Removes a link; returns false when there is no such link.
        mutating func remove(_ identity: IdentityID) -> Bool {
            guard let index = links.firstIndex(where: { $0.identity == identity }) else {
                return false
            }
            links.remove(at: index)
            nameProviders()
            return true
        }

        /// Removes every link.
        mutating func removeAll() {
            links = []
            providers = []
        }

        /// Replaces all links.
        mutating func set(_ others: [Account.Link]) {
            links = others.map {
                Link(identity: $0.identity, provider: $0.provider.description)
            }
            nameProviders()
        }

        private mutating func nameProviders() {
            providers = []
            for link in links where !providers.contains(link.provider) {
                providers.append(link.provider)
            }
        }
    }

    /// The accounts as the table has them; an account that is absent has no rows yet.
    package var historyStates: [AccountID: HistoryState] = [:]
    package private(set) var rows: [AuditRow] = []

    /// Creates a fold without rows.
    package init() {}

    /// Returns the collected rows and starts a new collection.
    package mutating func removeRows() -> [AuditRow] {
        defer { rows.removeAll(keepingCapacity: true) }
        return rows
    }

    /// Folds one event.
    ///
    /// - Throws: `LogDamage` when the table lacks rows of the account that the log has before the event.
    package mutating func apply(_ event: DisclosedEvent) throws(LogDamage) {
        let recorded = event.recorded
        var added: [AuditRow] = []
        for reference in recorded.accounts {
            var historyState = historyStates[reference.id] ?? HistoryState()
            guard historyState.nextSequence == reference.sequence else {
                throw LogDamage(
                    position: event.position,
                    fault: "the preceding row of account \(reference.id) is missing")
            }
            historyState.nextSequence += 1
            let before = historyState.providers
            if recorded.event.erasedAccount != nil { clearAddresses(of: reference.id) }
            try move(&historyState, of: reference.id, by: recorded)
            added.append(
                AuditRow(
                    recorded, for: reference, clientIP: event.disclosed.clientIP, before: before,
                    after: historyState.providers))
            historyStates[reference.id] = historyState
        }
        rows.append(contentsOf: added)
    }

    /// Removes the addresses of an erased account from the rows that were not returned yet.
    private mutating func clearAddresses(of account: AccountID) {
        for index in rows.indices where rows[index].account == account {
            rows[index].clientIP = nil
        }
    }

    private func move(
        _ historyState: inout HistoryState, of account: AccountID, by recorded: RecordedEvent
    ) throws(LogDamage) {
        switch recorded.event.identityEffect {
        case .linked(let fact):
            historyState.add(Link(identity: fact.identity, provider: fact.provider.description))
        case .unlinked(let fact):
            guard historyState.remove(fact.identity) else {
                throw LogDamage(position: recorded.position, fault: "the identity is not linked")
            }
        case .erased:
            historyState.removeAll()
        case .merged(let fact):
            historyState.set(account == fact.survivor ? fact.links : [])
        case .unmerged(let fact):
            historyState.set(account == fact.survivor ? fact.links : fact.returned)
        case .signedIn, .none: break
        }
    }
}
