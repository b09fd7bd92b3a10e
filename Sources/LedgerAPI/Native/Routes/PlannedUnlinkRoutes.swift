internal import HTTP
import JSON
internal import Ledger
internal import LedgerWire

/// `POST /v1/accounts/{id}/identities/{identity_id}/unlink/preview`: the effects of an unlink by support.
struct UnlinkPreviewRoute: Route {
    static let method = "POST"
    static let path = "/v1/accounts/{id}/identities/{identity_id}/unlink/preview"
    static let operation = Operation(
        id: "preview_unlink", tag: .support, summary: "The effects of an unlink by support",
        access: .principal(.supportRoles), parameters: [ReasonHeader.beside],
        body: ReasonBody.self, answers: .json(PlannedUnlinkAnswer.planSchema),
        refusals: [APIError].ofPlannedUnlink + [.refused(.onlyProvider), .proofFailed])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let request = try await call.auditRequest(.previewUnlink, account: call.namedAccount)
        let account = try call.account()
        let identity = try call.namedIdentity()
        _ = try call.body()
        let sessions = try await call.sessions(of: identity, at: account)
        let plan = try await request.execute(
            PlanUnlink.Preview(of: identity, of: account, actor: .principal(request.principal)),
            details: ["identity": identity.description])
        return .json(PlannedUnlinkAnswer(plan: plan, event: nil, sessions: sessions))
    }
}

/// `POST /v1/accounts/{id}/identities/{identity_id}/unlink`: plans an unlink, for support, with a reason and a case.
struct PlanUnlinkRoute: Route {
    static let method = "POST"
    static let path = "/v1/accounts/{id}/identities/{identity_id}/unlink"
    static let operation = Operation(
        id: "plan_unlink", tag: .support, summary: "Plan to unlink an identity",
        about:
            "The identity is unlinked after 24 hours, or the tenant's `support_delay_hours`. The person is told,"
            + " and can stop it; a sign-in with the identity does not. Repeating it answers the same, without an"
            + " event. With the request of another person the identity is unlinked at once.",
        access: .principal(.supportRoles), parameters: [ReasonHeader.beside],
        body: SupportPlanBody.self, answers: .json(PlannedUnlinkAnswer.schema),
        refusals: [APIError].ofPlannedUnlink + [
            .refused(.accountDisabled), .refused(.mergePlanChanged),
            .refused(.secondPersonRequired),
            .refused(.onlyProvider),
        ])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        try await call.changePlannedUnlink(.plan, as: .planUnlink)
    }
}

/// `POST /v1/accounts/{id}/identities/{identity_id}/keep`: stops a planned unlink.
struct StopUnlinkRoute: Route {
    static let method = "POST"
    static let path = "/v1/accounts/{id}/identities/{identity_id}/keep"
    static let operation = Operation(
        id: "stop_unlink", tag: .support, summary: "Stop a planned unlink",
        about: "Repeating it answers the same, without an event.",
        access: .principal(.supportRoles), parameters: [ReasonHeader.beside],
        body: CaseBody.self, answers: .json(PlannedUnlinkAnswer.schema),
        refusals: .ofPlannedUnlinkStop)

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        try await call.changePlannedUnlink(.stop, as: .stopUnlink)
    }
}

/// `POST /v1/account/identities/{identity_id}/keep`: stops the unlink that support planned.
struct KeepIdentityRoute: Route {
    static let method = "POST"
    static let path = "/v1/account/identities/{identity_id}/keep"
    static let operation = Operation(
        id: "keep_identity", tag: .account, summary: "Stop the planned unlink of an identity",
        about: "Support planned it.", access: .accountHolder, body: EmptyBody.self,
        answers: .json(AccountAnswer.schema), refusals: [.refused(.providerNotLinked)])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let (caller, identity) = try await call.byAccountHolder { caller throws(APIError) in
            _ = try call.body()
            return (caller, try call.namedIdentity())
        }
        _ = try await call.submit(EndUnlinkPlan(of: identity, .kept(caller)))
        return try await call.account(of: caller)
    }
}

extension [APIError] {
    fileprivate static let ofPlannedUnlinkStop: [APIError] = [
        .refused(.unknownAccount), .refused(.accountErased), .refused(.providerNotLinked),
        .refused(.accountMerged(into: AccountID(bits: 0))),
    ]
    fileprivate static let ofPlannedUnlink = ofPlannedUnlinkStop + [.faulted(.rulesDiffer)]
}

extension RouteCall {
    /// The identity that the path names; nil when its id is malformed.
    var identity: IdentityID? { captures["identity_id"].flatMap { IdentityID($0) } }

    /// Returns the identity that the path names.
    ///
    /// - Throws: 404 when the id is malformed.
    fileprivate func namedIdentity() throws(APIError) -> IdentityID {
        guard let identity else { throw .refused(.providerNotLinked) }
        return identity
    }

    /// Returns the sessions of an account that an identity opened and that no event has ended.
    fileprivate func sessions(
        of identity: IdentityID, at account: AccountID
    ) async throws(APIError) -> [Session] {
        do {
            let found = try await services.audit.histories.account(account, asOf: nil, in: tenant)
            return found?.account.sessions.filter { $0.identity == identity } ?? []
        } catch {
            if case .damaged = error { throw .proofFailed }
            throw .faulted(.unavailable)
        }
    }

    fileprivate func changePlannedUnlink(
        _ kind: PlanUnlink.Change, as action: AccessAction
    ) async throws(APIError) -> HTTPResponse {
        let (changed, asker) = try await changePlan(
            kind, as: action, of: "identity", namedIdentity
        ) { PlanUnlink($0, of: $1) }
        return .json(
            PlannedUnlinkAnswer(
                plan: changed.plan, event: changed.event,
                confirmRequest: confirmRequest(
                    changed.plan.request, by: asker, for: changed.plan.account)))
    }
}

/// A planned unlink, and the event.
private struct PlannedUnlinkAnswer: JSONWritable {
    let plan: PlanUnlink.Plan
    /// Nil for a preview, and when nothing changed.
    let event: EventID?
    /// The sessions that end; nil except for a preview.
    var sessions: [Session]?
    var confirmRequest: String?

    static let schema = Schema.object(
        "PlannedUnlink", [.optional("event", .event, "The event, unless nothing changed")],
        members, [.confirmRequest])
    static let planSchema = Schema.object(
        "UnlinkPlan", members,
        [
            .required("session_count", .integer(1), "The sessions that end, with expired ones"),
            .required(
                "sessions", .list(.uuid(ExampleValue.session)), "The last hundred of them"),
        ])

    private static let members: [Property] = [
        .required("user_id", .account), .required("identity_id", .identity),
        .required("provider", .provider),
        .optional("unlink_due", .time, "When it is unlinked; absent once that is stopped or done"),
        .required(
            "linked_providers", .providers,
            "The providers that remain once every planned unlink has happened, in linking order"),
    ]

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("event", event?.description)
            writer.member("user_id", plan.account.description)
            writer.member("identity_id", plan.identity.description)
            writer.member("provider", plan.provider.description)
            writer.member("unlink_due", plan.due?.description)
            writer.name("linked_providers")
            writer.texts(plan.linkedProviders.map(\.description))
            writer.member("confirm_request", confirmRequest)
            guard let sessions else { return }
            writer.name("session_count")
            writer.number(Int64(sessions.count))
            writer.name("sessions")
            writer.texts(sessions.suffix(ResolvedAccount.sessionsMax).map(\.id.description))
        }
    }
}
