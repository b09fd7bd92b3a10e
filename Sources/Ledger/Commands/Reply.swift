/// What a command that was done gives back.
package enum Reply: Hashable, Sendable {
    /// A ledger was opened, or was open before.
    case opened
    /// It is written down that a key took another's place.
    case keyRotated
    /// A session was opened.
    case signedIn(Grant, isNewUser: Bool)
    /// An identity was linked; the account's providers in linking order.
    case linked([ProviderName])
    /// An identity was unlinked; the account's providers in linking order.
    case unlinked([ProviderName])
    /// Sessions ended.
    case signedOut
    /// A refresh token was exchanged.
    case refreshed(Grant, RefreshTokenState.Exchange)
    /// An account is erased; the position of its `AccountErased`, which this command appended or one
    /// before it, and the other accounts that this command erased because they are one with it.
    case erased(at: LogPosition, isNew: Bool, covering: [AccountID])
    /// A legal hold was set.
    case holdSet(HoldID)
    /// A legal hold was lifted.
    case holdLifted
    /// A restore was recorded, at this position.
    case restoreRecorded(at: LogPosition)
    /// What a merge would do, and the digest of that.
    case mergePlanned(MergePlan, Digest)
    /// Accounts were merged as planned, by this event; nil until it is recorded.
    case merged(MergePlan, EventID?)
    /// What taking a merge back would do.
    case unmergePlanned(UnmergeAccounts.Plan)
    /// A merge was taken back as planned, by this event; nil until it is recorded.
    case unmerged(UnmergeAccounts.Plan, EventID?)

    /// The same with the name of the event that was recorded.
    package func naming(_ recorded: some BidirectionalCollection<Recording>) -> Reply {
        switch self {
        case .merged(let plan, _): .merged(plan, recorded.last?.recorded.id)
        case .unmerged(let plan, _): .unmerged(plan, recorded.last?.recorded.id)
        case .opened, .keyRotated, .signedIn, .linked, .unlinked, .signedOut, .refreshed, .erased,
            .holdSet, .holdLifted, .restoreRecorded, .mergePlanned, .unmergePlanned:
            self
        }
    }
}

/// What an access token is made from.
package struct Grant: Hashable, Sendable {
    package let account: AccountID
    package let session: SessionID
    package let authenticatedAt: Timestamp
    package let linkedProviders: [ProviderName]

    /// Describes whose session it is.
    package init(
        account: AccountID, session: SessionID, authenticatedAt: Timestamp,
        linkedProviders: [ProviderName]
    ) {
        self.account = account
        self.session = session
        self.authenticatedAt = authenticatedAt
        self.linkedProviders = linkedProviders
    }
}

/// The answers that an idempotency key gives again, in the form in which they are kept.
package struct StoredAnswer: Hashable, Sendable {
    package let result: Result<Reply, Refusal>

    /// Wraps a result; nil for one that no idempotent command can have.
    package init?(_ result: Result<Reply, Refusal>) {
        self.result = result
        guard text != nil else { return nil }
    }

    /// Reads the kept form.
    package init?(text: String) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        switch parts[0] {
        case "linked", "unlinked":
            let names = parts[1].split(separator: ",").map { ProviderName(String($0)) }
            let providers = names.compactMap(\.self)
            guard providers.count == names.count else { return nil }
            result = .success(parts[0] == "linked" ? .linked(providers) : .unlinked(providers))
        case "conflict":
            guard let reason = ConflictRejected.Reason(rawValue: String(parts[1])) else {
                return nil
            }
            result = .failure(.providerConflict(reason))
        case "refused":
            switch parts[1] {
            case "invalid_id_token": result = .failure(.invalidProviderToken)
            case "only_provider": result = .failure(.onlyProvider)
            case "reauthentication_required": result = .failure(.reauthenticationRequired)
            default: return nil
            }
        default:
            return nil
        }
    }

    /// The kept form, such as `linked:apple,google`; always there in a value that was made.
    package var text: String? {
        switch result {
        case .success(.linked(let providers)):
            "linked:" + providers.map(\.description).joined(separator: ",")
        case .success(.unlinked(let providers)):
            "unlinked:" + providers.map(\.description).joined(separator: ",")
        case .success(.opened), .success(.keyRotated), .success(.signedIn), .success(.signedOut),
            .success(.refreshed),
            .success(.erased), .success(.holdSet), .success(.holdLifted),
            .success(.restoreRecorded), .success(.mergePlanned), .success(.merged),
            .success(.unmergePlanned), .success(.unmerged):
            nil
        case .failure(.providerConflict(let reason)): "conflict:\(reason.rawValue)"
        case .failure(.invalidProviderToken): "refused:invalid_id_token"
        case .failure(.onlyProvider): "refused:only_provider"
        case .failure(.reauthenticationRequired): "refused:reauthentication_required"
        case .failure(.unknownTenant), .failure(.sessionEnded), .failure(.unsupportedProvider),
            .failure(.rateLimited), .failure(.accountNotFound), .failure(.providerNotLinked),
            .failure(.identityNotNamed), .failure(.invalidRefreshToken),
            .failure(.idempotencyKeyReused), .failure(.providerUnavailable),
            .failure(.unknownAccount), .failure(.accountErased), .failure(.legalHold),
            .failure(.tooManyHolds), .failure(.unknownHold), .failure(.accountMerged),
            .failure(.sameAccount), .failure(.nothingToChoose), .failure(.tooMuchToMerge),
            .failure(.mergePlanChanged), .failure(.mergeSuperseded), .failure(.unknownMerge):
            nil
        }
    }
}
