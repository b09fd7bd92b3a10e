package import Ledger

/// The net effect of a page of events on `user_providers`, key by key.
package struct UserProvidersFold {
    /// The key of a row.
    package struct Key: Hashable, Sendable {
        package let account: AccountID
        package let identity: IdentityID

        /// Creates the key of a row.
        package init(account: AccountID, identity: IdentityID) {
            self.account = account
            self.identity = identity
        }
    }

    /// A row as the read model holds it.
    package struct Row: Hashable, Sendable {
        package let provider: ProviderName
        package let providerID: String?
        package var email: Email?
        package let linkedAt: Timestamp
        package let linkedPosition: LogPosition
    }

    /// The change of one key's row: a deletion if it existed before, then an insertion, or only an update.
    package struct Change: Hashable, Sendable {
        package var deletes = false
        package var insert: Row?
        package var email: Email?

        /// Whether the key has no row after the change.
        package var leavesNoRow: Bool { deletes && insert == nil }
    }

    /// The net effect of events without a merge among them.
    package struct Net: Hashable, Sendable {
        /// The position of the first event.
        package let from: LogPosition
        /// The changes to rows of accounts that exist at the end of the page.
        package fileprivate(set) var changes: [Key: Change] = [:]
        /// The accounts that lose all the rows they had before the page.
        package fileprivate(set) var erased: Set<AccountID> = []

        fileprivate var isEmpty: Bool { changes.isEmpty && erased.isEmpty }
    }

    /// A change that is applied in order: a merge moves the rows that earlier steps leave.
    package enum Step: Hashable, Sendable {
        case changes(Net)
        case merge(AccountsMerged)
        /// With the restored rows of links that are returned.
        case unmerge(AccountsUnmerged, [Key: Row])
        /// The rows of identities that use an e-mail address get its new text.
        case address(AddressChanged, Email)
    }

    private var net: Net
    private var done: [Step] = []

    /// Begins before the first event of a page.
    package init(from: LogPosition) {
        net = Net(from: from)
    }

    /// The steps of the events so far.
    package var steps: [Step] { net.isEmpty ? done : done + [.changes(net)] }

    /// Folds one event.
    ///
    /// - Throws: `LogDamage` when the event contradicts earlier events of the page; rows of earlier pages are
    ///   checked when the steps are written.
    package mutating func apply(_ event: DisclosedEvent) throws(LogDamage) {
        switch event.recorded.event.identityEffect {
        case .linked(let fact): try link(fact, event)
        case .unlinked(let fact): try unlink(fact, event)
        case .signedIn(let fact): try signIn(fact, event)
        case .erased(let fact): erase(fact.account)
        case .merged(let fact): add(.merge(fact), at: event.position)
        case .unmerged(let fact): try unmerge(fact, event)
        case .none:
            // Erased, it changes no row that is left.
            if case .addressChanged(let fact) = event.recorded.event,
                let email = event.disclosed.email?.address
            {
                add(.address(fact, Email(email, isVerified: true)), at: event.position)
            }
        }
    }

    private mutating func add(_ step: Step, at position: LogPosition) {
        done = steps + [step]
        net = Net(from: position.next)
    }

    private mutating func unmerge(
        _ fact: AccountsUnmerged, _ event: DisclosedEvent
    ) throws(LogDamage) {
        var rows: [Key: Row] = [:]
        for (account, links) in [(fact.absorbed, fact.returned), (fact.survivor, fact.restored)] {
            for link in links {
                guard let disclosed = event.linked[link.position] else {
                    throw LogDamage(position: event.position, fault: "a link was not read")
                }
                rows[Key(account: account, identity: link.identity)] = Row(
                    provider: link.provider, providerID: disclosed.providerID,
                    email: disclosed.email, linkedAt: link.linkedAt,
                    linkedPosition: link.position)
            }
        }
        add(.unmerge(fact, rows), at: event.position)
    }

    private mutating func erase(_ account: AccountID) {
        net.changes = net.changes.filter { $0.key.account != account }
        net.erased.insert(account)
    }

    private mutating func link(
        _ fact: ProviderLinked, _ event: DisclosedEvent
    ) throws(LogDamage) {
        let key = Key(account: fact.account, identity: fact.identity)
        var change = net.changes[key] ?? Change()
        guard change.insert == nil, change.email == nil else {
            throw LogDamage(position: event.position, fault: "the identity is linked already")
        }
        change.insert = Row(
            provider: fact.provider, providerID: event.disclosed.providerID,
            email: event.disclosed.email, linkedAt: event.recorded.recordedAt,
            linkedPosition: event.position)
        net.changes[key] = change
    }

    private mutating func unlink(
        _ fact: ProviderUnlinked, _ event: DisclosedEvent
    ) throws(LogDamage) {
        let key = Key(account: fact.account, identity: fact.identity)
        guard var change = net.changes[key] else {
            net.changes[key] = Change(deletes: true)
            return
        }
        guard !change.leavesNoRow else {
            throw LogDamage(position: event.position, fault: "the identity is not linked")
        }
        if change.insert == nil {
            change = Change(deletes: true)
        } else {
            change.insert = nil
        }
        // A row that the page itself inserted and deleted leaves nothing to write.
        net.changes[key] = change.deletes ? change : nil
    }

    private mutating func signIn(_ fact: SignedIn, _ event: DisclosedEvent) throws(LogDamage) {
        guard let email = event.disclosed.email else { return }
        let key = Key(account: fact.account, identity: fact.identity)
        var change = net.changes[key] ?? Change()
        guard !change.leavesNoRow else {
            throw LogDamage(position: event.position, fault: "the identity is not linked")
        }
        if change.insert == nil {
            change.email = email
        } else {
            change.insert?.email = email
        }
        net.changes[key] = change
    }
}
