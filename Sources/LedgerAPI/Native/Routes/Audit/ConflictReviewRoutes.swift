internal import HTTP
internal import Ledger

/// `GET /v1/conflicts/{event_id}`: one conflict, by its first attempt.
struct ConflictRoute: Route {
    static let method = "GET"
    static let path = "/v1/conflicts/{event_id}"
    static let operation = Operation(
        id: "get_conflict", tag: .log, summary: "One conflict, by the event of its first attempt",
        access: .principal(.readers), parameters: [ReasonHeader.parameter],
        answers: .json(ReviewedConflict.schema), refusals: [.eventNotFound])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let (auditRequest, first) = try await call.conflictRequest(.readConflict)
        try await auditRequest.record([:], account: nil, isDisclosed: false)
        return try await call.conflict(of: first, for: auditRequest)
    }
}

/// `GET /v1/conflicts/counts`: the numbers of conflicts by state.
struct ConflictCountsRoute: Route {
    static let method = "GET"
    static let path = "/v1/conflicts/counts"
    static let operation = Operation(
        id: "count_conflicts", tag: .log,
        summary: "The numbers of conflicts by state, among the last 20,000",
        access: .principal(.readers), parameters: [ReasonHeader.parameter],
        answers: .json(ConflictCounts.schema))

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let auditRequest = try await call.auditRequest(.countConflicts)
        try await auditRequest.record(try QueryParameters(call))
        do {
            return .json(
                bytes: try await call.services.audit.conflicts.counts(in: call.tenant).json)
        } catch {
            throw .faulted(error)
        }
    }
}

/// `PUT /v1/conflicts/{event_id}/review`: notes that a conflict was looked at.
struct ReviewConflictRoute: Route {
    static let method = "PUT"
    static let path = "/v1/conflicts/{event_id}/review"
    static let operation = Operation(
        id: "review_conflict", tag: .log, summary: "Note that a conflict was looked at",
        about:
            "The note is no event, replaces an earlier one, and is void from the next attempt on.",
        access: .principal(.supportRoles), parameters: [ReasonHeader.parameter],
        body: ReviewBody.self, answers: .json(ReviewedConflict.schema),
        refusals: [.eventNotFound, .refused(.accountErased)])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let (auditRequest, first) = try await call.conflictRequest(.reviewConflict)
        let note = try call.body().text(ReviewBody.note)
        guard ConflictReview.allows(note) else {
            throw .invalidRequest(
                RequestFlaw("note must be \(ConflictReview.form)", at: .field("note")))
        }
        let review = ConflictReview(
            note: note, principal: auditRequest.principal.description, at: call.now)
        return try await call.write(review, on: first, for: auditRequest)
    }
}

/// `DELETE /v1/conflicts/{event_id}/review`: deletes the note on a conflict, if there is one.
struct UnreviewConflictRoute: Route {
    static let method = "DELETE"
    static let path = "/v1/conflicts/{event_id}/review"
    static let operation = Operation(
        id: "unreview_conflict", tag: .log, summary: "Delete the note on a conflict",
        access: .principal(.supportRoles), parameters: [ReasonHeader.parameter],
        answers: .json(ReviewedConflict.schema), refusals: [.eventNotFound])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let (auditRequest, first) = try await call.conflictRequest(.unreviewConflict)
        return try await call.write(nil, on: first, for: auditRequest)
    }
}

/// The body of a note.
enum ReviewBody: BodyForm {
    static let name = "ReviewRequest"
    static let note = RequiredText(
        name: "note", bytesMax: ConflictReview.noteBytesMax,
        about: "The result of looking at it: \(ConflictReview.form)",
        example: "Two people, both answered")
    static let members: [any BodyMember] = [note]
}

extension RouteCall {
    /// Authorises a request about one conflict.
    ///
    /// - Throws: 404 for a malformed id, which names no event.
    fileprivate func conflictRequest(
        _ action: AccessAction
    ) async throws(APIError) -> (auditRequest: AuditRequest, first: EventID) {
        let id = captures["event_id"].flatMap { EventID($0) }
        let auditRequest = try await auditRequest(action, event: id)
        _ = try QueryParameters(self)
        guard let id else { throw .eventNotFound }
        return (auditRequest, id)
    }

    /// Returns the answer with a conflict.
    fileprivate func conflict(
        of first: EventID, for auditRequest: AuditRequest
    ) async throws(APIError) -> HTTPResponse {
        let found: (found: ReviewedConflict, extent: ConflictExtent)?
        do {
            found = try await services.audit.conflicts.conflict(of: first, in: tenant)
        } catch {
            throw .faulted(error)
        }
        guard let found else { throw .eventNotFound }
        let mayShow = auditRequest.principal.role.maySeePersonalData
        return .json(bytes: found.found.json(showingNotes: mayShow, found.extent))
    }

    /// Records the change of a note, and makes it.
    fileprivate func write(
        _ review: ConflictReview?, on first: EventID, for auditRequest: AuditRequest
    ) async throws(APIError) -> HTTPResponse {
        try await auditRequest.record([:], account: nil, isDisclosed: false)
        let written: Result<Void, ReviewRefusal>
        do {
            written = try await services.audit.conflicts.review(first, review, in: tenant)
        } catch {
            throw .faulted(error)
        }
        switch written {
        case .success: return try await conflict(of: first, for: auditRequest)
        case .failure(.unknownConflict): throw .eventNotFound
        case .failure(.accountErased): throw .refused(.accountErased)
        }
    }
}
