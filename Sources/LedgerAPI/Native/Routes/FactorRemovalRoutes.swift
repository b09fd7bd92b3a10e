internal import HTTP
import JSON
internal import Ledger

/// `POST /v1/accounts/{id}/factors/{factor_id}/removal/preview`: the factor that would be removed, and when.
struct FactorRemovalPreviewRoute: Route {
    static let method = "POST"
    static let path = "/v1/accounts/{id}/factors/{factor_id}/removal/preview"
    static let operation = Operation(
        id: "preview_factor_removal", tag: .support,
        summary: "The second factor that would be removed, and when",
        access: .principal(.supportRoles), parameters: [ReasonHeader.beside],
        body: ReasonBody.self, answers: .json(FactorRemovalAnswer.planSchema),
        refusals: [APIError].ofFactorRemoval + [
            .refused(.factorRefused(.sameKind)), .faulted(.rulesDiffer),
        ])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let request = try await call.auditRequest(
            .previewFactorRemoval, account: call.namedAccount)
        let account = try call.account()
        let factor = try call.factor()
        _ = try call.body()
        let plan = try await request.execute(
            PlanFactorRemoval.Preview(
                of: factor, of: account, actor: .principal(request.principal)),
            details: ["factor": factor.description])
        return .json(FactorRemovalAnswer(plan: plan, event: nil))
    }
}

/// `POST /v1/accounts/{id}/factors/{factor_id}/removal`: plans the removal of a lost second factor.
struct FactorRemovalRoute: Route {
    static let method = "POST"
    static let path = "/v1/accounts/{id}/factors/{factor_id}/removal"
    static let operation = Operation(
        id: "plan_factor_removal", tag: .support,
        summary: "Plan the removal of a second factor that a person lost",
        about:
            "The factor is removed after 24 hours, or the tenant's `support_delay_hours`. The person is told, and"
            + " can stop it; so does a sign-in with the factor. Repeating it answers the same, without an event."
            + " With the request of another person the factor is removed at once.",
        access: .principal(.supportRoles), parameters: [ReasonHeader.beside],
        body: SupportPlanBody.self, answers: .json(FactorRemovalAnswer.schema),
        refusals: [APIError].ofFactorRemoval + [
            .refused(.accountDisabled), .refused(.mergePlanChanged),
            .refused(.secondPersonRequired),
            .refused(.factorRefused(.sameKind)), .faulted(.rulesDiffer),
        ])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        try await call.changeFactorRemoval(.plan, as: .planFactorRemoval)
    }
}

/// `POST /v1/accounts/{id}/factors/{factor_id}/keep`: stops the planned removal of a second factor.
struct FactorRemovalStopRoute: Route {
    static let method = "POST"
    static let path = "/v1/accounts/{id}/factors/{factor_id}/keep"
    static let operation = Operation(
        id: "stop_factor_removal", tag: .support,
        summary: "Stop the planned removal of a second factor",
        about: "Repeating it answers the same, without an event.",
        access: .principal(.supportRoles), parameters: [ReasonHeader.beside],
        body: CaseBody.self, answers: .json(FactorRemovalAnswer.schema),
        refusals: .ofFactorRemoval)

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        try await call.changeFactorRemoval(.stop, as: .stopFactorRemoval)
    }
}

extension [APIError] {
    fileprivate static let ofFactorRemoval: [APIError] = [
        .refused(.unknownAccount), .refused(.accountErased), .refused(.unknownFactor),
        .refused(.accountMerged(into: AccountID(bits: 0))),
    ]
}

extension RouteCall {
    fileprivate func changeFactorRemoval(
        _ kind: PlanFactorRemoval.Change, as action: AccessAction
    ) async throws(APIError) -> HTTPResponse {
        let (changed, asker) = try await changePlan(
            kind, as: action, of: "factor", factor
        ) { PlanFactorRemoval($0, of: $1) }
        return .json(
            FactorRemovalAnswer(
                plan: changed.plan, event: changed.event,
                confirmRequest: confirmRequest(
                    changed.plan.request, by: asker, for: changed.plan.account)))
    }
}

/// A second factor, and when it is removed.
private struct FactorRemovalAnswer: JSONWritable {
    let plan: PlanFactorRemoval.Plan
    /// Nil for a preview, and when nothing changed.
    let event: EventID?
    var confirmRequest: String?

    static let schema = Schema.object(
        "FactorRemoval", [.optional("event", .event, "The event, unless nothing changed")],
        members, [.confirmRequest])
    static let planSchema = Schema.object("FactorRemovalPlan", members)

    private static let members: [Property] = [
        .required("user_id", .account), .required("factor_id", .factor),
        .required("type", .choice(FactorKind.allCases.filter(\.isRequired).map(\.rawValue))),
        .optional("removal_due", .time, "When it is removed; absent once that is stopped or done"),
        .required(
            "keeps_factor", .flag(false),
            "Whether the account has another second factor, whose removal is not planned"),
    ]

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("event", event?.description)
            writer.member("user_id", plan.account.description)
            writer.member("factor_id", plan.factor.description)
            writer.member("type", plan.kind.rawValue)
            writer.member("removal_due", plan.due?.description)
            writer.name("keeps_factor")
            writer.flag(plan.keepsFactor)
            writer.member("confirm_request", confirmRequest)
        }
    }
}
