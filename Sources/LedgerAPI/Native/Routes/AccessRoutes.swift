internal import HTTP
import JSON
internal import Ledger

/// A route by which support changes access to an account, or previews the change.
protocol AccessRoute: Route {
    static var request: AccessRequest { get }
}

/// The parts in which the routes of changes of access differ.
struct AccessRequest: Sendable {
    let change: ChangeAccess.Change
    let action: AccessAction
    var isPreview = false
    /// The last segment of the path, before `/preview`.
    let word: String
    let id: String
    let summary: String
    var about: String?
}

extension AccessRoute {
    static var method: String { "POST" }
    static var path: String {
        "/v1/accounts/{id}/\(request.word)" + (request.isPreview ? "/preview" : "")
    }

    static var operation: Operation {
        Operation(
            id: request.id, tag: .support, summary: request.summary, about: request.about,
            access: .principal(.supportRoles), parameters: [ReasonHeader.beside],
            body: request.isPreview ? ReasonBody.self : CaseBody.self,
            answers: .json(request.isPreview ? AccessAnswer.planSchema : AccessAnswer.schema),
            refusals: [
                .refused(.unknownAccount), .refused(.accountErased),
                .refused(.accountMerged(into: AccountID(bits: 0))),
            ])
    }

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let request = Self.request
        let auditRequest = try await call.auditRequest(request.action, account: call.namedAccount)
        let account = try call.account()
        let body = try call.body()
        let actor = Actor.principal(auditRequest.principal)
        guard !request.isPreview else {
            let plan = try await auditRequest.execute(
                ChangeAccess.Preview(request.change, of: account, actor: actor))
            return .json(AccessAnswer(plan: plan, isDisabled: plan.isDisabled, event: nil))
        }
        let reference = try CaseReference.read(body)
        let changed = try await auditRequest.execute(
            ChangeAccess(
                request.change, of: account, actor: actor,
                reason: try auditRequest.requiredReason(), caseReference: reference),
            details: ["case": reference])
        let isDisabled =
            switch request.change {
            case .disable: true
            case .enable: false
            case .endSessions: changed.plan.isDisabled
            }
        return .json(
            AccessAnswer(plan: changed.plan, isDisabled: isDisabled, event: changed.event))
    }
}

/// `POST /v1/accounts/{id}/disable/preview`: the account that would be disabled.
struct DisablePreviewRoute: AccessRoute {
    static let request = AccessRequest(
        change: .disable, action: .previewDisable, isPreview: true, word: "disable",
        id: "preview_disable", summary: "The account that would be disabled")
}

/// `POST /v1/accounts/{id}/disable`: ends all sessions of an account and refuses its sign-ins.
struct DisableRoute: AccessRoute {
    static let request = AccessRequest(
        change: .disable, action: .disableAccount, word: "disable", id: "disable_account",
        summary: "Disable an account",
        about:
            "Ends its sessions; nothing signs in to it, and it is neither linked nor merged, until it"
            + " is enabled. Repeating it answers the same, without an event.")
}

/// `POST /v1/accounts/{id}/enable/preview`: the account that would be enabled.
struct EnablePreviewRoute: AccessRoute {
    static let request = AccessRequest(
        change: .enable, action: .previewEnable, isPreview: true, word: "enable",
        id: "preview_enable", summary: "The account that would be enabled")
}

/// `POST /v1/accounts/{id}/enable`: allows sign-ins to a disabled account again.
struct EnableRoute: AccessRoute {
    static let request = AccessRequest(
        change: .enable, action: .enableAccount, word: "enable", id: "enable_account",
        summary: "Enable a disabled account",
        about: "Its sessions stay ended. Repeating it answers the same, without an event.")
}

/// `POST /v1/accounts/{id}/end-sessions/preview`: the account whose sessions would end.
struct EndSessionsPreviewRoute: AccessRoute {
    static let request = AccessRequest(
        change: .endSessions, action: .previewEndSessions, isPreview: true, word: "end-sessions",
        id: "preview_end_sessions", summary: "The account whose sessions would end")
}

/// `POST /v1/accounts/{id}/end-sessions`: signs an account out everywhere.
struct EndSessionsRoute: AccessRoute {
    static let request = AccessRequest(
        change: .endSessions, action: .endSessions, word: "end-sessions", id: "end_sessions",
        summary: "Sign an account out everywhere",
        about: "A disabled account has no sessions, so there it appends no event.")
}

/// An account, and whether it can be signed in to.
private struct AccessAnswer: JSONWritable {
    let plan: ChangeAccess.Plan
    let isDisabled: Bool
    /// Nil for a preview, and when nothing changed.
    let event: EventID?

    static let schema = Schema.object(
        "AccountAccess", [.optional("event", .event, "The event, unless nothing changed")], members)
    static let planSchema = Schema.object("AccountAccessPlan", members)

    private static let members: [Property] = [
        .required("user_id", .account),
        .required("disabled", .flag(false), "Whether the account is disabled"),
        .required("covers", .list(.account), "The account, and those merged into it"),
        .required("linked_providers", .providers),
    ]

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            if let event { writer.member("event", event.description) }
            writer.member("user_id", plan.account.description)
            writer.name("disabled")
            writer.flag(isDisabled)
            writer.name("covers")
            writer.texts(plan.covers.map(\.description))
            writer.name("linked_providers")
            writer.texts(plan.linkedProviders.map(\.description))
        }
    }
}
