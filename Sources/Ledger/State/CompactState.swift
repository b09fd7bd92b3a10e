/// The fold of a whole log in little memory: 80 bytes an account, 56 an identity, 32 a live
/// session, and more only for accounts with an address, a name, a factor, a legal hold or a merge, and for
/// disabled, handed over and erased ones.
///
/// Keeps the state that later events are checked against. A session is dropped when it ends, so reuse of its id is
/// no fault here; the comparison with the table of sessions finds it.
package struct CompactState {
    package let tenant: TenantID
    package internal(set) var nextPosition = LogPosition(0)
    package internal(set) var lastRecordedAt = Timestamp(microseconds: 0)
    package internal(set) var rules: RulesSet?
    /// The sessions that the last event ended.
    package private(set) var endedSessions: [SessionID] = []

    private var accounts = IdentifierTable<AccountRow>()
    private var identities = IdentifierTable<IdentityRow>()
    private var sessions = IdentifierTable<SessionRow>()
    private var providers: [ProviderName] = []
    var holds: [AccountID: [HoldID]] = [:]
    var disabled: [AccountID: LogPosition] = [:]
    var handedOver: [AccountID: LogPosition] = [:]
    /// A set, because a flag would take eight bytes in every account.
    private var erased: Set<AccountID> = []
    // Those of erased accounts and identities are left, since finding them would take a look at all.
    var addresses: [AddressID: HeldAddress] = [:]
    /// In log order.
    var names: [CompactName] = []
    var nameSources: [NameSource] = []
    var passwords: [IdentityID: LogPosition] = [:]
    /// By linked identity; few unlinks are ever planned.
    var unlinkDues: [IdentityID: Timestamp] = [:]
    var factors: [FactorID: HeldFactor] = [:]
    var secondFactors: [AccountID: [FactorID]] = [:]
    /// By survivor; few accounts are ever merged.
    var merges: [AccountID: [Merge]] = [:]
    /// By absorbed account.
    var survivors: [AccountID: AccountID] = [:]

    private struct AccountRow: IdentifiedRow {
        let id: AccountID
        var lastLeaf: Digest
        var lastPosition: LogPosition
        var nextSequence: Int64
        /// The first link in linking order.
        var firstLink = IdentifierTable<IdentityRow>.none
        /// The live session that was opened last.
        var lastSession = IdentifierTable<SessionRow>.none
    }

    private struct IdentityRow: IdentifiedRow {
        let id: IdentityID
        var linkedAt: Timestamp
        var linkedPosition: LogPosition
        /// The account that it belongs to, or belonged to last.
        var account: UInt32
        /// The account's next link.
        var nextLink = IdentifierTable<IdentityRow>.none
        let provider: UInt32
        var isLinked: Bool
    }

    private struct SessionRow: IdentifiedRow {
        let id: SessionID
        /// A link of the session's account: sessions end with the link that opened them.
        var identity: UInt32
        /// The account's previous live session.
        var next: UInt32
    }

    /// The state before the first event.
    package init(tenant: TenantID) {
        self.tenant = tenant
    }

    /// Applies one event.
    ///
    /// - Parameters:
    ///   - recorded: the event at ``nextPosition``.
    ///   - leaf: the leaf hash of its entry's bytes.
    /// - Throws: `FoldFault` when the event cannot follow; the state is then unchanged.
    package mutating func apply(_ recorded: RecordedEvent, leaf: Digest) throws(FoldFault) {
        if !endedSessions.isEmpty { endedSessions.removeAll(keepingCapacity: true) }
        try fold(recorded, leaf: leaf)
    }

    /// Returns the number of an identity in the order of first links: 0, 1, 2 and so on.
    package func number(of identity: IdentityID) -> Int? {
        identities.index(of: identity).map { Int($0) }
    }

    /// Checks whether an account has any linked identity.
    package func hasLinks(_ account: AccountID) -> Bool {
        accounts.index(of: account).map { accounts[$0].firstLink != Self.noLink } ?? false
    }

    /// Returns the linked providers of an account in linking order, without duplicates.
    package func linkedProviders(of account: AccountID) -> [ProviderName] {
        guard let index = accounts.index(of: account) else { return [] }
        var names: [ProviderName] = []
        var link = accounts[index].firstLink
        while link != Self.noLink {
            let name = providers[Int(identities[link].provider)]
            if !names.contains(name) { names.append(name) }
            link = identities[link].nextLink
        }
        return names
    }

    /// Calls a function with every account, without its links and its opening position.
    ///
    /// The last event of an erased account is its `AccountErased`.
    package func eachAccount(_ body: (Account) -> Void) {
        for row in accounts.all {
            body(
                Account(
                    id: row.id, openedPosition: LogPosition(0), nextSequence: row.nextSequence,
                    lastLeaf: row.lastLeaf, lastPosition: row.lastPosition, links: [],
                    holds: holds(on: row.id),
                    erasedPosition: isErased(row.id) ? row.lastPosition : nil,
                    disabledPosition: disabled.isEmpty ? nil : disabled[row.id],
                    handedOverPosition: handedOver.isEmpty ? nil : handedOver[row.id],
                    secondFactors: secondFactors(of: row.id),
                    mergedInto: survivor(of: row.id)))
        }
    }

    /// Calls a function with every identity that was not erased, and its ``number(of:)``.
    package func eachIdentity(_ body: (_ number: Int, Identity) -> Void) {
        for (number, row) in identities.all.enumerated() {
            let account = accounts[row.account]
            guard !isErased(account.id) else { continue }
            body(
                number,
                Identity(
                    id: row.id, provider: providers[Int(row.provider)],
                    account: row.isLinked ? account.id : nil, lastAccount: account.id,
                    linkedAt: row.linkedAt, linkedPosition: row.linkedPosition,
                    unlinkDue: unlinkDue(of: row.id)))
        }
    }

    /// Whether an account was erased.
    func isErased(_ account: AccountID) -> Bool {
        erased.contains(account)
    }

    private static let noLink = IdentifierTable<IdentityRow>.none
    private static let noSession = IdentifierTable<SessionRow>.none
}

