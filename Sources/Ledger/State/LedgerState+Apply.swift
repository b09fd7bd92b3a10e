extension LedgerState {
    /// Applies one event.
    ///
    /// - Parameters:
    ///   - recorded: the event at ``nextPosition``.
    ///   - leaf: the leaf hash of its entry's bytes.
    /// - Throws: `FoldFault` when the event cannot follow; the state is then unchanged.
    package mutating func apply(_ recorded: RecordedEvent, leaf: Digest) throws(FoldFault) {
        try fold(recorded, leaf: leaf)
    }
}

extension LedgerState: Fold {
    func status(of account: AccountID) -> AccountStatus? {
        accounts[account].map {
            AccountStatus(
                nextSequence: $0.nextSequence, lastLeaf: $0.lastLeaf, linkCount: $0.links.count,
                isErased: $0.erasedPosition != nil, mergedInto: $0.mergedInto,
                isDisabled: $0.disabledPosition != nil)
        }
    }

    func status(of identity: IdentityID) -> IdentityStatus? {
        identities[identity].map {
            IdentityStatus(
                provider: $0.provider, account: $0.account, isForgotten: isForgotten($0),
                linkedPosition: $0.linkedPosition, unlinkDue: $0.unlinkDue)
        }
    }

    func status(of session: SessionID) -> SessionStatus? {
        sessions[session].map {
            SessionStatus(
                account: $0.account, identity: $0.identity, isLive: $0.endedPosition == nil)
        }
    }

    mutating func open(_ account: AccountID, at position: LogPosition) {
        // The sequence and the leaf are set for every touched account after the fact.
        accounts[account] = Account(
            id: account, openedPosition: position, nextSequence: 0, lastLeaf: .zero,
            lastPosition: position, links: [])
    }

    mutating func touch(_ reference: AccountReference, leaf: Digest, at position: LogPosition) {
        accounts[reference.id]?.touch(reference, leaf: leaf, at: position)
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
        identities[fact.identity]?.unlinkDue = nil
        passwords[fact.identity] = nil
        if let upgrade = fact.upgrade, let session = upgrade.session {
            sessions[session]?.upgrade(upgrade)
        }
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
            identities[link.identity]?.unlinkDue = nil
        }
        accounts[account]?.links = []
        accounts[account]?.disabledPosition = nil
        accounts[account]?.handedOverPosition = nil
        accounts[account]?.secondFactors = []
        factors = factors.filter { $0.value.account != account }
        accounts[account]?.erasedPosition = position
        addresses = addresses.filter { $0.value.account != account }
        names = names.filter { $0.value.account != account }
        passwords = passwords.filter { identities[$0.key].map { !isForgotten($0) } ?? true }
        if let survivor = accounts[account]?.mergedInto {
            accounts[survivor]?.merges.removeAll { $0.absorbed == account }
            accounts[account]?.mergedInto = nil
        }
    }

    mutating func setPassword(of identity: IdentityID, at position: LogPosition) {
        passwords[identity] = position
    }

    mutating func setDisabled(_ account: AccountID, since position: LogPosition?) {
        accounts[account]?.disabledPosition = position
    }

    mutating func handOver(_ account: AccountID, at position: LogPosition) {
        accounts[account]?.handedOverPosition = position
    }

    mutating func setUnlinkDue(_ due: Timestamp?, of identity: IdentityID) {
        identities[identity]?.unlinkDue = due
    }

    func factor(_ id: FactorID) -> HeldFactor? { factors[id] }

    func secondFactors(of account: AccountID) -> [FactorID] {
        accounts[account]?.secondFactors ?? []
    }

    mutating func hold(_ factor: HeldFactor) {
        if factors.updateValue(factor, forKey: factor.id) == nil, factor.kind.isRequired {
            accounts[factor.holder]?.secondFactors.append(factor.id)
        }
    }

    mutating func release(_ factor: HeldFactor) {
        factors[factor.id] = nil
        accounts[factor.holder]?.secondFactors.removeAll { $0 == factor.id }
    }

    func holder(of address: AddressID) -> HeldAddress? { addresses[address] }

    mutating func hold(_ address: HeldAddress) {
        load(address)
    }

    mutating func release(_ address: AddressID) {
        addresses[address] = nil
    }

    mutating func hold(_ name: HeldName) {
        load(name)
    }

    func holds(on account: AccountID) -> [HoldID] {
        accounts[account]?.holds ?? []
    }

    mutating func set(_ holds: [HoldID], on account: AccountID) {
        accounts[account]?.holds = holds
    }

    func links(of account: AccountID) -> [Account.Link]? { accounts[account]?.links }

    func merges(of account: AccountID) -> [Merge] { accounts[account]?.merges ?? [] }

    var knowsTenant: Bool { true }

    mutating func merge(_ fact: AccountsMerged, as merge: Merge) {
        free(fact.moved + fact.dropped, of: fact.absorbed, at: merge.position)
        free(fact.replaced, of: fact.survivor, at: merge.position)
        give(fact.moved, to: fact.survivor)
        accounts[fact.survivor]?.links = fact.links
        accounts[fact.absorbed]?.mergedInto = fact.survivor
        accounts[fact.survivor]?.merges.append(merge)
        if fact.factors.bringFirst(to: secondFactors(of: fact.survivor)) {
            endSessions(of: fact.survivor, at: merge.position)
        }
        give(fact.factors, to: fact.survivor)
        accounts[fact.survivor]?.secondFactors += fact.factors.required
    }

    mutating func unmerge(_ fact: AccountsUnmerged, at position: LogPosition) {
        free(fact.returned, of: fact.survivor, at: position)
        give(fact.returned, to: fact.absorbed)
        give(fact.restored, to: fact.survivor)
        accounts[fact.absorbed]?.links = fact.returned
        accounts[fact.survivor]?.links = fact.links
        accounts[fact.absorbed]?.mergedInto = nil
        accounts[fact.survivor]?.merges.removeAll { $0.id == fact.merge }
        give(fact.factors, to: fact.absorbed)
        accounts[fact.survivor]?.secondFactors.removeAll(where: fact.factors.required.contains)
    }

    private mutating func give(_ factors: [MergedFactor], to holder: AccountID) {
        for factor in factors { self.factors[factor.id]?.move(to: holder) }
    }

    /// Removes identities with their links and the sessions that they opened; identities of other
    /// accounts are left alone.
    private mutating func free(
        _ links: [Account.Link], of account: AccountID, at position: LogPosition
    ) {
        accounts[account]?.links.remove(links.map(\.identity))
        for link in links where identities[link.identity]?.account == account {
            identities[link.identity]?.account = nil
            identities[link.identity]?.unlinkDue = nil
            for id in liveSessions[account] ?? [] where sessions[id]?.identity == link.identity {
                end(id, at: position)
            }
        }
    }

    private mutating func give(_ links: [Account.Link], to account: AccountID) {
        for link in links {
            identities[link.identity]?.account = account
            identities[link.identity]?.lastAccount = account
        }
    }
}
