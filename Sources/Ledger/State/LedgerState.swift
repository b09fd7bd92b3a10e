/// The fold of one tenant's log, or the part of it that a batch of commands needs.
///
/// The same `apply` replays history and advances decision state. A part is built by loading the
/// accounts that a batch touches, each with all its links; whatever was not loaded is absent, so an
/// event that touches it is a fault and not a guess.
package struct LedgerState: Sendable {
    package let tenant: TenantID
    /// The position that the next event gets.
    package internal(set) var nextPosition: LogPosition
    /// The time of the last event.
    package internal(set) var lastRecordedAt: Timestamp
    /// The tenant's rules; nil while the log has none.
    package internal(set) var rules: RulesSet?
    package internal(set) var accounts: [AccountID: Account] = [:]
    package internal(set) var identities: [IdentityID: Identity] = [:]
    package internal(set) var sessions: [SessionID: Session] = [:]
    package internal(set) var addresses: [AddressID: HeldAddress] = [:]
    /// By position.
    package internal(set) var names: [LogPosition: HeldName] = [:]
    /// The version of each identity's password: the position of its `PasswordSet`.
    package internal(set) var passwords: [IdentityID: LogPosition] = [:]
    /// The second factors and sets of recovery codes; of accounts whose factors are loaded.
    package internal(set) var factors: [FactorID: HeldFactor] = [:]
    /// The live ``sessions``, by account.
    var liveSessions: [AccountID: Set<SessionID>] = [:]

    /// The state before the first event, or a part of the state at a position.
    package init(
        tenant: TenantID, nextPosition: LogPosition = LogPosition(0),
        lastRecordedAt: Timestamp = Timestamp(microseconds: 0)
    ) {
        self.tenant = tenant
        self.nextPosition = nextPosition
        self.lastRecordedAt = lastRecordedAt
    }

    /// Reserves capacity for the rows that a number of commands load.
    mutating func reserve(forCommands count: Int) {
        accounts.reserveCapacity(count)
        identities.reserveCapacity(2 * count)
        sessions.reserveCapacity(count)
        liveSessions.reserveCapacity(count)
    }

    /// Adds the loaded rules.
    package mutating func load(_ rules: RulesSet) {
        self.rules = rules
    }

    /// Adds a loaded account.
    package mutating func load(_ account: Account) {
        accounts[account.id] = account
    }

    /// Adds a loaded link to its loaded account, in linking order; false for a duplicate.
    package mutating func load(_ link: Account.Link, of account: AccountID) -> Bool {
        guard let links = accounts[account]?.links,
            !links.contains(where: { $0.identity == link.identity })
        else { return false }
        accounts[account]?.links.insert(link)
        return true
    }

    /// Adds a loaded identity.
    package mutating func load(_ identity: Identity) {
        identities[identity.id] = identity
    }

    /// Adds a loaded session.
    package mutating func load(_ session: Session) {
        sessions[session.id] = session
        if session.endedPosition == nil {
            liveSessions[session.account, default: []].insert(session.id)
        }
    }

    /// Adds a loaded address.
    package mutating func load(_ address: HeldAddress) {
        addresses[address.id] = address
    }

    /// Adds a loaded name.
    package mutating func load(_ name: HeldName) {
        names[name.position] = name
    }

    /// Adds the loaded version of a password.
    package mutating func load(passwordOf identity: IdentityID, version: LogPosition) {
        passwords[identity] = version
    }

    /// Adds a loaded second factor.
    package mutating func load(_ factor: HeldFactor) {
        factors[factor.id] = factor
    }

    /// Adds a loaded account's legal holds to it.
    package mutating func load(_ holds: [HoldID], on account: AccountID) {
        accounts[account]?.holds = holds
    }

    /// Sets the survivor of a loaded account.
    package mutating func load(mergedInto survivor: AccountID, of account: AccountID) {
        accounts[account]?.mergedInto = survivor
    }

    /// Adds a loaded merge to its loaded survivor; merges must come in log order.
    package mutating func load(_ merge: Merge) {
        guard accounts[merge.survivor]?.merges.contains(merge) == false else { return }
        accounts[merge.survivor]?.merges.append(merge)
    }

    /// Checks whether an identity was erased with its last account.
    package func isForgotten(_ identity: Identity) -> Bool {
        accounts[identity.lastAccount]?.erasedPosition != nil
    }

    /// Returns the account's part in the next event.
    func reference(to account: AccountID) -> AccountReference {
        guard let known = accounts[account] else {
            return AccountReference(id: account, previous: nil, sequence: 0)
        }
        return AccountReference(
            id: account, previous: known.lastLeaf, sequence: known.nextSequence)
    }
}

/// The reasons why an event cannot follow the state before it: a damaged log, or a bug.
package enum FoldFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The event belongs to another tenant's log.
    case otherTenant
    /// The event is not the next one.
    case position(expected: LogPosition)
    /// The event is dated before the one that it follows.
    case timeWentBack
    /// The account's own sequence has a gap or a repetition.
    case sequence(AccountID)
    /// The account's part does not name the account's previous event.
    case previous(AccountID)
    /// The event's accounts are not those of its fact.
    case accounts
    /// The fact contradicts the state before it; says how.
    case impossible(String)

    package var description: String {
        switch self {
        case .otherTenant: "the entry names another tenant"
        case .position(let expected): "the entry does not belong at position \(expected)"
        case .timeWentBack: "recorded_at goes back"
        case .sequence(let account): "seq of account \(account) has a gap"
        case .previous(let account): "prev of account \(account) is not its previous event"
        case .accounts: "the accounts do not match the fact"
        case .impossible(let why): why
        }
    }
}
