extension LedgerState {
    /// Takes one event into the state.
    ///
    /// - Parameters:
    ///   - recorded: the event at ``nextPosition``.
    ///   - leaf: the leaf hash of its entry's bytes.
    /// - Throws: `FoldFault` when the event cannot follow; the state is then as it was.
    package mutating func apply(_ recorded: RecordedEvent, leaf: Digest) throws(FoldFault) {
        try fold(recorded, leaf: leaf)
    }
}

extension LedgerState: Fold {
    func standing(of account: AccountID) -> AccountStanding? {
        accounts[account].map {
            AccountStanding(
                nextSequence: $0.nextSequence, lastLeaf: $0.lastLeaf, linkCount: $0.links.count,
                isErased: $0.erasedPosition != nil)
        }
    }

    func standing(of identity: IdentityID) -> IdentityStanding? {
        identities[identity].map {
            IdentityStanding(
                provider: $0.provider, account: $0.account, isForgotten: isForgotten($0))
        }
    }

    func standing(of session: SessionID) -> SessionStanding? {
        sessions[session].map {
            SessionStanding(account: $0.account, isLive: $0.endedPosition == nil)
        }
    }

    mutating func open(_ account: AccountID, at position: LogPosition) {
        // The sequence and the leaf are set for every touched account after the fact.
        accounts[account] = Account(
            id: account, openedPosition: position, nextSequence: 0, lastLeaf: .zero,
            lastPosition: position, links: [])
    }

    mutating func touch(_ reference: AccountReference, leaf: Digest, at position: LogPosition) {
        accounts[reference.id]?.nextSequence = reference.sequence + 1
        accounts[reference.id]?.lastLeaf = leaf
        accounts[reference.id]?.lastPosition = position
    }

    mutating func link(_ fact: ProviderLinked, at position: LogPosition, _ time: Timestamp) {
        identities[fact.identity] = Identity(
            id: fact.identity, provider: fact.provider, account: fact.account,
            lastAccount: fact.account, linkedAt: time, linkedPosition: position)
        accounts[fact.account]?.links.append(
            Account.Link(
                identity: fact.identity, provider: fact.provider, linkedAt: time,
                position: position))
    }

    mutating func unlink(_ fact: ProviderUnlinked, at position: LogPosition) {
        accounts[fact.account]?.links.removeAll { $0.identity == fact.identity }
        identities[fact.identity]?.account = nil
        for id in liveSessions[fact.account] ?? [] where sessions[id]?.identity == fact.identity {
            end(id, at: position)
        }
    }

    mutating func open(_ session: Session) {
        load(session)
    }

    mutating func end(_ session: SessionID, at position: LogPosition) {
        guard let account = sessions[session]?.account else { return }
        sessions[session]?.endedPosition = position
        liveSessions[account]?.remove(session)
    }

    mutating func endSessions(of account: AccountID, at position: LogPosition) {
        for id in liveSessions[account] ?? [] {
            end(id, at: position)
        }
    }

    mutating func erase(_ account: AccountID, at position: LogPosition) {
        endSessions(of: account, at: position)
        for link in accounts[account]?.links ?? [] {
            identities[link.identity]?.account = nil
        }
        accounts[account]?.links = []
        accounts[account]?.erasedPosition = position
    }

    func holds(on account: AccountID) -> [HoldID] {
        accounts[account]?.holds ?? []
    }

    mutating func set(_ holds: [HoldID], on account: AccountID) {
        accounts[account]?.holds = holds
    }
}
