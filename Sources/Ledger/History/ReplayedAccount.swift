/// The state of an account after replaying its own events.
///
/// Follows the same rules as every other fold. Facts that one account's events cannot prove, such
/// as the state of the other account of a conflict, are taken from the event. Only live state is
/// kept, so memory does not grow with the length of the history.
package struct ReplayedAccount: Hashable, Sendable {
    /// The status of an account in the log.
    package enum Status: String, Sendable {
        /// Its first event has not been applied yet.
        case unopened
        case open
        /// Support disabled it: nothing signs in to it.
        case disabled
        /// It was merged into another account.
        case merged
        /// It was erased; no later event touches it.
        case erased
    }

    package let tenant: TenantID
    package let id: AccountID
    /// The position and time of the `AccountOpened`; nil before it.
    package private(set) var opened: LogMark?
    /// The position and time of the `AccountErased`; nil while the account is not erased.
    package private(set) var erased: LogMark?
    /// The legal holds that prevent its erasure, in the order in which they were set.
    package private(set) var holds: [HoldID] = []
    private var holdEvents: [HoldID: PlacedHold] = [:]
    /// The position of the `AccountDisabled` since which nothing signs in to it; nil while it is enabled.
    package private(set) var disabledPosition: LogPosition?
    /// The account that absorbed it; nil while it is not merged.
    package private(set) var mergedInto: AccountID?
    /// The merges by which it absorbed others, without undone ones, in log order.
    ///
    /// The erasure of an absorbed account is not among its own events.
    package private(set) var merges: [Merge] = []
    /// The position and time of the last event that touches the account; nil before the first.
    package private(set) var last: LogMark?
    /// The leaf hash of that event.
    package private(set) var lastLeaf: Digest?
    /// The number of events that touch the account so far.
    package private(set) var eventCount: Int64 = 0
    /// The identities linked to the account, in linking order.
    package private(set) var links: [Account.Link] = []
    /// The addresses that were confirmed for the account, in the order of their confirmation.
    package private(set) var addresses: [HeldAddress] = []
    /// The external ids that the account got, in the order of the log.
    package private(set) var names: [HeldName] = []
    /// The second factors and recovery codes, in the order of their enrolment.
    package private(set) var factors: [HeldFactor] = []
    /// When linked identities are unlinked, because support planned it.
    package private(set) var unlinkDues: [IdentityID: Timestamp] = [:]
    private var live: [SessionID: Session] = [:]

    var nextPosition = LogPosition(0)
    var lastRecordedAt = Timestamp(microseconds: 0)
    /// Always nil: the rules are of no account's own events.
    var rules: RulesSet?
    /// The event that is being applied.
    private var folding: RecordedEvent?

    /// The account before its first event.
    package init(_ id: AccountID, in tenant: TenantID) {
        self.tenant = tenant
        self.id = id
    }

    /// The status of the account.
    package var status: Status {
        if erased != nil { return .erased }
        if mergedInto != nil { return .merged }
        if disabledPosition != nil { return .disabled }
        return opened == nil ? .unopened : .open
    }

    /// The sessions that were opened and that no event has ended, in the order of their opening.
    ///
    /// Expiry is not an event, so unused expired sessions are included.
    package var sessions: [Session] {
        live.values.sorted { $0.openedPosition < $1.openedPosition }
    }

    /// The second factors in the order of their enrolment, without recovery codes.
    package var secondFactors: [FactorID] { factors.filter(\.kind.isRequired).map(\.id) }

    /// The legal holds with the events that set them, in order.
    package var placedHolds: [PlacedHold] { holds.compactMap { holdEvents[$0] } }

    /// The number of ``sessions``.
    package var sessionCount: Int { live.count }

    /// The linked providers in linking order, without duplicates.
    package var linkedProviders: [ProviderName] {
        var names: [ProviderName] = []
        for link in links where !names.contains(link.provider) {
            names.append(link.provider)
        }
        return names
    }

    /// Checks whether a reference has the next `seq` and the right `prev`.
    package func expects(_ reference: AccountReference) -> Bool {
        reference.id == id && reference.sequence == eventCount && reference.previous == lastLeaf
    }

    /// Applies the account's next event.
    ///
    /// - Parameters:
    ///   - recorded: an event that touches the account, at any position after the last.
    ///   - leaf: the leaf hash of its entry's bytes.
    /// - Throws: `FoldFault` when the event cannot follow; the state is then unchanged.
    package mutating func apply(_ recorded: RecordedEvent, leaf: Digest) throws(FoldFault) {
        guard recorded.accounts.contains(where: { $0.id == id }) else { throw .accounts }
        let former = nextPosition
        guard recorded.position >= former else { throw .position(expected: former) }
        // The events in between touch other accounts.
        nextPosition = recorded.position
        folding = recorded
        defer { folding = nil }
        do throws(FoldFault) {
            try fold(recorded, leaf: leaf)
        } catch {
            nextPosition = former
            throw error
        }
        let mark = LogMark(position: recorded.position, recordedAt: recorded.recordedAt)
        if case .accountOpened = recorded.event { opened = mark }
        if recorded.event.erasedAccount != nil { erased = mark }
        if case .legalHoldSet(let fact) = recorded.event {
            holdEvents[fact.hold] = PlacedHold(hold: fact.hold, event: recorded.id, mark: mark)
        }
        last = mark
    }
}

