/// The conflicts of a tenant, or those of them that some events can change.
///
/// Each event is judged by what it says itself and by the conflicts that it can change, which are those of
/// ``Keys``: nobody needs to know every account and every identity.
package struct ConflictFold: Sendable {
    /// What conflicts are found by.
    package struct Keys: Sendable {
        /// Accounts that are, or stand for, the caller or the holder.
        package private(set) var accounts: Set<AccountID> = []
        package private(set) var identities: Set<IdentityID> = []
        /// Merges that are taken back: they may have ended something.
        package private(set) var merges: Set<EventID> = []

        /// The keys of all conflicts that some events can change, but for those that begin with one of them.
        package init(_ events: some Sequence<Event>) {
            for event in events { add(event) }
        }

        /// Whether they name a conflict.
        package func name(_ conflict: Conflict) -> Bool {
            accounts.contains(conflict.caller) || accounts.contains(conflict.callerNow)
                || conflict.holderNow.map { accounts.contains($0) } ?? false
                || conflict.identity.map { identities.contains($0) } ?? false
                || conflict.resolution.map { merges.contains($0.mark.event) } ?? false
        }

        /// Whether no conflict can be meant.
        package var isEmpty: Bool { accounts.isEmpty && identities.isEmpty && merges.isEmpty }

        private mutating func add(_ event: Event) {
            switch event {
            case .conflictRejected(let fact):
                accounts.insert(fact.account)
            case .providerLinked(let fact):
                // Nobody can have claimed what an account begins with but by a name of its own.
                identities.insert(fact.identity)
            case .providerUnlinked(let fact):
                accounts.insert(fact.account)
                identities.insert(fact.identity)
            case .accountErased(let fact):
                accounts.insert(fact.account)
            case .accountsMerged(let fact):
                accounts.formUnion([fact.survivor, fact.absorbed])
                identities.formUnion(
                    (fact.moved + fact.dropped + fact.replaced).map(\.identity))
            case .accountsUnmerged(let fact):
                accounts.formUnion([fact.survivor, fact.absorbed])
                identities.formUnion((fact.returned + fact.restored).map(\.identity))
                merges.insert(fact.merge)
            case .ledgerOpened, .keyRotated, .accountOpened, .linkRejected, .unlinkRejected,
                .signedIn, .signedOut, .sessionRevoked, .legalHoldSet, .legalHoldLifted,
                .ledgerRestored:
                break
            }
        }
    }

    /// In the order of their first attempts.
    package private(set) var conflicts: [Conflict] = []
    /// The places of those that events have changed or begun.
    private var changed: Set<Int> = []
    private var places = ConflictPlaces()

    /// Begins with the conflicts that are there.
    package init(_ loaded: some Sequence<Conflict> = []) {
        for conflict in loaded.sorted(by: { $0.first.position < $1.first.position }) {
            add(conflict)
        }
    }

    /// The conflicts that events have changed or begun, in the order of their first attempts.
    package var changes: [Conflict] { changed.sorted().map { conflicts[$0] } }

    /// Takes the next event in.
    ///
    /// - Throws: `FoldFault.impossible` when the conflicts are not those of the log before it; they are
    ///   then as they were.
    package mutating func apply(_ recorded: RecordedEvent) throws(FoldFault) {
        switch recorded.event {
        case .conflictRejected(let fact): try refuse(fact, recorded)
        case .providerLinked(let fact): link(fact, recorded)
        case .providerUnlinked(let fact): unlink(fact, recorded)
        case .accountErased(let fact): erase(fact.account, recorded)
        case .accountsMerged(let fact): merge(fact, recorded)
        case .accountsUnmerged(let fact): unmerge(fact, recorded)
        case .ledgerOpened, .keyRotated, .accountOpened, .linkRejected, .unlinkRejected, .signedIn,
            .signedOut, .sessionRevoked, .legalHoldSet, .legalHoldLifted, .ledgerRestored:
            break
        }
    }

    private mutating func refuse(
        _ fact: ConflictRejected, _ recorded: RecordedEvent
    ) throws(FoldFault) {
        guard fact.reason != .alreadyYours else { return }
        let mark = Conflict.Mark(recorded)
        let open = places.places(of: fact.account).filter { place in
            let conflict = conflicts[place]
            return conflict.state == .open && conflict.caller == fact.account
                && conflict.reason == fact.reason && conflict.provider == fact.provider
                && conflict.identity == fact.identity
        }
        guard let place = open.last else {
            changed.insert(conflicts.count)
            return add(
                Conflict(
                    callers: [fact.account], reason: fact.reason, provider: fact.provider,
                    identity: fact.identity, holder: fact.holder, holderNow: fact.holder,
                    first: mark, last: mark, attempts: 1, resolution: nil))
        }
        var conflict = conflicts[place]
        guard conflict.callerNow == fact.account,
            fact.reason == .providerTaken || conflict.holderNow == fact.holder
        else { throw .impossible("a conflict before it is not the one of the log") }
        conflict.last = mark
        conflict.attempts += 1
        change(place, to: conflict)
    }

    private mutating func link(_ fact: ProviderLinked, _ recorded: RecordedEvent) {
        for place in places.places(of: fact.identity) {
            var conflict = conflicts[place]
            guard conflict.identity == fact.identity else { continue }
            conflict.holderNow = fact.account
            if conflict.state == .open, conflict.callerNow == fact.account {
                conflict.resolution = Conflict.Resolution(recorded)
            }
            change(place, to: conflict)
        }
    }

    private mutating func unlink(_ fact: ProviderUnlinked, _ recorded: RecordedEvent) {
        for place in places.places(of: fact.identity) {
            var conflict = conflicts[place]
            guard conflict.identity == fact.identity else { continue }
            conflict.holderNow = nil
            if conflict.state == .open, conflict.reason == .heldByOther {
                conflict.resolution = Conflict.Resolution(recorded)
            }
            change(place, to: conflict)
        }
        for place in places.places(of: fact.account) {
            var conflict = conflicts[place]
            guard conflict.state == .open, conflict.reason == .providerTaken,
                conflict.callerNow == fact.account, conflict.provider == fact.provider
            else { continue }
            conflict.resolution = Conflict.Resolution(recorded)
            change(place, to: conflict)
        }
    }

    private mutating func erase(_ account: AccountID, _ recorded: RecordedEvent) {
        for place in places.places(of: account) {
            var conflict = conflicts[place]
            let wasHeld = conflict.holderNow == account
            guard wasHeld || conflict.caller == account else { continue }
            if wasHeld { conflict.holderNow = nil }
            let ends = conflict.caller == account || conflict.reason == .heldByOther
            if conflict.state == .open, ends {
                conflict.resolution = Conflict.Resolution(recorded)
            }
            change(place, to: conflict)
        }
    }

    private mutating func merge(_ fact: AccountsMerged, _ recorded: RecordedEvent) {
        let moved = Set(fact.moved.map(\.identity))
        let freed = Set((fact.dropped + fact.replaced).map(\.identity))
        for place in places.places(
            of: [fact.survivor, fact.absorbed], moved.union(freed), merge: nil)
        {
            var conflict = conflicts[place]
            if conflict.callerNow == fact.absorbed { conflict.absorbers.append(fact.survivor) }
            if let identity = conflict.identity {
                if moved.contains(identity) { conflict.holderNow = fact.survivor }
                if freed.contains(identity) { conflict.holderNow = nil }
            }
            let links = conflict.callerNow == fact.survivor ? fact.links : nil
            if conflict.state == .open, !conflict.stands(whereCallerHas: links) {
                conflict.resolution = Conflict.Resolution(recorded)
            }
            change(place, to: conflict)
        }
    }

    private mutating func unmerge(_ fact: AccountsUnmerged, _ recorded: RecordedEvent) {
        let returned = Set(fact.returned.map(\.identity))
        let restored = Set(fact.restored.map(\.identity))
        for place in places.places(
            of: [fact.survivor, fact.absorbed], returned.union(restored), merge: fact.merge)
        {
            var conflict = conflicts[place]
            if conflict.callers.suffix(2) == [fact.absorbed, fact.survivor] {
                conflict.absorbers.removeLast()
            }
            if let identity = conflict.identity {
                if returned.contains(identity) { conflict.holderNow = fact.absorbed }
                if restored.contains(identity) { conflict.holderNow = fact.survivor }
            }
            let links =
                switch conflict.callerNow {
                case fact.survivor: fact.links
                case fact.absorbed: fact.returned
                default: nil as [Account.Link]?
                }
            let stands = conflict.stands(whereCallerHas: links)
            if conflict.state == .open, !stands {
                conflict.resolution = Conflict.Resolution(recorded)
            } else if conflict.resolution?.mark.event == fact.merge, stands {
                conflict.resolution = nil
            }
            change(place, to: conflict)
        }
    }

    /// Notes a conflict as it is now, if that is not as it was.
    private mutating func change(_ place: Int, to conflict: Conflict) {
        let old = conflicts[place]
        guard old != conflict else { return }
        changed.insert(place)
        conflicts[place] = conflict
        if conflict.callerNow != old.callerNow { places.add(place, to: conflict.callerNow) }
        if let holder = conflict.holderNow, holder != old.holderNow {
            places.add(place, to: holder)
        }
        if let end = conflict.resolution?.mark.event, end != old.resolution?.mark.event {
            places.add(place, to: end)
        }
    }

    private mutating func add(_ conflict: Conflict) {
        let place = conflicts.count
        conflicts.append(conflict)
        for account in conflict.callers { places.add(place, to: account) }
        if let holder = conflict.holderNow { places.add(place, to: holder) }
        if let identity = conflict.identity { places.add(place, to: identity) }
        if let end = conflict.resolution?.mark.event { places.add(place, to: end) }
    }
}

extension Conflict {
    /// Whether the caller would be refused as before, where it has these links; nil when they are as they
    /// were.
    fileprivate func stands(whereCallerHas links: [Account.Link]?) -> Bool {
        switch reason {
        case .heldByOther: return holderNow.map { $0 != callerNow } ?? false
        case .alreadyYours: return false
        case .providerTaken:
            guard let links else { return true }
            return links.contains { $0.provider == provider }
                && !links.contains { $0.identity == identity }
        }
    }
}
