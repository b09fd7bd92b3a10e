internal import HTTP
internal import Ledger

/// `POST /v1/merges/{event_id}/undo/preview`: the effects of undoing a merge.
struct UnmergePreviewRoute: Route {
    static let method = "POST"
    static let path = "/v1/merges/{event_id}/undo/preview"

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let merge = call.captures["event_id"].flatMap { EventID($0) }
        let visit = try await call.visit(.previewUnmerge, by: .caseWorkers, event: merge)
        _ = try RequestBody(call.request, mayBeEmpty: true)
        let command = try await call.unmerge(
            merge, visit, reason: "", reference: "", isPreview: true)
        guard case .unmergePlanned(let plan) = try await visit.carryOut(.unmergeAccounts(command))
        else { throw .faulted(.internalFailure) }
        return .json(UnmergeAnswer(plan: plan, event: nil))
    }
}

/// `POST /v1/merges/{event_id}/undo`: undoes a merge, for support, with a reason and a case.
struct UnmergeRoute: Route {
    static let method = "POST"
    static let path = "/v1/merges/{event_id}/undo"

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let merge = call.captures["event_id"].flatMap { EventID($0) }
        let visit = try await call.visit(.undoMerge, by: .caseWorkers, event: merge)
        let reference = try CaseReference.read(try RequestBody(call.request))
        let reason = try visit.requiredReason()
        let command = try await call.unmerge(
            merge, visit, reason: reason, reference: reference, isPreview: false)
        let reply = try await visit.carryOut(
            .unmergeAccounts(command),
            details: [
                "case": reference, "survivor": command.survivor.description,
                "absorbed": command.absorbed.description,
            ])
        guard case .unmerged(let plan, let event?) = reply else { throw .faulted(.internalFailure) }
        return .json(UnmergeAnswer(plan: plan, event: event))
    }
}

extension RouteCall {
    /// Returns the command that undoes a merge; for an unknown merge it names no account, and is
    /// refused.
    fileprivate func unmerge(
        _ merge: EventID?, _ visit: Visit, reason: String, reference: String, isPreview: Bool
    ) async throws(APIError) -> UnmergeAccounts {
        let merge = merge ?? EventID(bits: 0)
        let found: ShownEvent?
        do {
            found = try await services.audit.events.event(merge, in: tenant, isDisclosing: false)
        } catch {
            throw .faulted(error)
        }
        var accounts = (survivor: AccountID(bits: 0), absorbed: AccountID(bits: 0))
        if case .accountsMerged(let fact) = found?.recorded?.event {
            accounts = (survivor: fact.survivor, absorbed: fact.absorbed)
        }
        return UnmergeAccounts(
            merge: merge, survivor: accounts.survivor, absorbed: accounts.absorbed,
            actor: .apiKey(visit.principal), reason: reason, caseReference: reference,
            isPreview: isPreview,
            idempotency: isPreview
                ? nil
                : try idempotency(
                    of: accounts.survivor, visit, UnmergeRoute.method,
                    "/v1/merges/\(merge)/undo"))
    }
}
