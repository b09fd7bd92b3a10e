extension LedgerState {
    /// Takes one event into the state.
    ///
    /// - Parameters:
    ///   - recorded: the event at ``nextPosition``.
    ///   - leaf: the leaf hash of its entry's bytes.
    /// - Throws: `FoldFault` when the event cannot follow; the state is then as it was.
    package mutating func apply(_ recorded: RecordedEvent, leaf: Digest) throws(FoldFault) {
        try checkEnvelope(recorded)
        try applyFact(recorded)
        for reference in recorded.accounts {
            accounts[reference.id]?.nextSequence = reference.sequence + 1
            accounts[reference.id]?.lastLeaf = leaf
            accounts[reference.id]?.lastPosition = recorded.position
        }
        nextPosition = recorded.position.next
        lastRecordedAt = recorded.recordedAt
    }

    private func checkEnvelope(_ recorded: RecordedEvent) throws(FoldFault) {
        guard recorded.tenant == tenant else { throw .otherTenant }
        guard recorded.position == nextPosition else { throw .position(expected: nextPosition) }
        guard recorded.recordedAt >= lastRecordedAt else { throw .timeWentBack }
        let touched = recorded.event.fact.accounts
        guard recorded.accounts.map(\.id) == touched, Set(touched).count == touched.count else {
            throw .accounts
        }
        for reference in recorded.accounts {
            let expected = self.reference(to: reference.id)
            guard reference.sequence == expected.sequence else { throw .sequence(reference.id) }
            guard reference.previous == expected.previous else { throw .previous(reference.id) }
        }
    }

    private mutating func applyFact(_ recorded: RecordedEvent) throws(FoldFault) {
        switch recorded.event {
        case .ledgerOpened:
            guard recorded.position == LogPosition(0) else {
                throw .impossible("a log is opened at position 0 only")
            }
        case .accountOpened(let fact):
            try open(fact, recorded)
        case .providerLinked(let fact):
            try link(fact, recorded)
        case .providerUnlinked(let fact):
            try unlink(fact, recorded)
        case .conflictRejected(let fact):
            try requireAccount(fact.account)
            try requireHolder(fact)
        case .linkRejected(let fact):
            try requireAccount(fact.account)
        case .unlinkRejected(let fact):
            try requireLink(of: fact.identity, to: fact.account)
        case .signedIn(let fact):
            try signIn(fact, recorded)
        case .signedOut(let fact):
            try signOut(fact, recorded)
        case .sessionRevoked(let fact):
            try requireLive(fact.session, of: fact.account)
            end([fact.session], at: recorded.position)
        }
    }

    private mutating func open(_ fact: AccountOpened, _ recorded: RecordedEvent) throws(FoldFault) {
        guard accounts[fact.account] == nil else {
            throw .impossible("account \(fact.account) is open already")
        }
        // The sequence, the leaf and the position are set for every touched account after the fact.
        accounts[fact.account] = Account(
            id: fact.account, openedPosition: recorded.position, nextSequence: 0, lastLeaf: .zero,
            lastPosition: recorded.position, links: [])
    }

    private mutating func link(_ fact: ProviderLinked, _ recorded: RecordedEvent) throws(FoldFault)
    {
        try requireAccount(fact.account)
        if let known = identities[fact.identity] {
            guard known.account == nil else {
                throw .impossible("identity \(fact.identity) belongs to an account already")
            }
            guard known.provider == fact.provider else {
                throw .impossible("identity \(fact.identity) is of another provider")
            }
        }
        identities[fact.identity] = Identity(
            id: fact.identity, provider: fact.provider, account: fact.account,
            lastAccount: fact.account, linkedAt: recorded.recordedAt,
            linkedPosition: recorded.position)
        accounts[fact.account]?.links.append(
            Account.Link(
                identity: fact.identity, provider: fact.provider, linkedAt: recorded.recordedAt,
                position: recorded.position))
    }

    private mutating func unlink(
        _ fact: ProviderUnlinked, _ recorded: RecordedEvent
    ) throws(FoldFault) {
        try requireLink(of: fact.identity, to: fact.account)
        guard let account = accounts[fact.account], account.links.count > 1 else {
            throw .impossible("account \(fact.account) would have no way to sign in")
        }
        accounts[fact.account]?.links.removeAll { $0.identity == fact.identity }
        identities[fact.identity]?.account = nil
        let opened = (liveSessions[fact.account] ?? []).filter {
            sessions[$0]?.identity == fact.identity
        }
        end(opened, at: recorded.position)
    }

    private mutating func signIn(_ fact: SignedIn, _ recorded: RecordedEvent) throws(FoldFault) {
        try requireLink(of: fact.identity, to: fact.account)
        guard sessions[fact.session] == nil else {
            throw .impossible("session \(fact.session) is open already")
        }
        load(
            Session(
                id: fact.session, account: fact.account, identity: fact.identity,
                authenticatedAt: fact.authenticatedAt, openedAt: recorded.recordedAt,
                openedPosition: recorded.position, endedPosition: nil))
    }

    private mutating func signOut(_ fact: SignedOut, _ recorded: RecordedEvent) throws(FoldFault) {
        try requireLive(fact.session, of: fact.account)
        switch fact.scope {
        case .session: end([fact.session], at: recorded.position)
        case .everywhere: end(liveSessions[fact.account] ?? [], at: recorded.position)
        }
    }

    private mutating func end(_ ended: Set<SessionID>, at position: LogPosition) {
        for id in ended {
            guard let session = sessions[id] else { continue }
            sessions[id]?.endedPosition = position
            liveSessions[session.account]?.remove(id)
        }
    }

    private func requireAccount(_ account: AccountID) throws(FoldFault) {
        guard accounts[account] != nil else {
            throw .impossible("account \(account) was never opened")
        }
    }

    private func requireHolder(_ fact: ConflictRejected) throws(FoldFault) {
        guard let holder = fact.holder else { return }
        try requireAccount(holder)
        guard let identity = fact.identity, identities[identity]?.account == holder else {
            throw .impossible("account \(holder) does not hold the claimed identity")
        }
    }

    private func requireLink(of identity: IdentityID, to account: AccountID) throws(FoldFault) {
        try requireAccount(account)
        guard identities[identity]?.account == account else {
            throw .impossible("identity \(identity) does not belong to account \(account)")
        }
    }

    private func requireLive(_ session: SessionID, of account: AccountID) throws(FoldFault) {
        try requireAccount(account)
        guard let known = sessions[session], known.account == account, known.endedPosition == nil
        else {
            throw .impossible("session \(session) of account \(account) is not live")
        }
    }
}
