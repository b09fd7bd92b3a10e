/// The state that a fold of a log keeps, in any representation.
///
/// ``fold(_:leaf:)`` is the only place that knows how events follow on each other: deciding,
/// replaying and verifying share it, over a part of the state or over the whole.
protocol Fold {
    var tenant: TenantID { get }
    /// The position that the next event gets.
    var nextPosition: LogPosition { get set }
    /// The time of the last event.
    var lastRecordedAt: Timestamp { get set }
    /// The tenant's rules; nil before the first ones.
    var rules: RulesSet? { get set }

    func status(of account: AccountID) -> AccountStatus?
    func status(of identity: IdentityID) -> IdentityStatus?
    /// Returns whether a session was opened and, where that is known, whether it is live.
    func status(of session: SessionID) -> SessionStatus?
    /// Returns the holder of an address; nil when no account has it.
    func holder(of address: AddressID) -> HeldAddress?

    mutating func open(_ account: AccountID, at position: LogPosition)
    /// Appends an event to an account's own history.
    mutating func touch(_ reference: AccountReference, leaf: Digest, at position: LogPosition)
    mutating func link(_ fact: ProviderLinked, at position: LogPosition, _ time: Timestamp)
    /// Removes a link and ends the sessions that the identity opened, except the one that an upgrade keeps.
    mutating func unlink(_ fact: ProviderUnlinked, at position: LogPosition)
    mutating func open(_ session: Session)
    mutating func end(_ session: SessionID, at position: LogPosition)
    mutating func endSessions(of account: AccountID, at position: LogPosition)
    /// Removes all links, holds and sessions of an account, and its identities for ever.
    mutating func erase(_ account: AccountID, at position: LogPosition)
    func holds(on account: AccountID) -> [HoldID]
    mutating func set(_ holds: [HoldID], on account: AccountID)
    /// Returns an account's links, in linking order; nil when they are not known here.
    func links(of account: AccountID) -> [Account.Link]?
    /// Returns the known merges by which an account absorbed others.
    func merges(of account: AccountID) -> [Merge]
    /// Whether the tenant's rules and all merges of an account are known here.
    var knowsTenant: Bool { get }
    /// Moves links, ends the sessions of the absorbed account and of replaced links, and resolves
    /// the absorbed account to the survivor.
    mutating func merge(_ fact: AccountsMerged, as merge: Merge)
    /// Returns links to the absorbed account, and ends the sessions that their identities opened at
    /// the survivor.
    mutating func unmerge(_ fact: AccountsUnmerged, at position: LogPosition)
    /// Sets the password or the passkey of an identity, by the event at this position.
    mutating func setPassword(of identity: IdentityID, at position: LogPosition)
    /// Disables an account since a position, or enables it with nil.
    mutating func setDisabled(_ account: AccountID, since position: LogPosition?)
    /// Notes that an account has another holder since a position.
    mutating func handOver(_ account: AccountID, at position: LogPosition)
    /// Plans the unlink of a linked identity, or stops it with nil; it ends by itself when the identity
    /// leaves its account.
    mutating func setUnlinkDue(_ due: Timestamp?, of identity: IdentityID)
    /// Returns a second factor or a set of recovery codes; nil when no account has it.
    func factor(_ id: FactorID) -> HeldFactor?
    /// Returns the second factors of an account, without recovery codes.
    func secondFactors(of account: AccountID) -> [FactorID]
    /// Adds a factor to its account, or replaces its state.
    mutating func hold(_ factor: HeldFactor)
    /// Removes a factor from its account.
    mutating func release(_ factor: HeldFactor)
    /// Adds an address to an account, or replaces its state.
    mutating func hold(_ address: HeldAddress)
    /// Removes an address from its account.
    mutating func release(_ address: AddressID)
    /// Adds a name to an account.
    mutating func hold(_ name: HeldName)
}

