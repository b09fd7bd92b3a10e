/// The successful results of commands, as the queue carries them.
///
/// A submitted ``LedgerRequest`` gets a result of its own type.
package enum Reply: Hashable, Sendable {
    /// A ledger was opened, or is open already.
    case opened
    /// A key rotation was recorded.
    case keyRotated
    /// The rules that are recorded now, whether this command recorded them, and the providers with
    /// identities that they omit, in order.
    case rulesRecorded(RulesSet, isNew: Bool, omitted: [ProviderName])
    /// A session was opened.
    case signedIn(Grant, isNewUser: Bool)
    /// An identity was linked; the account's providers in linking order.
    case linked([ProviderName])
    /// An identity was unlinked; the account's providers in linking order.
    case unlinked([ProviderName])
    /// Sessions ended.
    case signedOut
    /// A password was changed, and a session was opened.
    case passwordChanged(Grant)
    /// A password was reset; the account's providers in linking order.
    case passwordReset([ProviderName])
    /// An address was changed, and a session was opened.
    case addressChanged(Grant)
    /// A former address was taken back; the account's providers in linking order.
    case addressTakenBack([ProviderName])
    /// Refused sign-ins are recorded.
    case throttlingRecorded
    /// An account has an imported password.
    case passwordImported(AccountID, ImportPassword.Effect)
    /// The result of the import of an account of another system.
    case accountImported(ImportAccount.Success)
    /// A second factor or recovery codes were enrolled; the session that the first factor opened.
    case factorEnrolled(isFirst: Bool, Grant?)
    /// A second factor or recovery codes were removed.
    case factorRemoved
    /// The planned removal of a second factor was stopped when it was due, because the account could not be signed in
    /// to with the others.
    case factorKept
    /// The plan of the removal of a second factor.
    case factorRemovalPreviewed(PlanFactorRemoval.Plan)
    /// The removal of a second factor was planned or stopped, by this event; nil until it is recorded.
    case factorRemovalPlanned(PlanFactorRemoval.Plan, EventID?)
    /// The removal of a second factor is as requested already.
    case factorRemovalUnchanged(PlanFactorRemoval.Plan)
    /// The plan of the unlink of an identity by support.
    case unlinkPreviewed(PlanUnlink.Plan)
    /// The unlink of an identity was planned or stopped, by this event; nil until it is recorded.
    case unlinkPlanned(PlanUnlink.Plan, EventID?)
    /// The unlink of an identity is as requested already.
    case unlinkUnchanged(PlanUnlink.Plan)
    /// The planned unlink of an identity ended.
    case unlinkPlanEnded(EndUnlinkPlan.Success)
    /// A refresh token was exchanged.
    case refreshed(Grant, RefreshTokenState.Exchange)
    /// An account is erased: the position of its `AccountErased`, appended by this command or
    /// before, and every account that this command erased; after an earlier erasure only the
    /// account itself.
    case erased(at: LogPosition, isNew: Bool, covering: [AccountID])
    /// The accounts that an erasure would cover, and the data it would destroy.
    case erasurePlanned(ErasurePlan, ErasureLosses)
    /// An erasure was asked for, by this command or before, and has to be confirmed.
    case erasureAsked(ErasureRequest)
    /// A request for an erasure was withdrawn.
    case erasureWithdrawn
    /// A legal hold was set.
    case holdSet(HoldID)
    /// A legal hold was lifted.
    case holdLifted
    /// A restore was recorded, at this position.
    case restoreRecorded(at: LogPosition)
    /// The plan of a merge, and its digest.
    case mergePlanned(MergePlan, Digest)
    /// The digest of the request to merge accounts, which another person has to confirm.
    case mergeAsked(Digest)
    /// Accounts were merged as planned, by this event; nil until it is recorded.
    case merged(MergePlan, EventID?)
    /// The plan of undoing a merge, and whether it needs two persons.
    case unmergePlanned(UnmergeAccounts.Plan, needsTwo: Bool)
    /// The digest of the request to undo a merge, which another person has to confirm.
    case unmergeAsked(Digest)
    /// A merge was undone as planned, by this event; nil until it is recorded.
    case unmerged(UnmergeAccounts.Plan, EventID?)
    /// The plan of linking an identity again.
    case relinkPlanned(RelinkProvider.Plan)
    /// An identity was linked again as planned, by this event; nil until it is recorded.
    case relinked(RelinkProvider.Plan, EventID?)
    /// The plan of a change of access.
    case accessPlanned(ChangeAccess.Plan)
    /// Access to an account was changed, by this event; nil until it is recorded.
    case accessChanged(ChangeAccess.Plan, EventID?)
    /// Access to an account is as requested already.
    case accessUnchanged(ChangeAccess.Plan)

    /// Returns the reply with the id of the recorded event filled in, if it lacks one.
    package func naming(_ recorded: some BidirectionalCollection<Recording>) -> Reply {
        switch self {
        case .merged(let plan, let event): .merged(plan, event ?? recorded.last?.recorded.id)
        case .unmerged(let plan, let event): .unmerged(plan, event ?? recorded.last?.recorded.id)
        case .relinked(let plan, let event): .relinked(plan, event ?? recorded.last?.recorded.id)
        case .accessChanged(let plan, let event):
            .accessChanged(plan, event ?? recorded.last?.recorded.id)
        case .factorRemovalPlanned(let plan, let event):
            .factorRemovalPlanned(plan, event ?? recorded.last?.recorded.id)
        case .unlinkPlanned(let plan, let event):
            .unlinkPlanned(plan, event ?? recorded.last?.recorded.id)
        case .factorEnrolled, .factorRemoved, .factorKept, .factorRemovalPreviewed,
            .factorRemovalUnchanged,
            .unlinkPreviewed, .unlinkUnchanged, .unlinkPlanEnded,
            .passwordChanged, .passwordReset, .addressChanged, .addressTakenBack, .passwordImported,
            .accountImported,
            .throttlingRecorded,
            .opened, .keyRotated,
            .rulesRecorded, .signedIn, .linked, .unlinked, .signedOut, .refreshed, .erased,
            .erasurePlanned, .erasureAsked, .erasureWithdrawn, .holdSet, .holdLifted,
            .restoreRecorded, .mergePlanned, .mergeAsked,
            .unmergePlanned, .unmergeAsked, .relinkPlanned, .accessPlanned, .accessUnchanged:
            self
        }
    }
}

/// The data for an access token.
package struct Grant: Hashable, Sendable {
    package let account: AccountID
    package let session: SessionID
    package let authenticatedAt: Timestamp
    package let methods: AuthenticationMethods
    package let linkedProviders: [ProviderName]
    /// The time of the command that opened the session; nil for a refreshed one.
    package let openedAt: Timestamp?

    /// Describes a session and its account.
    package init(
        account: AccountID, session: SessionID, authenticatedAt: Timestamp,
        methods: AuthenticationMethods, linkedProviders: [ProviderName],
        openedAt: Timestamp? = nil
    ) {
        self.account = account
        self.session = session
        self.authenticatedAt = authenticatedAt
        self.methods = methods
        self.linkedProviders = linkedProviders
        self.openedAt = openedAt
    }
}
