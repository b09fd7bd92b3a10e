import Ledger
import LedgerTestSupport

@testable import LedgerEngine

/// The rows of the decision tables for one tenant.
struct TenantRows: Sendable {
    struct SessionRow: Sendable {
        var session: Ledger.Session
        var tokens: RefreshTokenState

        /// When it was opened or refreshed last.
        var lastUse: Timestamp {
            max(session.openedAt, tokens.preceding?.exchangedAt ?? session.openedAt)
        }
    }

    struct FactorRow: Hashable, Sendable {
        let factor: HeldFactor
        let counter: Int64
        /// The key of a passkey.
        let key: FactorKey?
    }

    struct AnswerRow: Hashable, Sendable {
        let record: DecisionState.IdempotencyRecord
        let answeredAt: Timestamp
    }

    var nextPosition = LogPosition(0)
    var lastRecordedAt = Timestamp(microseconds: 0)
    /// The log's MACs according to the head; nil before the first event.
    var macs: LogMACs?
    /// The accounts without their links, which are rows of ``identities``.
    var accounts: [AccountID: Account] = [:]
    var identities: [Subject: Identity] = [:]
    var sessions: [SessionID: SessionRow] = [:]
    var attempts: [AccountID: [DecisionState.Attempt: Timestamp]] = [:]
    var answers: [IdempotencyScope: AnswerRow] = [:]
    /// The positions of the erasures of accounts, which have no row in ``accounts``.
    var erased: [AccountID: LogPosition] = [:]
    /// The merges that were not undone.
    var merges: [EventID: Merge] = [:]
    var rules: RulesSet?
    var addresses: [AddressName: HeldAddress] = [:]
    /// The times of the events that prove phone numbers.
    var numberProofs: [LogPosition: Timestamp] = [:]
    var factors: [FactorID: FactorRow] = [:]

    /// ``factors`` with their holders, which the rows do not have.
    var heldFactors: [FactorID: FactorRow] {
        factors.mapValues {
            FactorRow(
                factor: $0.factor.held(by: root(of: $0.factor.account)), counter: $0.counter,
                key: $0.key)
        }
    }

    /// Returns the survivor of an account, over all merges.
    func root(of account: AccountID) -> AccountID {
        accounts[account]?.mergedInto.map(root(of:)) ?? account
    }

    /// The versions of passwords and passkeys.
    var passwords: [IdentityID: LogPosition] = [:]
    /// The counters of passkeys.
    var passkeyCounts: [IdentityID: UInt32] = [:]
    /// The challenges that were not used yet.
    var challenges: Set<ChallengeID> = []
    /// Every challenge that was ever sent.
    var challengesSent: Set<ChallengeID> = []

    /// Returns the accounts merged with some accounts, including themselves.
    func family(of accounts: some Sequence<AccountID>) -> Set<AccountID> {
        var family = Set(accounts)
        var size = 0
        while size < family.count {
            size = family.count
            for merge in merges.values
            where family.contains(merge.survivor) || family.contains(merge.absorbed) {
                family.formUnion([merge.survivor, merge.absorbed])
            }
        }
        return family
    }

    /// An account's identities in linking order.
    func links(of account: AccountID) -> [(subject: Subject, identity: Identity)] {
        identities.filter { $0.value.account == account }
            .map { (subject: $0.key, identity: $0.value) }
            .sorted { $0.identity.linkedPosition < $1.identity.linkedPosition }
    }
}

/// The results of a batch's load statements.
struct BatchLoading {
    let keys: BatchKeys
    let now: Timestamp
    let signInWindowSeconds: (TenantID) -> Int64
    /// Whether the answers of idempotency keys are omitted.
    let forgetsAnswers: Bool
    /// Whether the times at which phone numbers were used are omitted.
    let forgetsNumberUses: Bool

    /// A key that never encrypts anything: disclosures remain in memory.
    private static let key = AccountKey(bytes: Array(repeating: 7, count: 32))

    func load(_ tenants: [TenantID: TenantRows]) -> LoadedBatch {
        var batches: [TenantID: TenantBatch] = [:]
        for (tenant, rows) in tenants {
            let batch = TenantBatch(
                tenant: tenant, firstPosition: rows.nextPosition,
                lastRecordedAt: rows.lastRecordedAt, keyring: SequencerFixture.keyring)
            if let macs = rows.macs { batch.macs = macs }
            if let rules = rows.rules { batch.state.ledger.load(rules) }
            batch.findsLinksBySubject = keys.subjectTenants.contains(tenant)
            load(rows, into: batch)
            batches[tenant] = batch
        }
        return LoadedBatch(now: now, tenants: batches)
    }

