internal import HTTP
import JSON
internal import Ledger

/// `POST /v1/accounts/{id}/identities/{identity_id}/relink/preview`: the effects of undoing an
/// unlink.
struct RelinkPreviewRoute: Route {
    static let method = "POST"
    static let path = "/v1/accounts/{id}/identities/{identity_id}/relink/preview"

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let auditRequest = try await call.auditRequest(
            .previewRelink, by: .supportRoles, account: call.namedAccount)
        let account = try call.account()
        _ = try call.body(mayBeEmpty: true)
        let command = try await call.relink(
            account, auditRequest, reason: "", reference: "", isPreview: true)
        let reply = try await auditRequest.execute(
            .relinkProvider(command), details: ["identity": command.identity.description])
        guard case .relinkPlanned(let plan) = reply else { throw .faulted(.internalFailure) }
        return .json(RelinkAnswer(plan: plan, event: nil))
    }
}

/// `POST /v1/accounts/{id}/identities/{identity_id}/relink`: undoes an unlink, for support, with a
/// reason and a case.
struct RelinkRoute: Route {
    static let method = "POST"
    static let path = "/v1/accounts/{id}/identities/{identity_id}/relink"

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let auditRequest = try await call.auditRequest(
            .relinkIdentity, by: .supportRoles, account: call.namedAccount)
        let account = try call.account()
        let reference = try CaseReference.read(try call.body())
        let reason = try auditRequest.requiredReason()
        let command = try await call.relink(
            account, auditRequest, reason: reason, reference: reference, isPreview: false)
        let reply = try await auditRequest.execute(
            .relinkProvider(command),
            details: ["case": reference, "identity": command.identity.description])
        guard case .relinked(let plan, let event?) = reply else {
            throw .faulted(.internalFailure)
        }
        return .json(RelinkAnswer(plan: plan, event: event))
    }
}

extension RouteCall {
    /// Returns the command that undoes an unlink, with the disclosures of the identity's last link;
    /// for an unknown identity it is refused.
    fileprivate func relink(
        _ account: AccountID, _ auditRequest: AuditRequest, reason: String, reference: String,
        isPreview: Bool
    ) async throws(APIError) -> RelinkProvider {
        let identity = captures["identity_id"].flatMap { IdentityID($0) } ?? IdentityID(bits: 0)
        let former: FormerLink?
        do {
            former = try await services.audit.events.formerLink(
                of: identity, to: account, in: tenant)
        } catch {
            throw .faulted(error)
        }
        return RelinkProvider(
            account: account, identity: identity, former: former,
            actor: .apiKey(auditRequest.principal), reason: reason, caseReference: reference,
            isPreview: isPreview)
    }
}

/// The effects of undoing an unlink.
private struct RelinkAnswer: JSONWritable {
    let plan: RelinkProvider.Plan
    /// The `ProviderLinked`; nil for a preview.
    let event: EventID?

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
