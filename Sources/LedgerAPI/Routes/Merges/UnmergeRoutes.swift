internal import HTTP
internal import Ledger

/// `POST /v1/merges/{event_id}/undo/preview`: what taking a merge back would do.
struct UnmergePreviewRoute: Route {
    static let method = "POST"
    static let path = "/v1/merges/{event_id}/undo/preview"

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let merge = call.captures["event_id"].flatMap { EventID($0) }
        let visit = try await call.visit(.previewUnmerge, by: .caseWorkers, event: merge)
        _ = try RequestBody(call.request, mayBeEmpty: true)
        try await visit.record()
        let command = try await call.unmerge(
            merge, visit, reason: "", reference: "", isPreview: true)
        guard case .unmergePlanned(let plan) = try await call.submit(.unmergeAccounts(command))
        else { throw .faulted(.internalFailure) }
        return .json(UnmergeAnswer(plan: plan, event: nil))
    }
}

/// `POST /v1/merges/{event_id}/undo`: takes a merge back, for support, with a reason and a case.
struct UnmergeRoute: Route {
    static let method = "POST"
    static let path = "/v1/merges/{event_id}/undo"

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let merge = call.captures["event_id"].flatMap { EventID($0) }
        let visit = try await call.visit(.undoMerge, by: .caseWorkers, event: merge)
        let reference = try CaseReference.read(try RequestBody(call.request))
        let reason = try visit.requiredReason()
        try await visit.record(details: ["case": reference])
        let command = try await call.unmerge(
            merge, visit, reason: reason, reference: reference, isPreview: false)
        guard
            case .unmerged(let plan, let event?) = try await call.submit(
                .unmergeAccounts(command))
        else { throw .faulted(.internalFailure) }
        return .json(UnmergeAnswer(plan: plan, event: event))
    }
}

extension RouteCall {
    /// The command that takes a merge back.
    ///
    /// - Throws: 404 when no event of that name is a merge.
    fileprivate func unmerge(
        _ merge: EventID?, _ visit: Visit, reason: String, reference: String, isPreview: Bool
    ) async throws(APIError) -> UnmergeAccounts {
        guard let merge else { throw .refused(.unknownMerge) }
        let found: ShownEvent?
        do {
            found = try await services.audit.events.event(merge, in: tenant, isDisclosing: false)
        } catch {
            throw .faulted(error)
        }
        guard case .accountsMerged(let fact) = found?.recorded?.event else {
            throw .refused(.unknownMerge)
        }
        return UnmergeAccounts(
            merge: merge, survivor: fact.survivor, absorbed: fact.absorbed,
            actor: .apiKey(visit.principal), reason: reason, caseReference: reference,
            isPreview: isPreview)
    }
}
