internal import HTTP
internal import Ledger

/// `POST /v1/merges/{event_id}/undo/preview`: the effects of undoing a merge.
struct UnmergePreviewRoute: Route {
    static let method = "POST"
    static let path = "/v1/merges/{event_id}/undo/preview"

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let merge = call.captures["event_id"].flatMap { EventID($0) }
        let auditRequest = try await call.auditRequest(
            .previewUnmerge, by: .supportRoles, event: merge)
        _ = try call.body(mayBeEmpty: true)
        let command = try await call.unmerge(
            merge, auditRequest, reason: "", reference: "", isPreview: true)
        guard
            case .unmergePlanned(let plan) = try await auditRequest.execute(
                .unmergeAccounts(command))
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
        let auditRequest = try await call.auditRequest(.undoMerge, by: .supportRoles, event: merge)
        let reference = try CaseReference.read(try call.body())
        let reason = try auditRequest.requiredReason()
        let command = try await call.unmerge(
            merge, auditRequest, reason: reason, reference: reference, isPreview: false)
        let reply = try await auditRequest.execute(
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
        _ merge: EventID?, _ auditRequest: AuditRequest, reason: String, reference: String,
        isPreview: Bool
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
            actor: .apiKey(auditRequest.principal), reason: reason, caseReference: reference,
            isPreview: isPreview,
            idempotency: isPreview
                ? nil
                : try idempotency(
                    of: accounts.survivor, auditRequest, UnmergeRoute.method,
                    "/v1/merges/\(merge)/undo"))
    }
}
