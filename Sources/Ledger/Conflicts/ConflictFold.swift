/// The conflicts of a tenant, or those of them that a set of events can change.
///
/// Each event is judged by its own content and by the conflicts with matching ``Keys``, so a fold
/// does not need every account and identity. A resolved conflict never changes, unless a merge
/// resolved it, which can be undone: the cost of an event does not grow with the number of resolved
/// conflicts.
package struct ConflictFold: Sendable {
    /// The keys by which conflicts are found.
    package struct Keys: Sendable {
        /// Accounts that are the caller or its survivor, or hold the claimed identity.
        package private(set) var accounts: Set<AccountID> = []
        package private(set) var identities: Set<IdentityID> = []
        /// Merges that are undone, which may have resolved conflicts.
        package private(set) var merges: Set<EventID> = []

        /// Collects the keys of all conflicts that some events can change, except those that they
        /// begin.
        package init(_ events: some Sequence<Event>) {
            accounts.reserveCapacity(events.underestimatedCount)
            identities.reserveCapacity(events.underestimatedCount)
            for event in events { add(event) }
        }

        /// Checks whether the keys match a conflict.
        package func name(_ conflict: Conflict) -> Bool {
            guard conflict.isFollowed else { return false }
            if accounts.contains(conflict.caller) || accounts.contains(conflict.callerNow) {
                return true
            }
            if let resolution = conflict.resolution {
                return merges.contains(resolution.mark.event)
            }
            return conflict.holderNow.map { accounts.contains($0) } ?? false
                || conflict.identity.map { identities.contains($0) } ?? false
        }

        /// Whether no conflict can match.
        package var isEmpty: Bool { accounts.isEmpty && identities.isEmpty && merges.isEmpty }

        private mutating func add(_ event: Event) {
            if case .conflictRejected(let fact) = event { accounts.insert(fact.account) }
            switch event.identityEffect {
            case .linked(let fact):
                accounts.insert(fact.account)
                identities.insert(fact.identity)
            case .unlinked(let fact):
                accounts.insert(fact.account)
                identities.insert(fact.identity)
            case .erased(let fact):
                accounts.insert(fact.account)
            case .merged(let fact):
                accounts.formUnion([fact.survivor, fact.absorbed])
                identities.formUnion(
                    (fact.moved + fact.dropped + fact.replaced).map(\.identity))
            case .unmerged(let fact):
                accounts.formUnion([fact.survivor, fact.absorbed])
                identities.formUnion((fact.returned + fact.restored).map(\.identity))
                merges.insert(fact.merge)
            case .signedIn, .none: break
            }
        }
    }

    /// In the order of their first attempts, unless some were dropped.
    package private(set) var conflicts: [Conflict] = []
    /// The indexes of conflicts that no event can change any more and that are not dropped yet.
    private var finished: [Int] = []
    /// The free indexes of dropped conflicts.
    private var free: [Int] = []
    /// The indexes of conflicts that events have changed or begun.
    private var changed: Set<Int> = []
    private var indexes = ConflictIndex()

    /// Starts with loaded conflicts.
    package init(_ loaded: some Sequence<Conflict> = []) {
        for conflict in loaded.sorted(by: { $0.first.position < $1.first.position }) {
            add(conflict)
        }
    }

    /// The conflicts that events have changed or begun, in the order of their first attempts.
    package var changes: [Conflict] { changed.sorted().map { conflicts[$0] } }

    /// The conflicts that events can still change.
    package var followed: some Sequence<Conflict> { conflicts.lazy.filter(\.isFollowed) }

    /// Drops the conflicts that no event can change any more, so that folding a whole log needs
    /// memory only for the others.
    ///
    /// - Returns: the dropped conflicts.
    package mutating func forgetFinished() -> [Conflict] {
        guard !finished.isEmpty else { return [] }
        for index in finished { indexes.forget(conflicts[index], in: conflicts) }
        let forgotten = finished.map { conflicts[$0] }
        changed.subtract(finished)
        free += finished
        finished = []
        return forgotten
    }

    /// Applies the next event.
    ///
    /// - Throws: `FoldFault.impossible` when the conflicts do not match the log before it; they are
    ///   then unchanged.
    package mutating func apply(_ recorded: RecordedEvent) throws(FoldFault) {
        if case .conflictRejected(let fact) = recorded.event { try refuse(fact, recorded) }
        switch recorded.event.identityEffect {
        case .linked(let fact): link(fact, recorded)
        case .unlinked(let fact): unlink(fact, recorded)
        case .erased(let fact): erase(fact.account, recorded)
        case .merged(let fact): merge(fact, recorded)
        case .unmerged(let fact): unmerge(fact, recorded)
        case .signedIn, .none: break
        }
    }

    private mutating func refuse(
        _ fact: ConflictRejected, _ recorded: RecordedEvent
    ) throws(FoldFault) {
        guard fact.reason != .alreadyYours else { return }
        let mark = Conflict.Mark(recorded)
        let open = found(of: [fact.account]).filter { index in
            let conflict = conflicts[index]
            return conflict.state == .open && conflict.caller == fact.account
                && conflict.reason == fact.reason && conflict.provider == fact.provider
                && conflict.identity == fact.identity
        }
        guard let index = open.last else {
            changed.insert(free.last ?? conflicts.count)
            return add(
                Conflict(
                    callers: [fact.account], reason: fact.reason, provider: fact.provider,
                    identity: fact.identity, holder: fact.holder, holderNow: fact.holder,
                    first: mark, last: mark, attempts: 1, resolution: nil))
        }
        var conflict = conflicts[index]
        guard conflict.callerNow == fact.account,
            fact.reason == .providerTaken || conflict.holderNow == fact.holder
        else { throw .impossible("an earlier conflict does not match the log") }
        conflict.last = mark
        conflict.attempts += 1
        change(index, to: conflict)
    }

    private mutating func link(_ fact: ProviderLinked, _ recorded: RecordedEvent) {
        for index in found(of: [fact.account], [fact.identity]) {
            var conflict = conflicts[index]
            guard conflict.state == .open, conflict.reason == .providerTaken else { continue }
            // The identity has a holder now, so this is the reason that the caller would get.
            let isClaimed = conflict.identity == fact.identity
            // The caller has another identity of the provider, and got this one nonetheless.
            let isAllowed =
                conflict.callerNow == fact.account && conflict.provider == fact.provider
            guard isClaimed || isAllowed else { continue }
            if isClaimed { conflict.holderNow = fact.account }
            conflict.resolution = Conflict.Resolution(recorded)
            change(index, to: conflict)
        }
    }

    private mutating func unlink(_ fact: ProviderUnlinked, _ recorded: RecordedEvent) {
        for index in found(of: [fact.account], [fact.identity]) {
            var conflict = conflicts[index]
            guard conflict.state == .open else { continue }
            switch conflict.reason {
            case .heldByOther where conflict.identity == fact.identity: conflict.holderNow = nil
            case .providerTaken
            where conflict.callerNow == fact.account && conflict.provider == fact.provider:
                break
            case .heldByOther, .providerTaken, .alreadyYours: continue
            }
            conflict.resolution = Conflict.Resolution(recorded)
            change(index, to: conflict)
        }
    }

    private mutating func erase(_ account: AccountID, _ recorded: RecordedEvent) {
        for index in found(of: [account]) {
            var conflict = conflicts[index]
            if conflict.state == .open, conflict.holderNow == account {
                conflict.holderNow = nil
            } else if conflict.caller != account {
                continue
            }
            // A conflict that a merge resolved can no longer be reopened.
            conflict.resolution = Conflict.Resolution(recorded)
            change(index, to: conflict)
        }
    }

    private mutating func merge(_ fact: AccountsMerged, _ recorded: RecordedEvent) {
        let moved = Set(fact.moved.map(\.identity))
        let freed = Set((fact.dropped + fact.replaced).map(\.identity))
        for index in found(of: [fact.survivor, fact.absorbed], moved.union(freed)) {
            var conflict = conflicts[index]
            if conflict.callerNow == fact.absorbed { conflict.absorbers.append(fact.survivor) }
            if conflict.state == .open {
                if let identity = conflict.identity {
                    if moved.contains(identity) { conflict.holderNow = fact.survivor }
                    if freed.contains(identity) { conflict.holderNow = nil }
                }
                let links = conflict.callerNow == fact.survivor ? fact.links : nil
                if !conflict.stands(whereCallerHas: links) {
                    conflict.resolution = Conflict.Resolution(recorded)
                }
            }
            change(index, to: conflict)
        }
    }

    private mutating func unmerge(_ fact: AccountsUnmerged, _ recorded: RecordedEvent) {
        var holders: [IdentityID: AccountID] = [:]
        for link in fact.links + fact.restored { holders[link.identity] = fact.survivor }
        for link in fact.returned { holders[link.identity] = fact.absorbed }
        let given = Set((fact.returned + fact.restored).map(\.identity))
        for index in found(of: [fact.survivor, fact.absorbed], given, merge: fact.merge) {
            var conflict = conflicts[index]
            if conflict.callers.suffix(2) == [fact.absorbed, fact.survivor] {
                conflict.absorbers.removeLast()
            }
            let holder = conflict.identity.flatMap { holders[$0] }
            if conflict.state == .open {
                let links =
                    switch conflict.callerNow {
                    case fact.survivor: fact.links
                    case fact.absorbed: fact.returned
                    default: nil as [Account.Link]?
                    }
                if let holder { conflict.holderNow = holder }
                if !conflict.stands(whereCallerHas: links) {
                    conflict.resolution = Conflict.Resolution(recorded)
                }
            } else if conflict.resolution?.mark.event == fact.merge,
                conflict.reason == .heldByOther, let holder, holder != conflict.callerNow
            {
                conflict.holderNow = holder
                conflict.resolution = nil
            }
            change(index, to: conflict)
        }
    }

    /// Returns the indexes of the followed conflicts that match any of these keys, in order and
    /// without duplicates.
    private mutating func found(
        of accounts: [AccountID], _ identities: Set<IdentityID> = [], merge: EventID? = nil
    ) -> [Int] {
        indexes.indexes(of: accounts, identities, merge: merge, in: conflicts)
    }

    /// Stores the new state of a conflict, if it has changed.
    private mutating func change(_ index: Int, to conflict: Conflict) {
        let old = conflicts[index]
        guard old != conflict else { return }
        changed.insert(index)
        conflicts[index] = conflict
        guard conflict.isFollowed else {
            if old.isFollowed { finished.append(index) }
            return
        }
        if conflict.callerNow != old.callerNow { indexes.add(index, to: conflict.callerNow) }
        if let holder = conflict.holderNow, holder != old.holderNow {
            indexes.add(index, to: holder)
        }
        if let end = conflict.resolution?.mark.event, end != old.resolution?.mark.event {
            indexes.add(index, to: end)
        }
    }

    private mutating func add(_ conflict: Conflict) {
        let index = free.popLast() ?? conflicts.count
        if index < conflicts.count {
            conflicts[index] = conflict
        } else {
            conflicts.append(conflict)
        }
        guard conflict.isFollowed else { return }
        for account in conflict.callers { indexes.add(index, to: account) }
        if let holder = conflict.holderNow { indexes.add(index, to: holder) }
        if let identity = conflict.identity { indexes.add(index, to: identity) }
        if let end = conflict.resolution?.mark.event { indexes.add(index, to: end) }
    }
}

extension Conflict {
    /// Checks whether an open conflict persists when the caller has these links; nil when they are
    /// unchanged.
    fileprivate func stands(whereCallerHas links: [Account.Link]?) -> Bool {
        switch reason {
        case .heldByOther: return holderNow.map { $0 != callerNow } ?? false
        case .alreadyYours: return false
        case .providerTaken:
            guard holderNow == nil else { return false }
            return links.map { $0.contains { $0.provider == provider } } ?? true
        }
    }
}
