import Ledger

@testable import LedgerEngine

/// The writes of one tenant's batch, row by row, as in the statements of Postgres.
struct TenantWrites: Sendable {
    struct TouchedAccount: Sendable {
        let account: Account
        let loadedSequence: Int64
    }

    struct WrittenIdentity: Sendable {
        let subject: Subject
        let identity: Identity
        let isNew: Bool
    }

    struct EndedSession: Sendable {
        let session: SessionID
        let position: LogPosition
    }

    struct ErasedAccount: Sendable {
        let account: AccountID
        let position: LogPosition
    }

    struct EndedOpener: Sendable {
        let opener: Opener
        let position: LogPosition
    }

    let tenant: TenantID
    let firstPosition: LogPosition
    let nextPosition: LogPosition
    let lastRecordedAt: Timestamp
    let macs: LogMACs
    let recordings: [Recording]
    private(set) var opened: [Account] = []
    private(set) var touched: [TouchedAccount] = []
    private(set) var identities: [WrittenIdentity] = []
    private(set) var sessionsOpened: [TenantRows.SessionRow] = []
    private(set) var refreshed: [SessionID: RefreshTokenState] = [:]
    /// The sessions of anonymous identities that became those of their successors.
    var upgraded: [Ledger.Session] = []
    let ended: [EndedSession]
    let openersEnded: [EndedOpener]
    let attempts: [AccountID: [DecisionState.Attempt: Timestamp]]
    private(set) var answers: [IdempotencyScope: DecisionState.IdempotencyRecord] = [:]
    let erased: [ErasedAccount]
    /// The accounts whose legal holds are written.
    let held: Set<AccountID>
    /// The accounts that were disabled, enabled or handed over.
    let marked: Set<AccountID>
    /// The accounts that got or lost second factors.
    var factored: Set<AccountID>
    /// The factors that were stored or used.
    var factors: [FactorID: TenantRows.FactorRow] = [:]
    /// Those of ``factors`` that were stored before.
    let factorsUsed: Set<FactorID>
    let factorsRemoved: [FactorID]
    /// The unlinked identities, which lose their passwords.
    let passwordsLost: [IdentityID]
    private(set) var passwords: [IdentityID: LogPosition] = [:]
    /// The counters of passkeys that were registered or used.
    var passkeyCounts: [IdentityID: UInt32] = [:]
    let merged: Set<AccountID>
    let mergesMade: [Merge]
    let mergesUndone: Set<EventID>
    /// The rules, if they were replaced.
    let rules: RulesSet?
    let released: Set<AddressID>
    /// The challenges that were used.
    var spent: Set<ChallengeID>
    private(set) var addresses: [AddressName: HeldAddress] = [:]

    init(_ batch: TenantBatch) {
        let changes = batch.changes
        let ledger = batch.state.ledger
        tenant = batch.tenant
        firstPosition = batch.firstPosition
        nextPosition = ledger.nextPosition
        lastRecordedAt = ledger.lastRecordedAt
        macs = batch.macs
        recordings = batch.recordings
        ended = changes.sessionsEnded.map {
            EndedSession(session: $0.session, position: $0.position)
        }
        openersEnded = changes.openersEnded.map { EndedOpener(opener: $0.key, position: $0.value) }
        attempts = batch.state.attempts
        erased = changes.accountsErased.map {
            ErasedAccount(account: $0.account, position: $0.position)
        }
        held = changes.accountsHeld
        marked = changes.accountsMarked
        factored = changes.accountsFactored
        factorsRemoved = changes.factorsRemoved
        factorsUsed = changes.factorsUsed.subtracting(changes.factorsStored.keys)
        for id in changes.factorsUsed.union(changes.factorsStored.keys) {
            guard let factor = ledger.factors[id], let counter = batch.state.factorCounters[id]
            else { continue }
            factors[id] = TenantRows.FactorRow(
                factor: factor, counter: counter, key: batch.state.factorKeys[id])
        }
        passwordsLost = batch.recordings.compactMap { recording in
            guard case .providerUnlinked(let fact) = recording.recorded.event else { return nil }
            return fact.identity
        }
        for (id, password) in changes.passwordsStored {
            passwords[id] = ledger.passwords[id]
            passkeyCounts[id] = password.passkeyCount
        }
        merged = changes.accountsMerged
        mergesMade = changes.mergesMade
        mergesUndone = Set(changes.mergesUndone.map(\.merge))
        rules = changes.setsRules ? ledger.rules : nil
        released = Set(changes.addressesReleased)
        spent = Set(changes.challengesSpent)
        for (name, id) in changes.addressesNamed {
            addresses[name] = ledger.addresses[id]
        }
        for id in changes.accountsTouched {
            guard let known = ledger.accounts[id] else { continue }
            let account = known.with(links: [], holds: known.holds)
            if let loaded = batch.loadedSequences[id] {
                guard account.erasedPosition == nil else { continue }
                touched.append(TouchedAccount(account: account, loadedSequence: loaded))
            } else {
                opened.append(account)
            }
        }
        for id in changes.identitiesTouched {
            guard let identity = ledger.identities[id], let subject = batch.subjects[id] else {
                continue
            }
            let isNew = changes.identitiesNamed.contains(id)
            if isNew, ledger.isForgotten(identity) { continue }
            identities.append(
                WrittenIdentity(subject: subject, identity: identity, isNew: isNew))
        }
        for id in changes.sessionsOpened {
            guard let session = ledger.sessions[id], let tokens = batch.state.refreshTokens[id]
            else { continue }
            sessionsOpened.append(TenantRows.SessionRow(session: session, tokens: tokens))
        }
        for id in changes.sessionsRefreshed.subtracting(changes.sessionsOpened) {
            refreshed[id] = batch.state.refreshTokens[id]
        }
        upgraded = changes.sessionsUpgraded.subtracting(changes.sessionsOpened)
            .compactMap { ledger.sessions[$0] }
        for scope in changes.answers {
            answers[scope] = batch.state.idempotency[scope]
        }
    }
}