extension CompactState: Fold {
    func status(of account: AccountID) -> AccountStatus? {
        accounts.index(of: account).map { index in
            let row = accounts[index]
            var links = 0
            var link = row.firstLink
            // It only matters whether there is more than one.
            while link != Self.noLink, links < 2 {
                links += 1
                link = identities[link].nextLink
            }
            return AccountStatus(
                nextSequence: row.nextSequence, lastLeaf: row.lastLeaf, linkCount: links,
                isErased: isErased(account), mergedInto: survivor(of: account),
                isDisabled: !disabled.isEmpty && disabled[account] != nil)
        }
    }

    func status(of identity: IdentityID) -> IdentityStatus? {
        identities.index(of: identity).map { index in
            let row = identities[index]
            let account = accounts[row.account]
            return IdentityStatus(
                provider: providers[Int(row.provider)], account: row.isLinked ? account.id : nil,
                isForgotten: isErased(account.id), linkedPosition: row.linkedPosition,
                unlinkDue: unlinkDue(of: identity))
        }
    }

    func status(of session: SessionID) -> SessionStatus? {
        sessions.index(of: session).map { index in
            let identity = identities[sessions[index].identity]
            return SessionStatus(
                account: accounts[identity.account].id, identity: identity.id, isLive: true)
        }
    }

    mutating func open(_ account: AccountID, at position: LogPosition) {
        accounts.insert(
            AccountRow(id: account, lastLeaf: .zero, lastPosition: position, nextSequence: 0))
    }

    mutating func touch(_ reference: AccountReference, leaf: Digest, at position: LogPosition) {
        guard let index = accounts.index(of: reference.id) else { return }
        accounts[index].nextSequence = reference.sequence + 1
        accounts[index].lastLeaf = leaf
        accounts[index].lastPosition = position
    }

    mutating func link(_ fact: ProviderLinked, at position: LogPosition, _ time: Timestamp) {
        guard let account = accounts.index(of: fact.account) else { return }
        let identity: UInt32
        if let known = identities.index(of: fact.identity) {
            identity = known
            identities[known].linkedAt = time
            identities[known].linkedPosition = position
            identities[known].account = account
            identities[known].isLinked = true
        } else {
            identity = identities.insert(
                IdentityRow(
                    id: fact.identity, linkedAt: time, linkedPosition: position, account: account,
                    provider: number(of: fact.provider), isLinked: true))
        }
        insert(identity, into: account)
    }

    /// Inserts an identity at its position in linking order.
    private mutating func insert(_ identity: UInt32, into account: UInt32) {
        let position = identities[identity].linkedPosition
        var before = Self.noLink
        var next = accounts[account].firstLink
        while next != Self.noLink, identities[next].linkedPosition < position {
            before = next
            next = identities[next].nextLink
        }
        identities[identity].nextLink = next
        if before == Self.noLink {
            accounts[account].firstLink = identity
        } else {
            identities[before].nextLink = identity
        }
    }

    mutating func unlink(_ fact: ProviderUnlinked, at position: LogPosition) {
        guard let account = accounts.index(of: fact.account),
            let identity = identities.index(of: fact.identity)
        else { return }
        if let upgrade = fact.upgrade, let session = upgrade.session.flatMap(sessions.index(of:)),
            let successor = identities.index(of: upgrade.successor)
        {
            sessions[session].identity = successor
        }
        passwords[fact.identity] = nil
        free(identity, of: account)
    }

