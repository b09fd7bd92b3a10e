/// An account's refused claim to an identity, from its first attempt until an event resolves it.
package struct Conflict: Hashable, Sendable {
    /// A reference to an event.
    package struct Mark: Hashable, Sendable {
        package let position: LogPosition
        package let event: EventID
        package let recordedAt: Timestamp

        /// Creates a reference from its parts.
        package init(position: LogPosition, event: EventID, recordedAt: Timestamp) {
            self.position = position
            self.event = event
            self.recordedAt = recordedAt
        }

        /// Creates a reference to an event of the log.
        package init(_ recorded: RecordedEvent) {
            self.init(
                position: recorded.position, event: recorded.id, recordedAt: recorded.recordedAt)
        }
    }

    /// The event that resolved the conflict.
    package struct Resolution: Hashable, Sendable {
        package let mark: Mark
        /// The type of the event.
        package let type: String
        /// The actor, in the format of the `actor` columns.
        package let actor: String

        /// Describes an event.
        package init(mark: Mark, type: String, actor: String) {
            self.mark = mark
            self.type = type
            self.actor = actor
        }

        /// Creates the resolution from an event of the log.
        package init(_ recorded: RecordedEvent) {
            self.init(
                mark: Mark(recorded), type: recorded.event.name.rawValue,
                actor: recorded.actor.columnText)
        }
    }

    /// The state of a conflict.
    package enum State: String, Sendable, CaseIterable {
        /// A repeated claim would be refused again.
        case open
        /// An event has resolved it.
        case resolved
    }

    /// The account whose claim was refused.
    package let caller: AccountID
    /// The chain of accounts that absorbed the caller, in order.
    var absorbers: [AccountID]
    /// Never ``ConflictRejected/Reason/alreadyYours``, which is not a conflict between accounts.
    package let reason: ConflictRejected.Reason
    package let provider: ProviderName
    /// The identity that was claimed; nil when it was never linked to any account.
    package let identity: IdentityID?
    /// The account that held the identity at the first attempt; nil when none did.
    package let holder: AccountID?
    /// The account that holds the identity, or held it just after the resolution; nil for none.
    package internal(set) var holderNow: AccountID?
    package let first: Mark
    package internal(set) var last: Mark
    /// The number of refused attempts in the log.
    package internal(set) var attempts: Int64
    /// The resolution, or empty: few conflicts are resolved, and an optional takes space in all of
    /// them.
    private var endings: [Resolution]

    /// Describes a conflict.
    ///
    /// - Precondition: there is a caller; the accounts that absorbed it follow.
    package init(
        callers: [AccountID], reason: ConflictRejected.Reason, provider: ProviderName,
        identity: IdentityID?, holder: AccountID?, holderNow: AccountID?, first: Mark, last: Mark,
        attempts: Int64, resolution: Resolution?
    ) {
        precondition(!callers.isEmpty, "a conflict has a caller")
        caller = callers[0]
        absorbers = Array(callers.dropFirst())
        self.reason = reason
        self.provider = provider
        self.identity = identity
        self.holder = holder
        self.holderNow = holderNow
        self.first = first
        self.last = last
        self.attempts = attempts
        endings = resolution.map { [$0] } ?? []
    }

    /// The caller, then the accounts that absorbed it, in order.
    package var callers: [AccountID] { [caller] + absorbers }

    /// The survivor of the caller, now or at the final resolution.
    package var callerNow: AccountID { absorbers.last ?? caller }

    /// The resolution; nil while the conflict is open.
    package internal(set) var resolution: Resolution? {
        get { endings.first }
        set { endings = newValue.map { [$0] } ?? [] }
    }

    /// Whether the conflict is open or resolved.
    package var state: State { endings.isEmpty ? .open : .resolved }

    /// Whether an event can still change it: it is open, or a merge resolved it, which can be
    /// undone.
    var isFollowed: Bool {
        endings.allSatisfy { $0.type == Event.Name.accountsMerged.rawValue }
    }
}
