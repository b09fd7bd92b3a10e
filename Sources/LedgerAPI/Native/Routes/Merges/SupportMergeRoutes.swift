internal import HTTP
internal import Ledger

/// `POST /v1/accounts/{id}/merge/preview`: the effects of merging another account into this one.
struct SupportMergePreviewRoute: Route {
    static let method = "POST"
    static let path = "/v1/accounts/{id}/merge/preview"
    static let operation = Operation(
        id: "preview_merge_by_support", tag: .support,
        summary: "The effects of merging another account into this one",
        access: .principal(.supportRoles), parameters: [ReasonHeader.beside],
        body: SupportMergePreviewBody.self, answers: .json(MergePlanAnswer.schemaForSupport),
        refusals: [APIError].ofMergeBySupport + [
            .refused(.mergePlanChanged), .refused(.secondPersonRequired),
        ])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let auditRequest = try await call.auditRequest(.previewMerge, account: call.namedAccount)
        let request = try SupportMergeRequest(
            call, auditRequest, needsCase: false)
        let preview = MergeAccounts.Preview(
            authority: request.authority, keepsAbsorbed: request.keepsAbsorbed, digest: planDigest)
        return await call.shown(
            try await auditRequest.execute(preview, details: request.details), isBySupport: true,
            asker: request.request?.asker)
    }
}

/// `POST /v1/accounts/{id}/merge`: merges another account into this one, for support, with a reason
/// and a case.
struct SupportMergeRoute: Route {
    static let method = "POST"
    static let path = "/v1/accounts/{id}/merge"
    static let operation = Operation(
        id: "merge_by_support", tag: .support,
        summary: "Merge another account into this one, as planned",
        about:
            "Where one of them has a second factor it only asks for the merge: the answer is 202,"
            + " and its `merge_request` lets another person merge the accounts within the hour.",
        access: .principal(.supportRoles),
        parameters: [ReasonHeader.beside, IdempotencyHeader.parameter],
        body: SupportMergeBody.self, answers: .json(MergedAnswer.schema),
        refusals: [APIError].ofMergeBySupport + [
            .refused(.mergePlanChanged), .refused(.secondPersonRequired),
            .refused(.idempotencyKeyReused),
        ],
        otherAnswers: [202: UndoRequestAnswer.schema(.merge)])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let auditRequest = try await call.auditRequest(.mergeAccounts, account: call.namedAccount)
        let request = try SupportMergeRequest(
            call, auditRequest, needsCase: true)
        let text = try request.body.text(SupportMergeBody.planDigest)
        let shown = call.services.mergePlans.read(
            text, for: request.survivor, in: call.tenant, at: call.now)
        // No plan has the digest zero, so an unknown plan is refused like one that has changed.
        let command = MergeAccounts(
            authority: request.authority, keepsAbsorbed: request.keepsAbsorbed,
            agreed: shown?.plan ?? .zero, digest: planDigest,
            idempotency: try call.idempotency(
                of: request.survivor, auditRequest, Self.method,
                "/v1/accounts/\(request.survivor)/merge"))
        switch try await auditRequest.execute(command, details: request.details) {
        case .merged(let merged):
            return .json(MergedAnswer(plan: merged.plan, event: merged.event))
        case .asked(let digest):
            return try await auditRequest.asked(
                .merge, digest, for: request.survivor, as: .askMerge, request.details, call)
        }
    }
}

/// The parts that both requests of support share.
struct SupportMergeRequest {
    let survivor: AccountID
    let body: RequestBody
    private let absorbed: AccountID
    let keepsAbsorbed: Set<ProviderName>
    /// The request of another person; nil without one.
    let request: UndoRequest?
    private let step: TwoPersonStep
    private let reference: String
    private let reason: String
    private let actor: Actor

    init(
        _ call: RouteCall, _ auditRequest: AuditRequest, needsCase: Bool
    ) throws(APIError) {
        survivor = try call.account()
        body = try call.body()
        guard let absorbed = AccountID(try body.text(SupportMergePreviewBody.absorb)) else {
            throw .invalidRequest(
                RequestFlaw("absorb must be an account id", at: .field("absorb")))
        }
        self.absorbed = absorbed
        keepsAbsorbed = try MergeChoices.keepsAbsorbed(body)
        request = try UndoRequest(body, SupportMergeBody.request)
        step = call.step(after: request, of: survivor)
        reason = try auditRequest.requiredReason()
        reference = needsCase ? try CaseReference.read(body) : ""
        actor = .principal(auditRequest.principal)
    }

    /// The details for the access log.
    var details: [String: String] {
        var named = ["absorb": absorbed.description, "case": reference]
        named["asked_by"] = request?.asker?.description
        return named.filter { !$0.value.isEmpty }
    }

    /// Support, with the case.
    var authority: MergeAccounts.Authority {
        .support(
            actor,
            MergeAccounts.Case(
                survivor: survivor, absorbed: absorbed, reason: reason, reference: reference,
                step: step))
    }
}

extension RouteCall {
    /// Returns the idempotency key of a principal's request, kept with the account so that an
    /// erasure deletes it.
    ///
    /// - Throws: 400 for a malformed key.
    func idempotency(
        of account: AccountID, _ auditRequest: AuditRequest, _ method: String, _ path: String
    ) throws(APIError) -> IdempotencyKey? {
        guard let key = try IdempotencyHeader.read(self) else { return nil }
        return idempotency(
            key, of: account, by: auditRequest.principal, method: method, path: path,
            content: content)
    }
}

/// The `case` member: the reference of the case in support's own system.
enum CaseReference {
    static let member = RequiredText(
        name: "case", bytesMax: 128, about: "The reference of the case in support's own system",
        example: "T-1")

    /// - Throws: 400 unless it is 1 to 128 printable ASCII characters.
    static func read(_ body: RequestBody) throws(APIError) -> String {
        let reference = try body.text(member)
        guard reference.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            throw .invalidRequest(
                RequestFlaw("case must be printable ASCII characters", at: .field("case")))
        }
        return reference
    }
}

/// The body of undoing a merge or an unlink.
enum CaseBody: BodyForm {
    static let name = "CaseRequest"
    static let members: [any BodyMember] = [CaseReference.member, ReasonHeader.member]
}

/// A body that may have the reason and nothing else.
enum ReasonBody: BodyForm {
    static let name = "ReasonRequest"
    static let members: [any BodyMember] = [ReasonHeader.member]
    static let mayBeEmpty = true
}

/// A body without members.
enum EmptyBody: BodyForm {
    static let name = "EmptyRequest"
    static let members: [any BodyMember] = []
    static let mayBeEmpty = true
}

extension Set<Role> {
    /// The roles that handle support cases.
    static let supportRoles: Set<Role> = [.support, .admin]
}