extension TenantWrites {
    /// Leaves the rows of the anonymous identities that an upgrade unlinks as they are, for a planted bug.
    mutating func keepUpgradedLinks() {
        let unlinked = recordings.compactMap { recording -> IdentityID? in
            guard case .providerUnlinked(let fact) = recording.recorded.event else { return nil }
            return fact.upgrade == nil ? nil : fact.identity
        }
        identities.removeAll { !$0.isNew && unlinked.contains($0.identity.id) }
    }
}

/// A row count that is not the expected one, or a duplicate key.
struct BrokenExpectation: Error {
    let table: String
}

extension TenantRows {
    /// Writes a batch, with the checks of the statements.
    mutating func write(
        _ writes: TenantWrites, at now: Timestamp, comparesHead: Bool
    ) throws(BrokenExpectation) {
        if !writes.recordings.isEmpty {
            guard !comparesHead || nextPosition == writes.firstPosition else {
                throw BrokenExpectation(table: "ledger_head")
            }
            nextPosition = writes.nextPosition
            lastRecordedAt = writes.lastRecordedAt
            macs = writes.macs
        }
        for recorded in writes.recordings.map(\.recorded) where recorded.event.provesNumber {
            numberProofs[recorded.position] = recorded.recordedAt
        }
        try writeAccounts(writes, comparesSequence: comparesHead)
        for merge in writes.mergesMade { merges[merge.id] = merge }
        for merge in writes.mergesUndone { merges[merge] = nil }
        if let new = writes.rules { rules = new }
        challenges.subtract(writes.spent)
        for id in writes.factorsRemoved { factors[id] = nil }
        factors.merge(writes.factors) { _, new in new }
        for id in writes.passwordsLost {
            passwords[id] = nil
            passkeyCounts[id] = nil
        }
        passwords.merge(writes.passwords) { _, new in new }
        passkeyCounts.merge(writes.passkeyCounts) { _, new in new }
        addresses = addresses.filter { !writes.released.contains($0.value.id) }
        try writeIdentities(writes.identities.filter { !$0.isNew })
        try writeSessions(writes)
        attempts.merge(writes.attempts) { _, new in new }
        for (scope, record) in writes.answers {
            answers[scope] = AnswerRow(record: record, answeredAt: now)
        }
        for erasure in writes.erased {
            try erase(erasure.account, at: erasure.position)
        }
        try writeIdentities(writes.identities.filter(\.isNew))
        for (name, address) in writes.addresses {
            guard addresses.updateValue(address, forKey: name) == nil else {
                throw BrokenExpectation(table: "addresses")
            }
        }
    }

