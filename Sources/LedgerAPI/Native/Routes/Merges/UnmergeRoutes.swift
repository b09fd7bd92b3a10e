internal import HTTP
internal import Ledger

/// `POST /v1/merges/{event_id}/undo/preview`: the effects of undoing a merge.
struct UnmergePreviewRoute: Route {
    static let method = "POST"
    static let path = "/v1/merges/{event_id}/undo/preview"
    static let operation = Operation(
        id: "preview_undo_of_merge", tag: .support, summary: "The effects of undoing a merge",
        about: "With the request of another person it checks that too, and names that person.",
        access: .principal(.supportRoles), parameters: [ReasonHeader.beside],
        body: UnmergePreviewBody.self, answers: .json(UnmergePlanAnswer.schema),
        refusals: .ofUnmerge)

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let merge = call.captures["event_id"].flatMap { EventID($0) }
        let auditRequest = try await call.auditRequest(.previewUnmerge, event: merge)
        let request = try UndoRequest(call.body())
        let named = try await call.mergedAccounts(merge)
        let planned = try await auditRequest.execute(
            UnmergeAccounts.Preview(
                merge: named.merge, survivor: named.survivor, absorbed: named.absorbed,
                actor: .principal(auditRequest.principal),
                step: call.step(after: request, of: named.survivor)))
        return .json(UnmergePlanAnswer(planned: planned, asker: request?.asker))
    }
}

/// `POST /v1/merges/{event_id}/undo`: undoes a merge, for support, with a reason and a case.
struct UnmergeRoute: Route {
    static let method = "POST"
    static let path = "/v1/merges/{event_id}/undo"
    static let operation = Operation(
        id: "undo_merge", tag: .support, summary: "Undo a merge",
        about:
            "Where the account that stayed has a second factor it only asks for the undoing: the"
            + " answer is 202, and its `undo_request` lets another person undo the merge within the"
            + " hour.",
        access: .principal(.supportRoles),
        parameters: [ReasonHeader.beside, IdempotencyHeader.parameter],
        body: UnmergeBody.self, answers: .json(UnmergeAnswer.schema),
        refusals: [APIError].ofUnmerge + [.refused(.idempotencyKeyReused)],
        otherAnswers: [202: UndoRequestAnswer.schema(.undo)])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let merge = call.captures["event_id"].flatMap { EventID($0) }
        let auditRequest = try await call.auditRequest(.undoMerge, event: merge)
        let body = try call.body()
        let reference = try CaseReference.read(body)
        let request = try UndoRequest(body)
        let reason = try auditRequest.requiredReason()
        let named = try await call.mergedAccounts(merge)
        let command = UnmergeAccounts(
            merge: named.merge, survivor: named.survivor, absorbed: named.absorbed,
            actor: .principal(auditRequest.principal), reason: reason, caseReference: reference,
            isPreview: false, step: call.step(after: request, of: named.survivor),
            idempotency: try call.idempotency(
                of: named.survivor, auditRequest, Self.method, "/v1/merges/\(named.merge)/undo"))
        var details = [
            "case": reference, "survivor": named.survivor.description,
            "absorbed": named.absorbed.description,
        ]
        details["asked_by"] = request?.asker?.description
        switch try await auditRequest.execute(command, details: details) {
        case .undone(let unmerged):
            return .json(UnmergeAnswer(plan: unmerged.plan, event: unmerged.event))
        case .asked(let digest):
            return try await auditRequest.asked(
                .undo, digest, for: named.survivor, as: .askUnmerge, details, call)
        }
    }
}

extension RouteCall {
    /// Returns a merge with its accounts; an unknown merge names no account, and its undoing is
    /// refused.
    fileprivate func mergedAccounts(
        _ merge: EventID?
    ) async throws(APIError) -> (merge: EventID, survivor: AccountID, absorbed: AccountID) {
        let merge = merge ?? EventID(bits: 0)
        let found: ShownEvent?
        do {
            found = try await services.audit.events.event(merge, in: tenant, isDisclosing: false)
        } catch {
            throw .faulted(error)
        }
        guard case .accountsMerged(let fact) = found?.recorded?.event else {
            return (merge: merge, survivor: AccountID(bits: 0), absorbed: AccountID(bits: 0))
        }
        return (merge: merge, survivor: fact.survivor, absorbed: fact.absorbed)
    }
}