    private func load(_ rows: TenantRows, into batch: TenantBatch) {
        let tenant = batch.tenant
        var wanted: [AccountID] = []
        for (index, name) in keys.subjects.tenants.enumerated() where name == tenant {
            let subject = keys.subjects.subjects[index]
            guard let identity = rows.identities[subject] else { continue }
            batch.state.directory[subject] = identity.id
            batch.subjects[identity.id] = subject
            batch.state.ledger.load(identity)
            batch.state.signIns[identity.id] = signIns(of: identity, in: rows, tenant)
            if let holder = identity.account { wanted.append(holder) }
        }
        for (index, name) in keys.sessions.tenants.enumerated() where name == tenant {
            guard let row = rows.sessions[SessionID(bits: keys.sessions.ids[index])] else {
                continue
            }
            batch.state.ledger.load(row.session)
            batch.state.refreshTokens[row.session.id] = row.tokens
            wanted.append(row.session.account)
        }
        for account in wanted {
            load(account, from: rows, into: batch)
        }
        let named = keys.accounts.tenants.indices
            .filter { keys.accounts.tenants[$0] == tenant }
            .map { AccountID(bits: keys.accounts.ids[$0]) }
        let holderSubjects = keys.holderSubjects.tenants.indices
            .filter { keys.holderSubjects.tenants[$0] == tenant }
            .compactMap { rows.identities[keys.holderSubjects.subjects[$0]]?.account }
        batch.state.openChallenges = rows.challenges.intersection(keys.challenges[tenant] ?? [])
        let claims = (keys.addresses[tenant] ?? []).compactMap { rows.addresses[$0.name] }
            .filter(\.isClaimed).map(\.account)
        let ending = rows.family(of: claims)
        let factored = (keys.factors[tenant] ?? []).union(ending)
        let holders = Set(factored.map(rows.root(of:)))
        for (id, row) in rows.heldFactors where holders.contains(row.factor.holder) {
            batch.state.ledger.load(row.factor)
            batch.state.factorCounters[id] = row.counter
            batch.state.factorKeys[id] = row.key
        }
        for identity in keys.passwords[tenant] ?? [] {
            guard let version = rows.passwords[identity] else { continue }
            batch.state.ledger.load(passwordOf: identity, version: version)
            guard keys.passkeys.contains(identity) else { continue }
            batch.state.passkeyCounts[identity] = rows.passkeyCounts[identity]
        }
        let addresses = keys.addresses[tenant] ?? []
        for proved in addresses { load(proved, from: rows, into: batch) }
        loadNumbers(of: (keys.numbers[tenant] ?? []).union(ending), from: rows, into: batch)
        for (name, address) in rows.addresses
        where ending.contains(address.account) && batch.state.addressNames[name] == nil {
            batch.state.addressNames[name] = address.id
            batch.state.ledger.load(address)
        }
        let completed =
            named + holderSubjects + addresses.compactMap { rows.addresses[$0.name]?.account }
        for account in rows.family(of: completed) {
            if let position = rows.erased[account] {
                batch.state.ledger.load(
                    Account(
                        id: account, openedPosition: LogPosition(0), nextSequence: 0,
                        lastLeaf: .zero, lastPosition: position, links: [],
                        erasedPosition: position))
            } else {
                load(account, from: rows, into: batch)
                batch.state.ledger.load(rows.accounts[account]?.holds ?? [], on: account)
                if let survivor = rows.accounts[account]?.mergedInto {
                    batch.state.ledger.load(mergedInto: survivor, of: account)
                }
            }
        }
        if !completed.isEmpty { loadMerges(rows, into: batch) }
        let identities = Set(
            keys.identities.tenants.indices.filter { keys.identities.tenants[$0] == tenant }
                .map { IdentityID(bits: keys.identities.ids[$0]) })
        for (subject, identity) in rows.identities where identities.contains(identity.id) {
            batch.subjects[identity.id] = subject
            batch.state.directory[subject] = identity.id
            guard batch.state.ledger.identities[identity.id] == nil else { continue }
            batch.state.ledger.load(identity)
        }
        guard !forgetsAnswers else { return }
        for (index, name) in keys.idempotency.tenants.enumerated() where name == tenant {
            let scope = keys.idempotency.scopes[index]
            guard let answer = rows.answers[scope],
                answer.answeredAt > now.adding(seconds: -Int64(IdempotencyKey.hours) * 3600)
            else { continue }
            batch.state.idempotency[scope] = answer.record
        }
    }

