/// An event of an account as its holder sees it: nothing about other accounts, no legal hold, and
/// no reason of support.
package struct AccountActivity: Hashable, Sendable {
    /// The kinds of activity; their names stand in answers and never change.
    package enum Kind: String, Sendable, CaseIterable {
        case opened
        case signedIn = "signed_in"
        case signedOut = "signed_out"
        case signedOutEverywhere = "signed_out_everywhere"
        case sessionRevoked = "session_revoked"
        case sessionsEnded = "sessions_ended"
        case signInThrottled = "sign_in_throttled"
        case linked
        case linkRefused = "link_refused"
        case unlinked
        case unlinkRefused = "unlink_refused"
        case unlinkPlanned = "unlink_planned"
        case unlinkStopped = "unlink_stopped"
        case merged
        case mergeUndone = "merge_undone"
        case addressClaimed = "address_claimed"
        case addressConfirmed = "address_confirmed"
        case addressChanged = "address_changed"
        case addressReturned = "address_returned"
        case addressReleased = "address_released"
        case passwordSet = "password_set"
        case passwordChanged = "password_changed"
        case passwordReset = "password_reset"
        case passkeyRegistered = "passkey_registered"
        case factorAdded = "factor_added"
        case factorRemoved = "factor_removed"
        case factorRefused = "factor_refused"
        case factorRemovalPlanned = "factor_removal_planned"
        case factorRemovalStopped = "factor_removal_stopped"
        case recoveryCodeUsed = "recovery_code_used"
        case disabled
        case enabled
    }

    /// The initiator of an event.
    package enum Initiator: String, Sendable, CaseIterable {
        case holder
        case support
        case system
    }

    package let event: EventID
    package let at: Timestamp
    package let kind: Kind
    package let initiator: Initiator
    package let provider: ProviderName?
    package let identity: IdentityID?
    package let session: SessionID?
    /// The kind of the second factor of the event.
    package let factor: FactorKind?
    /// Whether a sign-in was from a device that the account did not know; nil for other events.
    package let isNewDevice: Bool?
    /// The reason of a refusal or of the end of a session, one of the words of its event.
    package let reason: String?
    /// The address of the client, where the holder caused the event and the log still has it.
    package let clientIP: String?

    /// Describes an event for the holder of some accounts that are one; nil for an event that is
    /// not shown.
    ///
    /// - Parameters:
    ///   - recorded: an event that touches one of the accounts.
    ///   - family: the account and those that were merged into it.
    ///   - clientIP: the address that the event discloses.
    package init?(_ recorded: RecordedEvent, of family: Set<AccountID>, clientIP: String?) {
        guard let kind = Kind(recorded, of: family) else { return nil }
        let attributes = recorded.event.fact.attributes
        event = recorded.id
        at = recorded.recordedAt
        self.kind = kind
        initiator = Initiator(recorded.actor, of: family)
        provider = attributes.provider
        // That of a conflict was made when another account linked it.
        identity = recorded.event.name == .conflictRejected ? nil : attributes.identity
        session = attributes.session
        factor = recorded.event.factorKind
        isNewDevice =
            if case .signedIn(let fact) = recorded.event { fact.device == .new } else { nil }
        // Which link a conflict met is about another account, or is known to the holder.
        reason =
            kind.hasReason && recorded.event.name != .conflictRejected ? attributes.reason : nil
        self.clientIP = initiator == .holder ? clientIP : nil
    }
}

extension AccountActivity.Kind {
    /// Whether the reason of the event is one that its holder may know.
    fileprivate var hasReason: Bool {
        [.linkRefused, .unlinkRefused, .sessionRevoked].contains(self)
    }

    /// Nil for an event that the holder does not see.
    fileprivate init?(_ recorded: RecordedEvent, of family: Set<AccountID>) {
        switch recorded.event {
        case .ledgerOpened, .keyRotated, .ledgerRestored, .rulesSet, .accountErased, .legalHoldSet,
            .legalHoldLifted, .accountNamed:
            return nil
        case .conflictRejected:
            // The holder of the identity is not told who asked for it.
            guard let caller = recorded.accounts.first?.id, family.contains(caller) else {
                return nil
            }
            self = .linkRefused
        case .accountOpened: self = .opened
        case .signedIn: self = .signedIn
        case .signedOut(let fact):
            self = fact.scope == .everywhere ? .signedOutEverywhere : .signedOut
        case .sessionRevoked: self = .sessionRevoked
        case .sessionsEnded: self = .sessionsEnded
        case .signInThrottled: self = .signInThrottled
        case .providerLinked: self = .linked
        case .linkRejected: self = .linkRefused
        case .providerUnlinked: self = .unlinked
        case .unlinkRejected: self = .unlinkRefused
        case .providerUnlinkPlanned: self = .unlinkPlanned
        case .providerUnlinkStopped: self = .unlinkStopped
        case .accountsMerged: self = .merged
        case .accountsUnmerged: self = .mergeUndone
        case .addressClaimed: self = .addressClaimed
        case .addressConfirmed: self = .addressConfirmed
        case .addressChanged(let fact):
            self = fact.cause == .change ? .addressChanged : .addressReturned
        case .addressReleased: self = .addressReleased
        case .passwordSet(let fact):
            switch fact.cause {
            case .signUp, .link, .imported: self = .passwordSet
            case .change: self = .passwordChanged
            case .reset: self = .passwordReset
            }
        case .passkeyRegistered: self = .passkeyRegistered
        case .secondFactorEnrolled: self = .factorAdded
        case .secondFactorRemoved: self = .factorRemoved
        case .secondFactorRefused: self = .factorRefused
        case .secondFactorRemovalPlanned: self = .factorRemovalPlanned
        case .secondFactorRemovalStopped: self = .factorRemovalStopped
        case .recoveryCodeUsed: self = .recoveryCodeUsed
        case .accountDisabled: self = .disabled
        case .accountEnabled: self = .enabled
        }
    }
}

extension AccountActivity.Initiator {
    /// The holder of another account counts as the system: the event says nothing about them.
    fileprivate init(_ actor: Actor, of family: Set<AccountID>) {
        switch actor {
        case .account(let account, _): self = family.contains(account) ? .holder : .system
        case .system: self = .system
        case .principal: self = .support
        }
    }
}

extension Event {
    fileprivate var factorKind: FactorKind? {
        switch self {
        case .secondFactorEnrolled(let fact): fact.kind
        case .secondFactorRemoved(let fact): fact.kind
        default: nil
        }
    }
}

/// A page of the activity of an account, newest first.
package struct ActivityPage: Hashable, Sendable {
    package let rows: [AccountActivity]
    /// Whether earlier rows follow the last one.
    package let hasMore: Bool

    /// Collects a page.
    package init(rows: [AccountActivity], hasMore: Bool) {
        self.rows = rows
        self.hasMore = hasMore
    }
}

/// Reads the recent activity of accounts for their holders.
package protocol ActivityReader: Sendable {
    /// Returns the last events of an account and of those merged into it, newest first, before an
    /// event; nil when that is not among those that are read.
    ///
    /// The work is bounded: at most the last events of each account are read.
    func activity(
        of account: AccountID, before event: EventID?, limit: Int, in tenant: TenantID
    ) async throws(LedgerFault) -> ActivityPage?
}