/// The state of an account.
struct AccountStatus {
    let nextSequence: Int64
    let lastLeaf: Digest
    let linkCount: Int
    let isErased: Bool
    /// The account that absorbed it.
    let mergedInto: AccountID?
    /// Whether nothing signs in to it.
    let isDisabled: Bool
}

/// The owner of an identity.
struct IdentityStatus {
    let provider: ProviderName
    /// Nil after an unlink.
    let account: AccountID?
    /// Whether it was erased with its last account.
    let isForgotten: Bool
    /// The position of the last `ProviderLinked`.
    let linkedPosition: LogPosition
    /// When it is unlinked, because support planned it.
    let unlinkDue: Timestamp?
}

/// The owner of a session.
struct SessionStatus {
    let account: AccountID
    let identity: IdentityID
    let isLive: Bool
}

extension Fold {
    /// Applies one event.
    ///
    /// - Throws: `FoldFault` when the event cannot follow; the state is then unchanged.
    mutating func fold(_ recorded: RecordedEvent, leaf: Digest) throws(FoldFault) {
        try checkEnvelope(recorded)
        try applyFact(recorded)
        for reference in recorded.accounts {
            touch(reference, leaf: leaf, at: recorded.position)
        }
        nextPosition = recorded.position.next
        lastRecordedAt = recorded.recordedAt
    }

    private func checkEnvelope(_ recorded: RecordedEvent) throws(FoldFault) {
        guard recorded.tenant == tenant else { throw .otherTenant }
        guard recorded.position == nextPosition else { throw .position(expected: nextPosition) }
        guard recorded.recordedAt >= lastRecordedAt else { throw .timeWentBack }
        guard recorded.accounts.elementsEqual(recorded.event.fact.accounts, by: { $0.id == $1 })
        else { throw .accounts }
        for (index, reference) in recorded.accounts.enumerated() {
            guard !recorded.accounts[..<index].contains(where: { $0.id == reference.id }) else {
                throw .accounts
            }
        }
        for reference in recorded.accounts {
            let known = status(of: reference.id)
            guard reference.sequence == known?.nextSequence ?? 0 else {
                throw .sequence(reference.id)
            }
            guard reference.previous == known?.lastLeaf else { throw .previous(reference.id) }
        }
    }