    private func load(
        _ proved: BatchKeys.ProvedName, from rows: TenantRows, into batch: TenantBatch
    ) {
        guard let address = rows.addresses[proved.name] else { return }
        batch.state.addressNames[proved.name] = address.id
        batch.state.ledger.load(address)
        // The row that replaced it, as in the statement.
        if let (name, present) = rows.addresses.first(where: { $0.value.id == address.formerOf }) {
            batch.state.addressNames[name] = present.id
            batch.state.ledger.load(present)
        }
        let id = address.formerOf ?? address.id
        let subject = subject(proved.provider.description, id.description)
        guard let identity = rows.identities[subject] else { return }
        batch.state.directory[subject] = identity.id
        batch.subjects[identity.id] = subject
        batch.state.ledger.load(identity)
        batch.state.signIns[identity.id] = signIns(of: identity, in: rows, batch.tenant)
        guard address.kind == .phone else { return }
        loadUse(of: identity, by: address, from: rows, into: batch)
    }

    private func loadUse(
        of identity: Identity, by address: HeldAddress, from rows: TenantRows,
        into batch: TenantBatch
    ) {
        guard !forgetsNumberUses else { return }
        let sessions = rows.sessions.values.filter { $0.session.identity == identity.id }
        for time in [identity.linkedAt, rows.numberProofs[address.position]].compactMap(\.self)
            + sessions.map(\.lastUse)
        {
            batch.state.noteUse(of: identity.id, at: time)
        }
    }

    /// Loads which numbers accounts have lost, and the last uses of the others.
    private func loadNumbers(
        of accounts: Set<AccountID>, from rows: TenantRows, into batch: TenantBatch
    ) {
        for (subject, identity) in rows.identities
        where subject.provider == RandomCommands.phone && accounts.contains(identity.lastAccount) {
            let address = rows.addresses.values.first { $0.id.description == subject.providerID }
            if let address {
                loadUse(of: identity, by: address, from: rows, into: batch)
            } else {
                batch.state.lostNumbers.insert(identity.id)
            }
        }
    }

    private func loadMerges(_ rows: TenantRows, into batch: TenantBatch) {
        for merge in rows.merges.values.sorted(by: { $0.position < $1.position })
        where batch.state.ledger.accounts[merge.survivor] != nil {
            batch.state.ledger.load(merge)
            let freed = Set(merge.dropped + merge.replaced)
            for (subject, identity) in rows.identities
            where freed.contains(identity.id) && identity.account == nil
                && [merge.survivor, merge.absorbed].contains(identity.lastAccount)
                && batch.state.ledger.identities[identity.id] == nil
            {
                batch.subjects[identity.id] = subject
                if batch.findsLinksBySubject { batch.state.directory[subject] = identity.id }
                batch.state.ledger.load(identity)
            }
        }
    }

    private func load(_ id: AccountID, from rows: TenantRows, into batch: TenantBatch) {
        guard batch.loadedSequences[id] == nil, let account = rows.accounts[id] else { return }
        let links = rows.links(of: id)
        for (subject, identity) in links {
            batch.subjects[identity.id] = subject
            if batch.findsLinksBySubject { batch.state.directory[subject] = identity.id }
            batch.state.ledger.load(identity)
        }
        batch.state.ledger.load(
            account.with(
                links: links.map {
                    Account.Link(
                        identity: $0.identity.id, provider: $0.identity.provider,
                        linkedAt: $0.identity.linkedAt, position: $0.identity.linkedPosition)
                }, holds: []))
        batch.loadedSequences[id] = account.nextSequence
        if let key = Self.key { batch.keys.add(key, of: id) }
        if let attempts = rows.attempts[id] { batch.state.attempts[id] = attempts }
    }

    private func signIns(
        of identity: Identity, in rows: TenantRows, _ tenant: TenantID
    ) -> DecisionState.SignInCount? {
        let start = now.adding(seconds: -signInWindowSeconds(tenant))
        let times = rows.sessions.values.filter {
            $0.session.identity == identity.id && $0.session.openedAt > start
                && $0.session.openedPosition > identity.linkedPosition
        }.map(\.session.openedAt)
        return times.min().map { DecisionState.SignInCount(count: times.count, earliest: $0) }
    }
}

extension Account {
    func with(links: [Account.Link], holds: [HoldID]) -> Account {
        with(
            links: links, holds: holds, mergedInto: mergedInto, disabledPosition: disabledPosition,
            handedOverPosition: handedOverPosition, secondFactors: secondFactors)
    }

    func with(
        links: [Account.Link], holds: [HoldID], mergedInto: AccountID?,
        disabledPosition: LogPosition?, handedOverPosition: LogPosition?,
        secondFactors: [FactorID]
    ) -> Account {
        Account(
            id: id, openedPosition: openedPosition, nextSequence: nextSequence, lastLeaf: lastLeaf,
            lastPosition: lastPosition, links: links, holds: holds, erasedPosition: erasedPosition,
            disabledPosition: disabledPosition, handedOverPosition: handedOverPosition,
            secondFactors: secondFactors, mergedInto: mergedInto)
    }
}
