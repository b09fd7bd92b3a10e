/// The stored answers of idempotency keys, in their storage format.
package struct StoredAnswer: Hashable, Sendable {
    package private(set) var result: Result<Reply, Refusal>

    /// Wraps a result; nil for one that no idempotent command has.
    package init?(_ result: Result<Reply, Refusal>) {
        self.result = result
        guard text != nil else { return nil }
    }

    /// Reads the storage format.
    package init?(text: String) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        switch parts[0] {
        case "linked", "unlinked":
            let names = parts[1].split(separator: ",").map { ProviderName(String($0)) }
            let providers = names.compactMap(\.self)
            guard providers.count == names.count else { return nil }
            result = .success(parts[0] == "linked" ? .linked(providers) : .unlinked(providers))
        case "merged":
            guard let reply = MergeFields(parts[1]).merged() else { return nil }
            result = .success(reply)
        case "unmerged":
            guard let reply = MergeFields(parts[1]).unmerged() else { return nil }
            result = .success(reply)
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

    /// Returns the answer with the id of the recorded event filled in.
    func naming(_ recorded: some BidirectionalCollection<Recording>) -> StoredAnswer {
        var named = self
        named.result = result.map { $0.naming(recorded) }
        return named
    }

    /// The storage format, such as `linked:apple,google`; never nil in a value that was
    /// constructed.
    package var text: String? {
        switch result {
        case .success(.linked(let providers)):
            "linked:" + providers.map(\.description).joined(separator: ",")
        case .success(.unlinked(let providers)):
            "unlinked:" + providers.map(\.description).joined(separator: ",")
        case .success(.merged(let plan, let event)):
            "merged:" + MergeFields(plan, event).description
        case .success(.unmerged(let plan, let event)):
            "unmerged:" + MergeFields(plan, event).description
        case .success(.factorEnrolled), .success(.factorRemoved), .success(.factorKept),
            .success(.factorRemovalPreviewed), .success(.factorRemovalPlanned),
            .success(.factorRemovalUnchanged),
            .success(.unlinkPreviewed), .success(.unlinkPlanned), .success(.unlinkUnchanged),
            .success(.unlinkPlanEnded),
            .success(.passwordChanged), .success(.addressChanged),
            .success(.passwordReset), .success(.addressTakenBack), .success(.throttlingRecorded),
            .success(.passwordImported), .success(.accountImported),
            .success(.opened),
            .success(.keyRotated),
            .success(.rulesRecorded),
            .success(.signedIn), .success(.signedOut),
            .success(.refreshed),
            .success(.erased), .success(.erasurePlanned), .success(.erasureAsked),
            .success(.erasureWithdrawn), .success(.holdSet), .success(.holdLifted),
            .success(.restoreRecorded), .success(.mergePlanned), .success(.unmergePlanned),
            .success(.mergeAsked), .success(.unmergeAsked),
            .success(.relinkPlanned), .success(.relinked), .success(.accessPlanned),
            .success(.accessChanged), .success(.accessUnchanged):
            nil
        case .failure(.providerConflict(let reason)): "conflict:\(reason.rawValue)"
        case .failure(.invalidProviderToken): "refused:invalid_id_token"
        case .failure(.onlyProvider): "refused:only_provider"
        case .failure(.reauthenticationRequired): "refused:reauthentication_required"
        case .failure(.unknownTenant), .failure(.sessionEnded), .failure(.unsupportedProvider),
            .failure(.rateLimited), .failure(.accountNotFound), .failure(.providerNotLinked),
            .failure(.identityNotNamed), .failure(.invalidRefreshToken),
            .failure(.idempotencyKeyReused), .failure(.providerUnavailable),
            .failure(.unknownAccount), .failure(.accountErased), .failure(.erasurePlanChanged),
            .failure(.secondAdministratorRequired), .failure(.secondPersonRequired),
            .failure(.erasureRequested),
            .failure(.unknownErasureRequest), .failure(.legalHold),
            .failure(.tooManyHolds), .failure(.unknownHold), .failure(.accountMerged),
            .failure(.sameAccount), .failure(.nothingToChoose), .failure(.tooMuchToMerge),
            .failure(.mergePlanChanged), .failure(.mergeSuperseded), .failure(.unknownMerge),
            .failure(.relinkRefused), .failure(.providerPinned), .failure(.accountsLockedOut),
            .failure(.rulesTooLong), .failure(.invalidCode), .failure(.invalidPassword),
            .failure(.accountDisabled), .failure(.secondFactorRequired), .failure(.factorRefused),
            .failure(.unknownFactor), .failure(.secondFactorEnrolled), .failure(.addressUnused):
            nil
        }
    }
}