    private mutating func applyFact(_ recorded: RecordedEvent) throws(FoldFault) {
        switch recorded.event {
        case .ledgerOpened:
            guard recorded.position == LogPosition(0) else {
                throw .impossible("a log is opened at position 0 only")
            }
        case .keyRotated:
            guard recorded.position > LogPosition(0) else {
                throw .impossible("keys cannot change before a log is opened")
            }
        case .accountOpened(let fact):
            guard status(of: fact.account) == nil else {
                throw .impossible("account \(fact.account) is already open")
            }
            open(fact.account, at: recorded.position)
        case .providerLinked(let fact):
            try requireUnlinked(fact)
            try requireEnabled(fact.account)
            link(fact, at: recorded.position, recorded.recordedAt)
        case .providerUnlinked(let fact):
            try requireLink(of: fact.identity, to: fact.account)
            guard let account = status(of: fact.account), account.linkCount > 1 else {
                throw .impossible("account \(fact.account) would have no way to sign in")
            }
            switch fact.cause {
            case .asked: break
            case .upgraded(let upgrade): try check(upgrade, of: fact)
            case .support:
                try requireEffect(
                    fact.effect, of: "the unlink of identity \(fact.identity)",
                    due: status(of: fact.identity)?.unlinkDue, at: fact.account, recorded)
            case .addressLost: break
            }
            unlink(fact, at: recorded.position)
            if fact.handsOver(by: recorded.actor) {
                handOver(fact.account, at: recorded.position)
            }
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
            try requireLive(fact.session, of: fact.account)
            switch fact.scope {
            case .session: end(fact.session, at: recorded.position)
            case .everywhere: endSessions(of: fact.account, at: recorded.position)
            }
        case .sessionRevoked(let fact):
            try requireLive(fact.session, of: fact.account)
            end(fact.session, at: recorded.position)
        case .accountErased(let fact):
            try requireUnerased(fact.account)
            guard !knowsTenant || fact.survivor.map({ $0 == root(of: fact.account) }) ?? true
            else {
                throw .impossible("account \(fact.account) was merged into another one")
            }
            guard holds(on: fact.account).isEmpty else {
                throw .impossible("account \(fact.account) is under a legal hold")
            }
            // The accounts it absorbed are erased first, so that no id resolves to an erased
            // account.
            guard !knowsTenant || merges(of: fact.account).isEmpty else {
                throw .impossible("account \(fact.account) absorbed accounts that are not erased")
            }
            erase(fact.account, at: recorded.position)
        case .legalHoldSet(let fact):
            try hold(fact)
        case .legalHoldLifted(let fact):
            try lift(fact)
        case .ledgerRestored:
            guard recorded.position > LogPosition(0) else {
                throw .impossible("a log must begin with its opening")
            }
        case .rulesSet(let fact):
            guard recorded.position > LogPosition(0) else {
                throw .impossible("a log must begin with its opening")
            }
            let next = (rules?.rulesVersion ?? 0) + 1
            guard fact.rulesVersion == next else {
                throw .impossible("the next rules have version \(next), not \(fact.rulesVersion)")
            }
            rules = fact
        case .accountsMerged(let fact):
            try checkMerge(fact, by: recorded.actor)
            merge(fact, as: Merge(fact, id: recorded.id, at: recorded.position))
        case .accountsUnmerged(let fact):
            try checkUnmerge(fact, by: recorded.actor)
            unmerge(fact, at: recorded.position)
        case .addressClaimed(let fact): try claim(fact, at: recorded.position)
        case .addressConfirmed(let fact): try confirm(fact, at: recorded.position)
        case .addressReleased(let fact): try release(fact)
        case .accountNamed(let fact):
            try requireAccount(fact.account)
            hold(
                HeldName(
                    position: recorded.position, source: fact.source, account: fact.account))
        case .addressChanged(let fact):
            try change(fact, at: recorded.position, recorded.recordedAt)
        case .passwordSet(let fact):
            try requireLink(of: fact.identity, to: fact.account)
            setPassword(of: fact.identity, at: recorded.position)
            if fact.endsSessions { endSessions(of: fact.account, at: recorded.position) }
        case .passkeyRegistered(let fact):
            try requireLink(of: fact.identity, to: fact.account)
            setPassword(of: fact.identity, at: recorded.position)
        case .accountDisabled(let fact):
            try requireAccount(fact.account)
            try requireEnabled(fact.account)
            endSessions(of: fact.account, at: recorded.position)
            setDisabled(fact.account, since: recorded.position)
        case .accountEnabled(let fact):
            try requireAccount(fact.account)
            guard status(of: fact.account)?.isDisabled == true else {
                throw .impossible("account \(fact.account) is not disabled")
            }
            setDisabled(fact.account, since: nil)
        case .sessionsEnded(let fact):
            try requireAccount(fact.account)
            endSessions(of: fact.account, at: recorded.position)
        case .providerUnlinkPlanned(let fact): try plan(fact, at: recorded.recordedAt)
        case .providerUnlinkStopped(let fact): try stop(fact)
        case .secondFactorEnrolled(let fact): try enrol(fact, at: recorded.position)
        case .secondFactorRemoved(let fact): try remove(fact, recorded)
        case .recoveryCodeUsed(let fact): try use(fact)
        case .secondFactorRemovalPlanned(let fact): try plan(fact, at: recorded.recordedAt)
        case .secondFactorRemovalStopped(let fact): try stop(fact)
        case .signInThrottled(let fact):
            try requireLink(of: fact.identity, to: fact.account)
        case .secondFactorRefused(let fact):
            try requireLink(of: fact.identity, to: fact.account)
            try requireSecondFactor(fact.account)
        }
    }

