import Ledger
import LedgerTestSupport

@testable import LedgerEngine

/// One tenant's log, replayed through the pure model: the expected answers and rows.
///
/// Not a `ModelLedger`, since it records nothing: it compares each draft with the entry of the log.
struct TenantReplay {
    /// The expected content of an account's row of `account_audit`.
    struct AuditLine: Hashable {
        let position: LogPosition
        let event: EventID
        let providersBefore: [String]
        let providersAfter: [String]
        /// Nil once the account is erased.
        var clientIP: String?
    }

    let tenant: TenantID
    let policy: TenantPolicy
    let log: [Recording]
    private(set) var state: DecisionState
    /// The answers of idempotency keys, including lapsed ones.
    private(set) var answers: [IdempotencyScope: TenantRows.AnswerRow] = [:]
    private(set) var userProviders: [UserProvidersFold.Key: UserProvidersFold.Row] = [:]
    /// The disclosures of each link when it was made.
    private var linkRows: [LogPosition: UserProvidersFold.Row] = [:]
    private var lastCommand: CommandID?
    private(set) var audit: [AccountID: [AuditLine]] = [:]
    private var signInTimes: [IdentityID: [Timestamp]] = [:]
    private var numbers = NumberCheck()
    /// The times at which phone numbers were confirmed or changed last.
    private var numberProofs: [AddressID: Timestamp] = [:]

    init(
        tenant: TenantID, policy: TenantPolicy, log: [Recording],
        challenges: Set<ChallengeID> = []
    ) {
        self.tenant = tenant
        self.policy = policy
        self.log = log
        state = DecisionState(ledger: LedgerState(tenant: tenant))
        state.openChallenges = challenges
    }

    /// Reduces budgets and keys to those that a batch beginning now loads.
    mutating func begin(at now: Timestamp) {
        for (identity, times) in signInTimes {
            let start = now.adding(seconds: -policy.signInBudget.windowSeconds)
            let recent = times.filter { $0 > start }
            state.signIns[identity] = recent.min().map {
                DecisionState.SignInCount(count: recent.count, earliest: $0)
            }
        }
        if policy.providers[RandomCommands.phone] != nil { loadUses() }
        // A clock that is set back makes a lapsed answer valid again.
        let start = now.adding(seconds: -86_400)
        state.idempotency = answers.filter { $0.value.answeredAt > start }.mapValues(\.record)
    }

    /// Sets the last use of each identity to that of its link, its sessions and proofs of its number.
    private mutating func loadUses() {
        state.identityUses = state.ledger.identities.mapValues(\.linkedAt)
        for (subject, identity) in state.directory {
            let address = AddressID(subject.providerID)
            if let proved = address.flatMap({ numberProofs[$0] }) {
                state.noteUse(of: identity, at: proved)
            }
        }
        for (id, session) in state.ledger.sessions {
            guard let tokens = state.refreshTokens[id] else { continue }
            let used = TenantRows.SessionRow(session: session, tokens: tokens).lastUse
            state.noteUse(of: session.identity, at: used)
        }
    }

    /// Decides a command at its position in the log, and applies its events.
    ///
    /// - Throws: `Contradiction` when the log lacks the events that the command must have appended.
    mutating func replay(
        _ command: Command, at now: Timestamp
    ) throws(Contradiction) -> Decision {
        let start = Int(state.ledger.nextPosition.value)
        var decision = command.decide(given: state, at: now, under: policy)
        for draft in decision.drafts {
            try take(draft, of: command, at: now)
        }
        let end = Int(state.ledger.nextPosition.value)
        let last = log.prefix(end).suffix(1)
        for effect in decision.effects.map({ $0.naming(last) }) {
            state.apply(effect)
            if case .answered(let scope, let record) = effect {
                answers[scope] = TenantRows.AnswerRow(record: record, answeredAt: now)
            }
        }
        for case .attempted(let account, _, _) in decision.effects {
            state.forgetAttempts(
                of: account, upTo: now.adding(seconds: -policy.linkBudget.windowSeconds))
        }
        decision.result = decision.result.map { $0.naming(last) }
        for account in decision.drafts.flatMap(\.event.fact.accounts)
        where state.ledger.accounts[account]?.erasedPosition == nil
            && state.ledger.accounts[account]?.mergedInto == nil
        {
            let links = state.ledger.accounts[account]?.links ?? []
            guard !waysToSignIn(links, state.ledger.rules?.policy ?? policy).isEmpty else {
                throw Contradiction("account \(short(account)) has no way to sign in")
            }
        }
        try numbers.follow(
            command, decision.result, log[start..<end], in: state, at: now,
            under: state.ledger.rules?.policy ?? policy)
        return decision
    }

