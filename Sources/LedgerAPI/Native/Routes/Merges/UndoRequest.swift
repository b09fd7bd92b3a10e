internal import HTTP
import JSON
internal import Ledger

/// A person's request to merge accounts, to undo a merge, or to do at once what support planned, as the text that the
/// next person presents: `<principal>.<digest>`.
///
/// The digest is that of ``MergePlanDigests``, over a plan that covers the principal, so the ledger stores nothing.
struct UndoRequest {
    static let member = OptionalText(
        name: "undo_request", bytesMax: 256,
        about: "The `undo_request` of the answer to another person, to confirm it",
        example: ExampleValue.undoRequest)

    /// The person that asked; nil for a text that the ledger did not issue.
    let asker: Principal?
    let digest: String

    /// Describes a request.
    init(asker: Principal, digest: String) {
        self.asker = asker
        self.digest = digest
    }

    /// Reads the request of a body; nil without one.
    ///
    /// - Throws: 400 for a text that is too long.
    init?(
        _ body: RequestBody, _ member: OptionalText = UndoRequest.member
    ) throws(APIError) {
        guard let text = try body.text(member) else { return nil }
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        // Any role asks for undoings that may confirm them.
        asker = parts.first.flatMap { Principal.named(String($0), role: .support) }
        digest = parts.count == 2 ? String(parts[1]) : ""
    }

    var text: String { "\(asker?.description ?? "").\(digest)" }
}

extension RouteCall {
    /// Returns the step of a principal in what needs two persons, with the request of another person or without one.
    func step(
        after request: UndoRequest?, of account: AccountID
    ) -> TwoPersonStep {
        guard let request else { return .ask(planDigest) }
        let shown = services.mergePlans.read(
            request.digest, for: account, in: tenant, at: now,
            lifetime: TwoPersonStep.requestLifetimeSeconds)
        guard let asker = request.asker, let shown else { return .confirm(nil, planDigest) }
        return .confirm(TwoPersonStep.Request(asker: asker, digest: shown.plan), planDigest)
    }
}

/// The body of what support plans and a second person may do at once.
enum SupportPlanBody: BodyForm {
    static let name = "SupportPlanRequest"
    static let request = OptionalText(
        name: "confirm_request", bytesMax: 256,
        about: "The `confirm_request` of the answer to another person, to do it at once",
        example: ExampleValue.undoRequest)
    static let members: [any BodyMember] = [CaseReference.member, request, ReasonHeader.member]
}

extension Property {
    /// The request of a principal that plans, in its answer.
    static let confirmRequest = optional(
        "confirm_request", .text(ExampleValue.undoRequest),
        "For another person, to do it at once within the hour, where the tenant has `support_needs_two`"
    )
}

extension RouteCall {
    /// Executes a change of what support plans for the account in the path.
    ///
    /// - Parameters:
    ///   - kind: the kind of the change; only a plan may be confirmed.
    ///   - action: the action in the access log.
    ///   - name: the name, there, of the identity or the factor that it is about.
    ///   - target: reads the id of the identity or the factor from the path.
    ///   - command: makes the command.
    /// - Returns: the result of the command, and the principal.
    /// - Throws: 400 for a malformed request, 404 for a malformed id, and the command's refusal or fault.
    func changePlan<ID: CustomStringConvertible, Request: LedgerRequest>(
        _ kind: SupportChange.Kind, as action: AccessAction, of name: String,
        _ target: () throws(APIError) -> ID, _ command: (SupportChange, ID) -> Request
    ) async throws(APIError) -> (changed: Request.Success, by: Principal) {
        let request = try await auditRequest(action, account: namedAccount)
        let account = try account()
        let id = try target()
        let body = try body()
        let reference = try CaseReference.read(body)
        let isPlan = kind == .plan
        let confirmed = try isPlan ? UndoRequest(body, SupportPlanBody.request) : nil
        var details = ["case": reference, name: id.description]
        details["asked_by"] = confirmed?.asker?.description
        let change = SupportChange(
            kind, of: account, actor: .principal(request.principal),
            reason: try request.requiredReason(), caseReference: reference,
            step: isPlan ? step(after: confirmed, of: account) : .alone)
        let changed = try await request.execute(command(change, id), details: details)
        return (changed: changed, by: request.principal)
    }

    /// Issues the request of a principal whose plan a second person may do at once; nil without one.
    func confirmRequest(
        _ digest: Digest?, by asker: Principal, for account: AccountID
    ) -> String? {
        digest.map {
            let issued = services.mergePlans.issue($0, for: account, in: tenant, at: now)
            return UndoRequest(asker: asker, digest: issued).text
        }
    }
}

/// The body of the preview of undoing a merge.
enum UnmergePreviewBody: BodyForm {
    static let name = "UnmergePreviewRequest"
    static let members: [any BodyMember] = [UndoRequest.member, ReasonHeader.member]
    static let mayBeEmpty = true
}

/// The body of undoing a merge.
enum UnmergeBody: BodyForm {
    static let name = "UnmergeRequest"
    static let members: [any BodyMember] = [
        CaseReference.member, UndoRequest.member, ReasonHeader.member,
    ]
}

/// A person's request that another one has to confirm.
struct UndoRequestAnswer: JSONWritable {
    /// The change that is requested, by the name of the member.
    enum Kind: String {
        case merge = "merge_request"
        case undo = "undo_request"
    }

    let kind: Kind
    let request: UndoRequest

    static func schema(_ kind: Kind) -> Schema {
        .object(
            kind == .undo ? "UndoRequest" : "MergeRequested",
            [
                .required(
                    kind.rawValue, .text(ExampleValue.undoRequest),
                    "For another person, to confirm it"),
                .required(
                    "expires_in", .integer(TwoPersonStep.requestLifetimeSeconds), "In seconds"),
            ])
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member(kind.rawValue, request.text)
            writer.name("expires_in")
            writer.number(TwoPersonStep.requestLifetimeSeconds)
        }
    }
}

extension AuditRequest {
    /// Records that a change was only requested, and returns the request for another person.
    ///
    /// The access log says before what may happen, and after that it was only requested.
    func asked(
        _ kind: UndoRequestAnswer.Kind, _ digest: Digest, for account: AccountID,
        as action: AccessAction, _ details: [String: String], _ call: RouteCall
    ) async throws(APIError) -> HTTPResponse {
        try await record(action, details)
        let issued = call.services.mergePlans.issue(
            digest, for: account, in: call.tenant, at: call.now)
        return .json(
            UndoRequestAnswer(
                kind: kind, request: UndoRequest(asker: principal, digest: issued)),
            status: 202)
    }
}