    private func check(
        _ upgrade: ProviderUnlinked.Upgrade, of fact: ProviderUnlinked
    ) throws(FoldFault) {
        guard upgrade.successor != fact.identity else {
            throw .impossible("identity \(fact.identity) is its own successor")
        }
        try requireLink(of: upgrade.successor, to: fact.account)
        guard let session = upgrade.session else { return }
        try requireLive(session, of: fact.account)
        guard status(of: session)?.identity == fact.identity else {
            throw .impossible("identity \(fact.identity) did not open session \(session)")
        }
    }

    private mutating func hold(_ fact: LegalHoldSet) throws(FoldFault) {
        try requireUnerased(fact.account)
        let holds = holds(on: fact.account)
        guard !holds.contains(fact.hold) else {
            throw .impossible("hold \(fact.hold) is already set")
        }
        set(holds + [fact.hold], on: fact.account)
    }

    private mutating func lift(_ fact: LegalHoldLifted) throws(FoldFault) {
        try requireUnerased(fact.account)
        let holds = holds(on: fact.account)
        guard holds.contains(fact.hold) else {
            throw .impossible("hold \(fact.hold) is not set on account \(fact.account)")
        }
        set(holds.filter { $0 != fact.hold }, on: fact.account)
    }

    private mutating func signIn(_ fact: SignedIn, _ recorded: RecordedEvent) throws(FoldFault) {
        try requireLink(of: fact.identity, to: fact.account)
        try requireEnabled(fact.account)
        guard status(of: fact.session) == nil else {
            throw .impossible("session \(fact.session) is already open")
        }
        open(Session(fact, at: recorded.position, recorded.recordedAt))
    }

    private func requireUnlinked(_ fact: ProviderLinked) throws(FoldFault) {
        try requireAccount(fact.account)
        guard let known = status(of: fact.identity) else { return }
        guard known.account == nil else {
            throw .impossible("identity \(fact.identity) already belongs to an account")
        }
        guard !known.isForgotten else {
            throw .impossible("identity \(fact.identity) was erased")
        }
        guard known.provider == fact.provider else {
            throw .impossible("identity \(fact.identity) is of another provider")
        }
    }

    func requireAccount(_ account: AccountID) throws(FoldFault) {
        guard let known = status(of: account) else {
            throw .impossible("account \(account) was never opened")
        }
        guard !known.isErased else { throw .impossible("account \(account) was erased") }
        guard known.mergedInto == nil else {
            throw .impossible("account \(account) was merged into another one")
        }
    }

    func requireEnabled(_ account: AccountID) throws(FoldFault) {
        guard status(of: account)?.isDisabled != true else {
            throw .impossible("account \(account) is disabled")
        }
    }

    /// Returns the survivor of an account; itself when it is not merged.
    private func root(of account: AccountID) -> AccountID {
        var root = account
        while let survivor = status(of: root)?.mergedInto { root = survivor }
        return root
    }

    /// Requires an account that is not erased; it may be merged into another one.
    func requireUnerased(_ account: AccountID) throws(FoldFault) {
        guard let known = status(of: account) else {
            throw .impossible("account \(account) was never opened")
        }
        guard !known.isErased else { throw .impossible("account \(account) was erased") }
    }

    private func requireHolder(_ fact: ConflictRejected) throws(FoldFault) {
        guard let holder = fact.holder else { return }
        try requireAccount(holder)
        guard let identity = fact.identity, status(of: identity)?.account == holder else {
            throw .impossible("account \(holder) does not hold the claimed identity")
        }
    }

    func requireLink(of identity: IdentityID, to account: AccountID) throws(FoldFault) {
        try requireAccount(account)
        guard status(of: identity)?.account == account else {
            throw .impossible("identity \(identity) does not belong to account \(account)")
        }
    }

    private func requireLive(_ session: SessionID, of account: AccountID) throws(FoldFault) {
        try requireAccount(account)
        guard let known = status(of: session), known.account == account, known.isLive else {
            throw .impossible("session \(session) of account \(account) is not live")
        }
    }
}