    private mutating func take(
        _ draft: Decision.Draft, of command: Command, at now: Timestamp
    ) throws(Contradiction) {
        let position = state.ledger.nextPosition
        let location = "\(tenant) #\(position)"
        guard log.indices.contains(Int(position.value)) else {
            throw Contradiction("\(location) is not in the log: \(draft.event)")
        }
        let recording = log[Int(position.value)]
        let recorded: RecordedEvent
        do throws(EntryFault) {
            recorded = try EntryEncoding.decode(recording.entry)
        } catch {
            throw Contradiction("\(location) cannot be read: \(error)")
        }
        guard recorded.event == draft.event, recorded.actor == draft.actor,
            recorded.command == command.id, recorded.request == command.origin.request
        else {
            throw Contradiction(
                "\(location) is \(recorded.event) of command \(short(recorded.command)), but must be "
                    + "\(draft.event) of command \(short(command.id))")
        }
        guard recorded.recordedAt == max(now, state.ledger.lastRecordedAt) else {
            throw Contradiction("\(location) is dated \(recorded.recordedAt)")
        }
        let before = providers(of: recorded)
        do throws(FoldFault) {
            try state.ledger.apply(recorded, leaf: leafHash(recording.entry))
        } catch {
            throw Contradiction("\(location) cannot follow: \(error)")
        }
        note(recorded, DisclosedValues(recording.disclosures), before: before)
        lastCommand = recorded.command
    }

    private func providers(of recorded: RecordedEvent) -> [[String]] {
        recorded.accounts.map { reference in
            (state.ledger.accounts[reference.id]?.linkedProviders ?? []).map(\.description)
        }
    }

    private func key(_ account: AccountID, _ link: Account.Link) -> UserProvidersFold.Key {
        UserProvidersFold.Key(account: account, identity: link.identity)
    }

    private mutating func note(
        _ recorded: RecordedEvent, _ disclosed: DisclosedValues, before: [[String]]
    ) {
        state.noteUse(of: recorded.event, at: recorded.recordedAt)
        let after = providers(of: recorded)
        for (index, reference) in recorded.accounts.enumerated() {
            audit[reference.id, default: []].append(
                AuditLine(
                    position: recorded.position, event: recorded.id,
                    providersBefore: before[index], providersAfter: after[index],
                    clientIP: index == 0 ? disclosed.clientIP : nil))
        }
        switch recorded.event {
        case .providerLinked(let fact):
            let key = UserProvidersFold.Key(account: fact.account, identity: fact.identity)
            let row = UserProvidersFold.Row(
                provider: fact.provider, providerID: disclosed.providerID,
                email: disclosed.email,
                linkedAt: recorded.recordedAt, linkedPosition: recorded.position)
            userProviders[key] = row
            signInTimes[fact.identity] = nil
            state.signIns[fact.identity] = nil
            linkRows[recorded.position] = row
        case .providerUnlinked(let fact):
            userProviders[
                UserProvidersFold.Key(account: fact.account, identity: fact.identity)] = nil
        case .signedIn(let fact):
            let key = UserProvidersFold.Key(account: fact.account, identity: fact.identity)
            if let email = disclosed.email {
                userProviders[key]?.email = email
                if recorded.command == lastCommand {
                    linkRows[LogPosition(recorded.position.value - 1)]?.email = email
                }
            }
            signInTimes[fact.identity, default: []].append(recorded.recordedAt)
            let known = state.signIns[fact.identity]
            state.signIns[fact.identity] = DecisionState.SignInCount(
                count: (known?.count ?? 0) + 1, earliest: known?.earliest ?? recorded.recordedAt)
        case .accountErased(let fact):
            userProviders = userProviders.filter { $0.key.account != fact.account }
            for index in audit[fact.account, default: []].indices {
                audit[fact.account]?[index].clientIP = nil
            }
            answers = answers.filter { $0.key.account != fact.account }
        case .accountsMerged(let fact):
            for link in fact.moved {
                let row = userProviders[key(fact.absorbed, link)]
                userProviders[key(fact.survivor, link)] = row
            }
            for link in fact.moved + fact.dropped {
                userProviders[key(fact.absorbed, link)] = nil
            }
            for link in fact.replaced { userProviders[key(fact.survivor, link)] = nil }
        case .accountsUnmerged(let fact):
            for link in fact.returned {
                userProviders[key(fact.survivor, link)] = nil
                userProviders[key(fact.absorbed, link)] = linkRows[link.position]
            }
            for link in fact.restored {
                userProviders[key(fact.survivor, link)] = linkRows[link.position]
            }
        case .addressConfirmed(let fact):
            if fact.kind == .phone { numberProofs[fact.address] = recorded.recordedAt }
        case .addressChanged(let fact):
            if fact.kind == .phone { numberProofs[fact.address] = recorded.recordedAt }
            guard let email = disclosed.email else { break }
            let subject = fact.address.description
            for (key, row) in userProviders
            where fact.accounts.contains(key.account) && row.providerID == subject {
                userProviders[key]?.email = Email(email.address, isVerified: true)
            }
        case .ledgerOpened, .keyRotated, .accountOpened, .conflictRejected, .linkRejected,
            .unlinkRejected,
            .signedOut, .sessionRevoked, .legalHoldSet, .legalHoldLifted, .ledgerRestored,
            .rulesSet, .addressClaimed, .addressReleased, .passwordSet,
            .accountDisabled, .accountEnabled, .sessionsEnded, .secondFactorEnrolled,
            .secondFactorRemoved,
            .secondFactorRefused, .recoveryCodeUsed, .secondFactorRemovalPlanned,
            .secondFactorRemovalStopped, .passkeyRegistered, .signInThrottled,
            .providerUnlinkPlanned, .providerUnlinkStopped, .accountNamed:
            break
        }
    }
}

/// A contradiction, as a line for the reader of the failure.
struct Contradiction: Error {
    let line: String

    init(_ line: String) {
        self.line = line
    }
}