    /// Removes a link of an account and ends the sessions that its identity opened.
    private mutating func free(_ identity: UInt32, of account: UInt32) {
        let next = identities[identity].nextLink
        if accounts[account].firstLink == identity {
            accounts[account].firstLink = next
        } else {
            var before = accounts[account].firstLink
            while identities[before].nextLink != identity { before = identities[before].nextLink }
            identities[before].nextLink = next
        }
        identities[identity].nextLink = Self.noLink
        identities[identity].isLinked = false
        endUnlinkPlan(of: identities[identity].id)
        endSessions(of: account) { $0.identity == identity }
    }

    mutating func open(_ session: Session) {
        guard let account = accounts.index(of: session.account),
            let identity = identities.index(of: session.identity)
        else { return }
        accounts[account].lastSession = sessions.insert(
            SessionRow(
                id: session.id, identity: identity, next: accounts[account].lastSession))
    }

    mutating func end(_ session: SessionID, at position: LogPosition) {
        guard let index = sessions.index(of: session) else { return }
        endSessions(of: identities[sessions[index].identity].account) { $0.id == session }
    }

    mutating func endSessions(of account: AccountID, at position: LogPosition) {
        guard let index = accounts.index(of: account) else { return }
        endSessions(of: index) { _ in true }
    }

    mutating func erase(_ account: AccountID, at position: LogPosition) {
        guard let index = accounts.index(of: account) else { return }
        endSessions(of: index) { _ in true }
        var link = accounts[index].firstLink
        while link != Self.noLink {
            let next = identities[link].nextLink
            identities[link].nextLink = Self.noLink
            identities[link].isLinked = false
            endUnlinkPlan(of: identities[link].id)
            link = next
        }
        accounts[index].firstLink = Self.noLink
        erased.insert(account)
        disabled[account] = nil
        handedOver[account] = nil
        secondFactors[account] = nil
        if let survivor = survivors.removeValue(forKey: account) {
            remove(mergesOf: survivor) { $0.absorbed == account }
        }
    }

    /// Returns the links of an account in linking order; nil for an unknown account.
    package func links(of account: AccountID) -> [Account.Link]? {
        guard let index = accounts.index(of: account) else { return nil }
        var links: [Account.Link] = []
        var link = accounts[index].firstLink
        while link != Self.noLink {
            let row = identities[link]
            links.append(
                Account.Link(
                    identity: row.id, provider: providers[Int(row.provider)],
                    linkedAt: row.linkedAt, position: row.linkedPosition))
            link = row.nextLink
        }
        return links
    }

    var knowsTenant: Bool { true }

    mutating func merge(_ fact: AccountsMerged, as merge: Merge) {
        free(fact.moved + fact.dropped, of: fact.absorbed)
        free(fact.replaced, of: fact.survivor)
        give(fact.moved, to: fact.survivor)
        survivors[fact.absorbed] = fact.survivor
        merges[fact.survivor, default: []].append(merge)
        unite(fact)
    }

    mutating func unmerge(_ fact: AccountsUnmerged, at position: LogPosition) {
        free(fact.returned, of: fact.survivor)
        give(fact.returned, to: fact.absorbed)
        give(fact.restored, to: fact.survivor)
        survivors[fact.absorbed] = nil
        remove(mergesOf: fact.survivor) { $0.id == fact.merge }
        separate(fact)
    }

    private mutating func remove(mergesOf survivor: AccountID, where isGone: (Merge) -> Bool) {
        merges[survivor]?.removeAll(where: isGone)
        if merges[survivor]?.isEmpty == true { merges[survivor] = nil }
    }

    /// Removes those of the links that belong to the account.
    private mutating func free(_ links: [Account.Link], of account: AccountID) {
        guard let account = accounts.index(of: account) else { return }
        for link in links {
            guard let identity = identities.index(of: link.identity),
                identities[identity].isLinked, identities[identity].account == account
            else { continue }
            free(identity, of: account)
        }
    }

    private mutating func give(_ links: [Account.Link], to account: AccountID) {
        guard let account = accounts.index(of: account) else { return }
        for link in links {
            guard let identity = identities.index(of: link.identity) else { continue }
            identities[identity].account = account
            identities[identity].isLinked = true
            insert(identity, into: account)
        }
    }

    private mutating func endSessions(
        of account: UInt32, where isEnded: (SessionRow) -> Bool
    ) {
        var before = Self.noSession
        var session = accounts[account].lastSession
        while session != Self.noSession {
            let row = sessions[session]
            if isEnded(row) {
                if before == Self.noSession {
                    accounts[account].lastSession = row.next
                } else {
                    sessions[before].next = row.next
                }
                endedSessions.append(row.id)
                sessions.remove(row.id)
            } else {
                before = session
            }
            session = row.next
        }
    }

    private mutating func number(of provider: ProviderName) -> UInt32 {
        if let known = providers.firstIndex(of: provider) { return UInt32(known) }
        providers.append(provider)
        return UInt32(providers.count - 1)
    }
}