extension ReplayedAccount: Fold {
    func status(of account: AccountID) -> AccountStatus? {
        if account == id {
            return lastLeaf.map {
                AccountStatus(
                    nextSequence: eventCount, lastLeaf: $0, linkCount: links.count,
                    isErased: erased != nil, mergedInto: mergedInto,
                    isDisabled: disabledPosition != nil)
            }
        }
        guard let reference = folding?.accounts.first(where: { $0.id == account }),
            let previous = reference.previous
        else { return nil }
        var survivor: AccountID?
        if case .accountsUnmerged(let fact)? = folding?.event, fact.absorbed == account {
            survivor = fact.survivor
        }
        return AccountStatus(
            nextSequence: reference.sequence, lastLeaf: previous, linkCount: 0, isErased: false,
            mergedInto: survivor, isDisabled: false)
    }

    func status(of identity: IdentityID) -> IdentityStatus? {
        if let link = links.first(where: { $0.identity == identity }) {
            return IdentityStatus(
                provider: link.provider, account: id, isForgotten: false,
                linkedPosition: link.position, unlinkDue: unlinkDues[identity])
        }
        guard case .conflictRejected(let fact)? = folding?.event, fact.identity == identity,
            let holder = fact.holder, holder != id
        else { return nil }
        return IdentityStatus(
            provider: fact.provider, account: holder, isForgotten: false,
            linkedPosition: LogPosition(0), unlinkDue: nil)
    }

    func status(of session: SessionID) -> SessionStatus? {
        live[session].map {
            SessionStatus(account: $0.account, identity: $0.identity, isLive: true)
        }
    }

    mutating func open(_ account: AccountID, at position: LogPosition) {}

    mutating func touch(_ reference: AccountReference, leaf: Digest, at position: LogPosition) {
        guard reference.id == id else { return }
        eventCount = reference.sequence + 1
        lastLeaf = leaf
    }

    mutating func link(_ fact: ProviderLinked, at position: LogPosition, _ time: Timestamp) {
        links.append(
            Account.Link(
                identity: fact.identity, provider: fact.provider, linkedAt: time,
                position: position))
    }

    mutating func unlink(_ fact: ProviderUnlinked, at position: LogPosition) {
        links.removeAll { $0.identity == fact.identity }
        unlinkDues[fact.identity] = nil
        if let upgrade = fact.upgrade, let session = upgrade.session {
            live[session]?.upgrade(upgrade)
        }
        endSessions(of: fact.identity)
    }

    mutating func open(_ session: Session) {
        live[session.id] = session
    }

    mutating func end(_ session: SessionID, at position: LogPosition) {
        live[session] = nil
    }

    mutating func endSessions(of account: AccountID, at position: LogPosition) {
        live = [:]
    }

