/// A range of the log in which an account held an identity.
package struct Holding: Hashable, Sendable {
    package let account: AccountID
    /// The event that began it: a `ProviderLinked`, or a merge or its undoing.
    package let from: LogMark
    /// The event that ended it; nil while it lasts.
    package let until: LogMark?

    /// Describes a range.
    package init(account: AccountID, from: LogMark, until: LogMark?) {
        self.account = account
        self.from = from
        self.until = until
    }
}

/// The holders of one identity over time, from the events that name it and the ``unnamed`` ones.
package struct HoldingFold: Sendable {
    /// The events that may end a holding without naming the identity.
    package static let unnamed: [Event.Name] = [.accountErased]

    private let identity: IdentityID
    /// The current holding; nil while the identity is unlinked.
    package private(set) var current: Holding?

    /// Starts before the identity was ever linked.
    package init(of identity: IdentityID) {
        self.identity = identity
    }

    /// Applies an event; one that does not name the identity changes nothing.
    ///
    /// - Returns: the holding that the event ended.
    /// - Throws: `FoldFault` when the event contradicts earlier ones; the state is then unchanged.
    package mutating func apply(_ recorded: RecordedEvent) throws(FoldFault) -> Holding? {
        let mark = LogMark(position: recorded.position, recordedAt: recorded.recordedAt)
        try expectHolder(namedBy: recorded.event)
        switch recorded.event.identityEffect {
        case .linked(let fact):
            guard fact.identity == identity else { return nil }
            try expect(nil)
            current = Holding(account: fact.account, from: mark, until: nil)
        case .unlinked(let fact):
            guard fact.identity == identity else { return nil }
            try expect(fact.account)
            defer { current = nil }
            return current.map { Holding(account: $0.account, from: $0.from, until: mark) }
        case .signedIn(let fact):
            if fact.identity == identity { try expect(fact.account) }
        case .erased(let fact):
            guard let held = current, held.account == fact.account else { return nil }
            current = nil
            return Holding(account: held.account, from: held.from, until: mark)
        case .merged(let fact):
            if fact.moved.contains(where: { $0.identity == identity }) {
                return try move(from: fact.absorbed, to: fact.survivor, at: mark)
            }
            if fact.dropped.contains(where: { $0.identity == identity }) {
                return try move(from: fact.absorbed, to: nil, at: mark)
            }
            if fact.replaced.contains(where: { $0.identity == identity }) {
                return try move(from: fact.survivor, to: nil, at: mark)
            }
        case .unmerged(let fact):
            if fact.returned.contains(where: { $0.identity == identity }) {
                return try move(
                    from: current == nil ? nil : fact.survivor, to: fact.absorbed, at: mark)
            }
            if fact.restored.contains(where: { $0.identity == identity }) {
                return try move(from: nil, to: fact.survivor, at: mark)
            }
        case .none: break
        }
        return nil
    }

    /// Checks a refusal against the current holding.
    private func expectHolder(namedBy event: Event) throws(FoldFault) {
        if case .conflictRejected(let fact) = event, fact.identity == identity {
            switch fact.reason {
            case .heldByOther: try expect(fact.holder)
            case .alreadyYours: try expect(fact.account)
            case .providerTaken: break
            }
        }
        if case .unlinkRejected(let fact) = event, fact.identity == identity {
            try expect(fact.account)
        }
    }

    private mutating func move(
        from former: AccountID?, to holder: AccountID?, at mark: LogMark
    ) throws(FoldFault) -> Holding? {
        try expect(former)
        let ended = current
        current = holder.map { Holding(account: $0, from: mark, until: nil) }
        return ended.map { Holding(account: $0.account, from: $0.from, until: mark) }
    }

    private func expect(_ holder: AccountID?) throws(FoldFault) {
        guard current?.account == holder else {
            throw .impossible(
                "identity \(identity) is not held by the account that the event names")
        }
    }
}
