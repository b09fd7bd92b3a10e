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
    /// An account is erased; the position of the `AccountErased`, which this command appended or one
    /// before it.
    case erased(at: LogPosition, isNew: Bool)
    /// A legal hold was set.
    case holdSet(HoldID)
    /// A legal hold was lifted.
    case holdLifted
    /// A restore was recorded, at this position.
    case restoreRecorded(at: LogPosition)
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
            .success(.restoreRecorded):
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
            .failure(.tooManyHolds), .failure(.unknownHold):
            nil
        }
    }
}