    mutating func setPassword(of identity: IdentityID, at position: LogPosition) {}

    mutating func setDisabled(_ account: AccountID, since position: LogPosition?) {
        disabledPosition = position
    }

    mutating func handOver(_ account: AccountID, at position: LogPosition) {}

    mutating func setUnlinkDue(_ due: Timestamp?, of identity: IdentityID) {
        unlinkDues[identity] = due
    }

    func factor(_ id: FactorID) -> HeldFactor? { factors.first { $0.id == id } }

    func secondFactors(of account: AccountID) -> [FactorID] {
        account == id ? secondFactors : []
    }

    mutating func hold(_ factor: HeldFactor) {
        if let known = factors.firstIndex(where: { $0.id == factor.id }) {
            factors[known] = factor
        } else {
            factors.append(factor)
        }
    }

    mutating func release(_ factor: HeldFactor) {
        factors.removeAll { $0.id == factor.id }
    }

    func holder(of address: AddressID) -> HeldAddress? {
        if let own = addresses.first(where: { $0.id == address }) { return own }
        // An absorbed account has the address.
        guard case .addressChanged(let fact)? = folding?.event, fact.account != id else {
            return nil
        }
        switch address {
        case fact.address:
            return HeldAddress(
                id: address, kind: fact.kind, account: fact.account, position: LogPosition(0))
        case fact.former where fact.cause == .takenBack:
            return HeldAddress(
                id: address, kind: fact.kind, account: fact.account, position: LogPosition(0),
                formerOf: fact.address)
        default: return nil
        }
    }

    mutating func hold(_ address: HeldAddress) {
        guard address.account == id else { return }
        if let known = addresses.firstIndex(where: { $0.id == address.id }) {
            addresses[known] = address
        } else {
            addresses.append(address)
        }
    }

    mutating func release(_ address: AddressID) {
        addresses.removeAll { $0.id == address }
    }

    mutating func hold(_ name: HeldName) {
        names.append(name)
    }

    mutating func erase(_ account: AccountID, at position: LogPosition) {
        links = []
        addresses = []
        names = []
        factors = []
        disabledPosition = nil
        unlinkDues = [:]
        live = [:]
    }

    func holds(on account: AccountID) -> [HoldID] { holds }

    mutating func set(_ holds: [HoldID], on account: AccountID) {
        self.holds = holds
    }

    func links(of account: AccountID) -> [Account.Link]? { account == id ? links : nil }

    func merges(of account: AccountID) -> [Merge] { account == id ? merges : [] }

    var knowsTenant: Bool { false }

    mutating func merge(_ fact: AccountsMerged, as merge: Merge) {
        if fact.absorbed == id {
            mergedInto = fact.survivor
            links = []
            unlinkDues = [:]
            live = [:]
            moveFactors(to: fact.survivor)
            return
        }
        if fact.factors.bringFirst(to: secondFactors) { live = [:] }
        factors += fact.factors.map { $0.held(by: id) }
        links = fact.links
        for link in fact.replaced { leave(link.identity) }
        merges.append(merge)
    }

    mutating func unmerge(_ fact: AccountsUnmerged, at position: LogPosition) {
        if fact.absorbed == id {
            mergedInto = nil
            links = fact.returned
            // Recovery codes may have been replaced in the meantime.
            let returned = Set(fact.factors.map(\.id))
            factors.removeAll { !returned.contains($0.id) }
            moveFactors(to: id)
            return
        }
        let returned = Set(fact.factors.map(\.id))
        factors.removeAll { returned.contains($0.id) }
        links = fact.links
        for link in fact.returned { leave(link.identity) }
        merges.removeAll { $0.id == fact.merge }
    }

    private mutating func moveFactors(to holder: AccountID) {
        for index in factors.indices { factors[index].move(to: holder) }
    }

    private mutating func leave(_ identity: IdentityID) {
        unlinkDues[identity] = nil
        endSessions(of: identity)
    }

    private mutating func endSessions(of identity: IdentityID) {
        live = live.filter { $0.value.identity != identity }
    }
}
