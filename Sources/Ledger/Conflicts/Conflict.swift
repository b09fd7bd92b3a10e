/// An account's claim to an identity, refused because of what was linked: the situation, from its first
/// attempt until something ends it.
package struct Conflict: Hashable, Sendable {
    /// Which event.
    package struct Mark: Hashable, Sendable {
        package let position: LogPosition
        package let event: EventID
        package let recordedAt: Timestamp

        /// Names an event by hand.
        package init(position: LogPosition, event: EventID, recordedAt: Timestamp) {
            self.position = position
            self.event = event
            self.recordedAt = recordedAt
        }

        /// Names an event of the log.
        package init(_ recorded: RecordedEvent) {
            self.init(
                position: recorded.position, event: recorded.id, recordedAt: recorded.recordedAt)
        }
    }

    /// The event that ended the situation.
    package struct Resolution: Hashable, Sendable {
        package let mark: Mark
        /// The type of the event.
        package let type: String
        /// Who did it, in the form of the `actor` columns.
        package let actor: String

        /// Describes an event.
        package init(mark: Mark, type: String, actor: String) {
            self.mark = mark
            self.type = type
            self.actor = actor
        }

        /// The event as the log has it.
        package init(_ recorded: RecordedEvent) {
            self.init(
                mark: Mark(recorded), type: recorded.event.name.rawValue,
                actor: recorded.actor.columnText)
        }
    }

    /// Whether it lasts.
    package enum State: String, Sendable, CaseIterable {
        /// The caller would be refused again.
        case open
        /// Something has ended it.
        case resolved
    }

    /// The account that was refused.
    package let caller: AccountID
    /// The account that absorbed the caller, the one that absorbed that, and so on.
    var absorbers: [AccountID]
    /// Never ``ConflictRejected/Reason/alreadyYours``, which is nobody's conflict.
    package let reason: ConflictRejected.Reason
    package let provider: ProviderName
    /// The identity that was claimed; nil when it was never linked to any account.
    package let identity: IdentityID?
    /// The account that held the identity at the first attempt; nil when none did.
    package let holder: AccountID?
    /// The account that holds the identity, or did just after what ended the conflict; nil for none.
    package internal(set) var holderNow: AccountID?
    package let first: Mark
    package internal(set) var last: Mark
    /// How often the claim was refused, as far as the log has it.
    package internal(set) var attempts: Int64
    /// What ended it, or nothing: few conflicts of many have ended, and an optional takes room in all.
    private var endings: [Resolution]

    /// Describes a conflict.
    ///
    /// - Precondition: there is a caller; behind it come the accounts that stand for it.
    package init(
        callers: [AccountID], reason: ConflictRejected.Reason, provider: ProviderName,
        identity: IdentityID?, holder: AccountID?, holderNow: AccountID?, first: Mark, last: Mark,
        attempts: Int64, resolution: Resolution?
    ) {
        precondition(!callers.isEmpty, "somebody was refused")
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

    /// The account that was refused, then those that absorbed it, one after the other.
    package var callers: [AccountID] { [caller] + absorbers }

    /// The account that stands for the caller, or did when the conflict ended for good.
    package var callerNow: AccountID { absorbers.last ?? caller }

    /// What ended it; nil while it lasts.
    package internal(set) var resolution: Resolution? {
        get { endings.first }
        set { endings = newValue.map { [$0] } ?? [] }
    }

    /// Whether it lasts.
    package var state: State { endings.isEmpty ? .open : .resolved }

    /// Whether an event can still change it: it lasts, or what ended it is a merge, which may be taken back.
    var isFollowed: Bool {
        endings.allSatisfy { $0.type == Event.Name.accountsMerged.rawValue }
    }
}
