package import Ledger

/// One tenant's share of a batch: its loaded state, its rules, and the decisions so far.
package final class TenantBatch {
    /// The minimum number of commands for which reserving capacity pays.
    private static let reservedMin = 8

    package let tenant: TenantID
    package var state: DecisionState
    /// The head's position when it was locked.
    package let firstPosition: LogPosition
    /// The accounts' `next_seq` when loaded; nil for accounts opened in this batch.
    package var loadedSequences: [AccountID: Int64] = [:]
    /// The provider's own names of the identities loaded or named in this batch.
    package var subjects: [IdentityID: Subject] = [:]
    /// The addresses that had a row before this batch.
    package var loadedAddresses: Set<AddressID> = []
    /// Loaded accounts that had no address before this batch, nor had those merged into them: they get no notices.
    package var accountsWithoutAddresses: Set<AccountID> = []
    /// Whether loaded links are found by their subjects, too: only commands that prove or divide addresses need it.
    package var findsLinksBySubject = false
    package var keys: BatchAccountKeys
    package var macs: LogMACs
    /// The encrypted secrets of the loaded factors, each with the name of its key.
    package var factorSecrets: [FactorID: (wrappingKey: String, wrapped: [UInt8])] = [:]

    /// The rows whose MACs are checked before the commit, while Postgres is writing.
    package var loadedRows: [LoadedRow] = []

    private var hasConfiguredRules: Bool?
    package private(set) var recordings: [Recording] = []
    /// The number of recordings that the store has taken.
    private var takenCount = 0
    /// Whether account holders are told of an event.
    private(set) var hasTellingEvent = false
    /// The traces of requests, each with the positions of its events.
    package private(set) var traces: [(positions: ClosedRange<LogPosition>, trace: TraceContext)] =
        []
    package var changes = BatchChanges()

    /// Creates a batch for a log that ends before a position.
    package init(
        tenant: TenantID, firstPosition: LogPosition, lastRecordedAt: Timestamp,
        keyring: WrappingKeyring
    ) {
        self.tenant = tenant
        keys = BatchAccountKeys(tenant: tenant, keyring: keyring)
        macs = LogMACs(tenant: tenant, keys: keyring.macs)
        self.firstPosition = firstPosition
        state = DecisionState(
            ledger: LedgerState(
                tenant: tenant, nextPosition: firstPosition, lastRecordedAt: lastRecordedAt))
    }

    /// Reserves capacity for the state that commands load and change, so that it is not rehashed.
    package func reserve(forCommands count: Int) {
        guard count >= Self.reservedMin else { return }
        state.reserve(forCommands: count)
        keys.reserve(forCommands: count)
        loadedSequences.reserveCapacity(count)
        subjects.reserveCapacity(count)
        recordings.reserveCapacity(count)
        loadedRows.reserveCapacity(2 * count)
        changes.reserve(forCommands: count)
    }

    /// Checks whether each account about which a decision discloses something has a readable key.
    func canDisclose(_ decision: Decision) -> Bool {
        var opened: [AccountID] = []
        for draft in decision.drafts {
            guard let account = draft.event.fact.accounts.first else { continue }
            if case .accountOpened = draft.event { opened.append(account) }
            guard draft.disclosesRequest || !draft.disclosures.isEmpty else { continue }
            guard
                opened.contains(account) || changes.accountsOpened.contains(account)
                    || keys[account] != nil
            else { return false }
        }
        return true
    }

    /// Whether the rules so far are these; compared once, and again after a command has changed them.
    func hasRules(_ configured: TenantPolicy?) -> Bool {
        if let known = hasConfiguredRules { return known }
        let recorded = state.ledger.rules?.policy
        let answer = recorded != nil && recorded == configured
        hasConfiguredRules = answer
        return answer
    }

    /// Returns the recordings since the last call: a store may write those of some commands before the next ones are
    /// decided.
    package func takeRecordings() -> ArraySlice<Recording> {
        defer { takenCount = recordings.count }
        return recordings[takenCount...]
    }

    /// Adds the events and changes of one command, with the trace of its request.
    func add(_ recorded: [Recording], effects: [Decision.Effect], trace: TraceContext?) {
        if let trace, let first = recorded.first, let last = recorded.last {
            traces.append(
                (positions: first.recorded.position...last.recorded.position, trace: trace))
        }
        recordings.append(contentsOf: recorded)
        let ledger = state.ledger
        for recording in recorded {
            changes.add(recording.recorded, in: ledger)
            if !hasTellingEvent, recording.recorded.notices != nil { hasTellingEvent = true }
            if case .rulesSet = recording.recorded.event { hasConfiguredRules = nil }
        }
        for effect in effects {
            if case .identityNamed(let subject, let identity) = effect {
                subjects[identity] = subject
            }
            changes.add(effect.naming(recorded))
        }
    }
}

