internal import HTTP
import JSON
internal import Ledger

/// `POST /v1/accounts/{id}/identities/{identity_id}/relink/preview`: the effects of undoing an
/// unlink.
struct RelinkPreviewRoute: Route {
    static let method = "POST"
    static let path = "/v1/accounts/{id}/identities/{identity_id}/relink/preview"
    static let operation = Operation(
        id: "preview_relink", tag: .support, summary: "The effects of undoing an unlink",
        access: .principal(.supportRoles), parameters: [ReasonHeader.beside],
        body: ReasonBody.self, answers: .json(RelinkAnswer.planSchema), refusals: refusals)

    fileprivate static let refusals: [APIError] = [
        .refused(.unknownAccount), .refused(.accountErased), .refused(.accountDisabled),
        .refused(.accountMerged(into: AccountID(bits: 0))),
        .refused(.relinkRefused(.alreadyLinked)), .faulted(.rulesDiffer),
    ]

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let auditRequest = try await call.auditRequest(.previewRelink, account: call.namedAccount)
        let account = try call.account()
        _ = try call.body()
        let (identity, former) = try await call.formerLink(to: account)
        let plan = try await auditRequest.execute(
            RelinkProvider.Preview(
                account: account, identity: identity, former: former,
                actor: .principal(auditRequest.principal)),
            details: ["identity": identity.description])
        return .json(RelinkAnswer(plan: plan, event: nil))
    }
}

/// `POST /v1/accounts/{id}/identities/{identity_id}/relink`: undoes an unlink, for support, with a
/// reason and a case.
struct RelinkRoute: Route {
    static let method = "POST"
    static let path = "/v1/accounts/{id}/identities/{identity_id}/relink"
    static let operation = Operation(
        id: "relink", tag: .support, summary: "Undo an unlink",
        access: .principal(.supportRoles), parameters: [ReasonHeader.beside],
        body: CaseBody.self, answers: .json(RelinkAnswer.schema),
        refusals: RelinkPreviewRoute.refusals)

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let auditRequest = try await call.auditRequest(.relinkIdentity, account: call.namedAccount)
        let account = try call.account()
        let reference = try CaseReference.read(try call.body())
        let reason = try auditRequest.requiredReason()
        let (identity, former) = try await call.formerLink(to: account)
        let relinked = try await auditRequest.execute(
            RelinkProvider(
                account: account, identity: identity, former: former,
                actor: .principal(auditRequest.principal), reason: reason, caseReference: reference,
                isPreview: false),
            details: ["case": reference, "identity": identity.description])
        return .json(RelinkAnswer(plan: relinked.plan, event: relinked.event))
    }
}

extension RouteCall {
    /// Returns the identity that the path names, with the disclosures of its last link; the command
    /// is refused without them.
    fileprivate func formerLink(
        to account: AccountID
    ) async throws(APIError) -> (identity: IdentityID, former: FormerLink?) {
        let identity = identity ?? IdentityID(bits: 0)
        do {
            let former = try await services.audit.events.formerLink(
                of: identity, to: account, in: tenant)
            return (identity: identity, former: former)
        } catch {
            throw .faulted(error)
        }
    }
}

/// The effects of undoing an unlink.
private struct RelinkAnswer: JSONWritable {
    let plan: RelinkProvider.Plan
    /// The `ProviderLinked`; nil for a preview.
    let event: EventID?

    static let schema = Schema.object(
        "Relink", [.required("relink", .event, "The event")], members)
    static let planSchema = Schema.object("RelinkPlan", members)

    private static let members: [Property] = [
        .required("user_id", .account), .required("identity_id", .identity),
        .required("provider", .provider), .required("linked_providers", .providers),
    ]

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            if let event { writer.member("relink", event.description) }
            writer.member("user_id", plan.account.description)
            writer.member("identity_id", plan.identity.description)
            writer.member("provider", plan.provider.description)
            writer.name("linked_providers")
            writer.texts(plan.linkedProviders.map(\.description))
        }
    }
}
