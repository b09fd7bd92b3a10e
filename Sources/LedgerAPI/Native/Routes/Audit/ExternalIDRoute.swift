internal import HTTP
import JSON
internal import Ledger

/// `GET /v1/accounts/by-external-id/{source}/{external_id}`: the account that had an id in another system.
struct ExternalIDRoute: Route {
    static let method = "GET"
    static let path = "/v1/accounts/by-external-id/{source}/{external_id}"
    /// Ids of SAML and those that an app has chosen may contain one.
    static let slashParameter: String? = "external_id"
    static let operation = Operation(
        id: "get_account_by_external_id", tag: .accounts,
        summary: "The account that had an id in another system",
        about: "Also after merges, whose survivor is the account; not after an erasure. Requires a"
            + " reason.",
        access: .principal(.supportRoles), parameters: [ReasonHeader.parameter.required],
        answers: .json(NamedAccount.schema), refusals: [.refused(.unknownAccount)])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let auditRequest = try await call.auditRequest(.readExternalID)
        _ = try QueryParameters(call)
        _ = try auditRequest.requiredReason()
        // A malformed name is the name of no account.
        guard let source = call.captures["source"].flatMap({ NameSource($0) }),
            let name = call.captures["external_id"].flatMap({
                ExternalName(source: source, id: $0)
            })
        else { throw .refused(.unknownAccount) }
        let found: NamedAccount?
        do {
            found = try await call.services.audit.names.account(named: name, in: call.tenant)
        } catch {
            throw .faulted(error)
        }
        // The id itself is personal data.
        try await auditRequest.record(
            ["source": source.description, "found": found == nil ? "0" : "1"],
            account: found?.survivor, isDisclosed: false)
        guard let found else { throw .refused(.unknownAccount) }
        return .json(found)
    }
}

extension NamedAccount: JSONWritable {
    static let schema = Schema.object(
        "NamedAccount",
        [
            .required("account", .account),
            .required("named_account", .account, "The account that got the id, before merges"),
            .required("position", .number, "The position of its `AccountNamed`"),
        ])

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.named("account", survivor)
            writer.named("named_account", named)
            writer.named("position", position)
        }
    }
}