    /// Erases as the schema's function and the worker do.
    private mutating func erase(
        _ account: AccountID, at position: LogPosition
    ) throws(BrokenExpectation) {
        guard accounts.removeValue(forKey: account) != nil else {
            throw BrokenExpectation(table: "accounts erased")
        }
        erased[account] = position
        merges = merges.filter { $0.value.survivor != account && $0.value.absorbed != account }
        identities = identities.filter { $0.value.lastAccount != account }
        addresses = addresses.filter { $0.value.account != account }
        factors = factors.filter { $0.value.factor.account != account }
        attempts[account] = nil
        answers = answers.filter { $0.key.account != account }
        for (id, row) in sessions where row.session.account == account {
            if row.session.endedPosition == nil {
                sessions[id]?.session = row.session.ended(at: position)
            }
            sessions[id]?.tokens = row.tokens.forgotten
        }
    }

    private mutating func writeAccounts(
        _ writes: TenantWrites, comparesSequence: Bool
    ) throws(BrokenExpectation) {
        for account in writes.opened {
            guard accounts.updateValue(account, forKey: account.id) == nil else {
                throw BrokenExpectation(table: "accounts")
            }
        }
        for touched in writes.touched {
            let known = accounts[touched.account.id]
            guard let known, !comparesSequence || known.nextSequence == touched.loadedSequence
            else { throw BrokenExpectation(table: "accounts") }
            let account = touched.account
            accounts[account.id] = account.with(
                links: [],
                holds: writes.held.contains(account.id) ? account.holds : known.holds,
                mergedInto: writes.merged.contains(account.id)
                    ? account.mergedInto : known.mergedInto,
                disabledPosition: writes.marked.contains(account.id)
                    ? account.disabledPosition : known.disabledPosition,
                handedOverPosition: writes.marked.contains(account.id)
                    ? account.handedOverPosition : known.handedOverPosition,
                secondFactors: writes.factored.contains(account.id)
                    ? account.secondFactors : known.secondFactors)
        }
    }

    private mutating func writeIdentities(
        _ writes: [TenantWrites.WrittenIdentity]
    ) throws(BrokenExpectation) {
        for written in writes {
            let known = identities[written.subject]
            guard written.isNew ? known == nil : known?.id == written.identity.id else {
                throw BrokenExpectation(table: "identities")
            }
            identities[written.subject] = written.identity
        }
    }

    private mutating func writeSessions(_ writes: TenantWrites) throws(BrokenExpectation) {
        for row in writes.sessionsOpened {
            guard sessions.updateValue(row, forKey: row.session.id) == nil else {
                throw BrokenExpectation(table: "sessions")
            }
        }
        for (id, tokens) in writes.refreshed {
            guard sessions[id] != nil else {
                throw BrokenExpectation(table: "sessions refreshed")
            }
            sessions[id]?.tokens = tokens
        }
        for session in writes.upgraded {
            guard let row = sessions[session.id], row.session.endedPosition == nil else {
                throw BrokenExpectation(table: "sessions upgraded")
            }
            // Its end in the same batch follows.
            sessions[session.id]?.session = session.ended(at: nil)
        }
        for ended in writes.ended {
            guard let row = sessions[ended.session], row.session.endedPosition == nil else {
                throw BrokenExpectation(table: "sessions ended")
            }
            sessions[ended.session]?.session = row.session.ended(at: ended.position)
        }
        for ended in writes.openersEnded {
            for (id, row) in sessions
            where row.session.identity == ended.opener.identity
                && row.session.account == ended.opener.account
                && row.session.openedPosition < ended.position
                && row.session.endedPosition == nil
            {
                sessions[id]?.session = row.session.ended(at: ended.position)
            }
        }
    }
}

extension Event {
    /// Whether it proves a phone number.
    fileprivate var provesNumber: Bool {
        switch self {
        case .addressConfirmed(let fact): fact.kind == .phone
        case .addressChanged(let fact): fact.kind == .phone
        default: false
        }
    }
}

extension Ledger.Session {
    func ended(at position: LogPosition?) -> Ledger.Session {
        Ledger.Session(
            id: id, account: account, identity: identity, authenticatedAt: authenticatedAt,
            methods: methods, openedAt: openedAt, openedPosition: openedPosition,
            endedPosition: position)
    }
}

extension RefreshTokenState {
    /// The state without any secret.
    var forgotten: RefreshTokenState {
        RefreshTokenState(
            current: .zero, preceding: nil, generation: generation, expiresAt: expiresAt)
    }
}