/// An identity as the opener of an account's sessions.
package struct Opener: Hashable {
    package let account: AccountID
    package let identity: IdentityID
}

/// The rows that a batch must write, collected while it is decided; they are written in their final
/// state.
package struct BatchChanges {
    package private(set) var accountsOpened: Set<AccountID> = []
    /// In the order of their first events, as the other lists: rows with ids that begin with their times are appended
    /// to the last page of an index.
    package private(set) var accountsTouched: [AccountID] = []
    private var touchedAccounts: Set<AccountID> = []
    package private(set) var identitiesNamed: Set<IdentityID> = []
    package private(set) var identitiesTouched: [IdentityID] = []
    private var touchedIdentities: Set<IdentityID> = []
    /// The anonymous identities that ended because their accounts got another one.
    package private(set) var identitiesUpgraded: Set<IdentityID> = []
    package private(set) var sessionsOpened: Set<SessionID> = []
    package private(set) var sessionsEnded: [(session: SessionID, position: LogPosition)] = []
    /// The openers whose sessions all ended, each with the first position at which they did.
    ///
    /// Sessions opened by the batch itself are excluded: they are written in their final state.
    package private(set) var openersEnded: [Opener: LogPosition] = [:]
    package private(set) var sessionsRefreshed: Set<SessionID> = []
    /// The sessions of anonymous identities that became those of their successors.
    package private(set) var sessionsUpgraded: Set<SessionID> = []
    package private(set) var answers: [IdempotencyScope] = []
    package private(set) var idTokensSpent: [(token: SingleUseIDToken, at: Timestamp)] = []
    /// The accounts whose requests for an erasure were made or ended.
    package private(set) var erasureRequests: Set<AccountID> = []
    package private(set) var accountsErased: [(account: AccountID, position: LogPosition)] = []
    package private(set) var accountsHeld: Set<AccountID> = []
    /// The accounts that were disabled, enabled or handed over.
    package private(set) var accountsMarked: Set<AccountID> = []
    /// The accounts that another account absorbed or released.
    package private(set) var accountsMerged: Set<AccountID> = []
    package private(set) var mergesMade: [Merge] = []
    package private(set) var mergesUndone: [(survivor: AccountID, merge: EventID)] = []

    package private(set) var addressesNamed: [(name: AddressName, address: AddressID)] = []
    /// The addresses whose former row goes, also those that get another one.
    package private(set) var addressesReleased: [AddressID] = []
    /// The position of each external id that an account got.
    package private(set) var accountsNamed: [ExternalName: LogPosition] = [:]
    package private(set) var challengesSpent: [ChallengeID] = []
    /// The addresses all of whose challenges ended.
    package private(set) var challengesEnded: [AddressName] = []
    /// The accounts all of whose addresses' challenges ended.
    package private(set) var challengesEndedOf: [AccountID] = []
    /// The accounts all of whose device tokens ended.
    package private(set) var devicesEndedOf: [AccountID] = []
    /// The last password of each identity that got one.
    package private(set) var passwordsStored: [IdentityID: NewPassword] = [:]
    /// The unlinked identities that may have had a password.
    package private(set) var passwordsLost: [IdentityID] = []

    /// The factors and recovery codes that accounts got.
    package private(set) var factorsStored: [FactorID: NewFactor] = [:]
    /// The factors whose codes were used, or whose removal was planned or stopped.
    package private(set) var factorsUsed: Set<FactorID> = []
    package private(set) var factorsRemoved: [FactorID] = []
    /// The accounts that got or lost factors.
    package private(set) var accountsFactored: Set<AccountID> = []

    /// Whether the tenant's rules were replaced.
    package private(set) var setsRules = false

    mutating func reserve(forCommands count: Int) {
        touchedAccounts.reserveCapacity(count)
        identitiesNamed.reserveCapacity(count)
        touchedIdentities.reserveCapacity(count)
    }

    private mutating func touch(_ account: AccountID) {
        if touchedAccounts.insert(account).inserted { accountsTouched.append(account) }
    }

    private mutating func touch(_ identity: IdentityID) {
        if touchedIdentities.insert(identity).inserted { identitiesTouched.append(identity) }
    }

    /// - Parameters:
    ///   - recorded: the event.
    ///   - ledger: the state after the command that it belongs to.
    mutating func add(_ recorded: RecordedEvent, in ledger: LedgerState) {
        for reference in recorded.accounts { touch(reference.id) }
        let position = recorded.position
        switch recorded.event {
        case .accountOpened(let fact): accountsOpened.insert(fact.account)
        case .providerLinked(let fact): touch(fact.identity)
        case .providerUnlinked(let fact):
            touch(fact.identity)
            end(fact.identity, of: fact.account, at: position)
            if ledger.rules?.hasCredentials(fact.provider) ?? true {
                passwordsLost.append(fact.identity)
            }
            if fact.handsOver(by: recorded.actor) { accountsMarked.insert(fact.account) }
            guard let upgrade = fact.upgrade else { break }
            identitiesUpgraded.insert(fact.identity)
            if let session = upgrade.session { sessionsUpgraded.insert(session) }
        case .providerUnlinkPlanned(let fact): touch(fact.identity)
        case .providerUnlinkStopped(let fact): touch(fact.identity)
        case .signedIn(let fact): sessionsOpened.insert(fact.session)
        case .signedOut(let fact):
            switch fact.scope {
            case .session: sessionsEnded.append((session: fact.session, position: position))
            case .everywhere:
                endAll(of: fact.account, in: ledger, at: position)
            }
        case .sessionRevoked(let fact):
            sessionsEnded.append((session: fact.session, position: position))
        case .accountErased(let fact):
            accountsErased.append((account: fact.account, position: position))
        case .legalHoldSet(let fact): accountsHeld.insert(fact.account)
        case .legalHoldLifted(let fact): accountsHeld.insert(fact.account)
        case .accountsMerged(let fact):
            for link in fact.moved + fact.dropped + fact.replaced { touch(link.identity) }
            for link in fact.moved + fact.dropped {
                end(link.identity, of: fact.absorbed, at: position)
            }
            for link in fact.replaced { end(link.identity, of: fact.survivor, at: position) }
            accountsMerged.insert(fact.absorbed)
            if !fact.factors.isEmpty { accountsFactored.insert(fact.survivor) }
            let required = fact.factors.required
            let former = ledger.accounts[fact.survivor]?.secondFactors.filter {
                !required.contains($0)
            }
            if let former, fact.factors.bringFirst(to: former) {
                endAll(of: fact.survivor, in: ledger, at: position)
            }
            mergesMade.append(Merge(fact, id: recorded.id, at: position))
        case .accountsUnmerged(let fact):
            for link in fact.returned + fact.restored { touch(link.identity) }
            for link in fact.returned { end(link.identity, of: fact.survivor, at: position) }
            accountsMerged.insert(fact.absorbed)
            if !fact.factors.isEmpty { accountsFactored.insert(fact.survivor) }
            mergesUndone.append((survivor: fact.survivor, merge: fact.merge))
        case .rulesSet: setsRules = true
        // The row has the name of the address, which the effect brings.
        case .addressClaimed, .passkeyRegistered, .accountNamed: break
        // That of a claim gets another row.
        case .addressConfirmed(let fact): addressesReleased.append(fact.address)
        case .passwordSet(let fact):
            guard fact.endsSessions else { break }
            endAll(of: fact.account, in: ledger, at: position)
        case .accountDisabled(let fact):
            accountsMarked.insert(fact.account)
            endAll(of: fact.account, in: ledger, at: position)
        case .accountEnabled(let fact): accountsMarked.insert(fact.account)
        case .sessionsEnded(let fact): endAll(of: fact.account, in: ledger, at: position)
        case .addressReleased(let fact): addressesReleased.append(fact.address)
        // The rows have the names of the addresses, which the effects bring.
        case .addressChanged(let fact):
            addressesReleased += [fact.address, fact.former]
            endAll(of: fact.holder, in: ledger, at: position)
        case .secondFactorEnrolled(let fact):
            accountsFactored.insert(fact.account)
            if let replaced = fact.replaced { factorsRemoved.append(replaced) }
            if fact.isFirst { endAll(of: fact.account, in: ledger, at: position) }
        case .secondFactorRemoved(let fact):
            accountsFactored.insert(fact.account)
            factorsRemoved.append(fact.factor)
        // The row has the codes that were used, which the effect brings.
        case .recoveryCodeUsed, .secondFactorRemovalPlanned, .secondFactorRemovalStopped: break
        case .ledgerOpened, .keyRotated, .conflictRejected, .linkRejected, .unlinkRejected,
            .ledgerRestored, .secondFactorRefused, .signInThrottled:
            break
        }
    }

    /// Ends all sessions of an account.
    ///
    /// Every live session was opened by an identity that is still linked, because an unlink ends the
    /// sessions of its identity.
    private mutating func endAll(
        of account: AccountID, in ledger: LedgerState, at position: LogPosition
    ) {
        for link in ledger.accounts[account]?.links ?? [] {
            end(link.identity, of: account, at: position)
        }
    }

    private mutating func end(
        _ identity: IdentityID, of account: AccountID, at position: LogPosition
    ) {
        let opener = Opener(account: account, identity: identity)
        openersEnded[opener] = openersEnded[opener] ?? position
    }

    mutating func add(_ effect: Decision.Effect) {
        switch effect {
        case .identityNamed(_, let identity): identitiesNamed.insert(identity)
        case .attempted(let account, _, _): touch(account)
        case .refreshTokens(let session, _): sessionsRefreshed.insert(session)
        case .answered(let scope, _): answers.append(scope)
        case .erasureAsked(let request): erasureRequests.insert(request.account)
        case .erasureRequestEnded(let account): erasureRequests.insert(account)
        case .idTokenSpent(let token, let time): idTokensSpent.append((token: token, at: time))
        case .addressNamed(let name, let address):
            addressesNamed.append((name: name, address: address))
        case .accountNamed(let name, let position):
            if let position { accountsNamed[name] = position }
        case .passwordStored(let identity, let password): passwordsStored[identity] = password
        case .factorStored(let factor): factorsStored[factor.id] = factor
        case .factorUsed(let factor, _), .factorChanged(let factor): factorsUsed.insert(factor)
        case .challengesEnded(let names): challengesEnded += names
        case .challengesEndedOf(let accounts):
            challengesEndedOf += accounts
            devicesEndedOf += accounts
        case .devicesEndedOf(let accounts): devicesEndedOf += accounts
        case .challengeSpent(let challenge): challengesSpent.append(challenge)
        // The erasure itself deletes them with its rows.
        case .forgotten: break
        }
    }
}
