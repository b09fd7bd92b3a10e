internal import HTTP
import JSON
internal import Ledger

/// `GET /v1/identities/{identity_id}/owners`: the accounts that held an identity, in order.
struct IdentityOwnersRoute: Route {
    static let method = "GET"
    static let path = "/v1/identities/{identity_id}/owners"
    static let operation = Operation(
        id: "list_identity_owners", tag: .accounts,
        summary: "The accounts that held an identity, in order, with the events",
        about: "Read from the log, at most 200,000 events from the identity's first link on.",
        access: .principal(.readers), parameters: [ReasonHeader.parameter],
        answers: .json(IdentityHoldings.schema),
        refusals: [.refused(.unknownAccount), .proofFailed])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let auditRequest = try await call.auditRequest(.readOwners)
        _ = try QueryParameters(call)
        // A malformed id names no identity.
        guard let identity = call.captures["identity_id"].flatMap({ IdentityID($0) }) else {
            throw .refused(.unknownAccount)
        }
        try await auditRequest.record(
            ["identity": identity.description], account: nil, isDisclosed: false)
        let found: IdentityHoldings?
        do {
            found = try await call.services.audit.owners.owners(of: identity, in: call.tenant)
        } catch {
            if case .damaged = error { throw .proofFailed }
            throw .faulted(.unavailable)
        }
        guard let found else { throw .refused(.unknownAccount) }
        return .json(found)
    }
}

extension IdentityHoldings: JSONWritable {
    static let schema: Schema = {
        let mark = Schema.object(
            "HoldingMark",
            [
                .required("position", .number), .required("recorded_at", .time),
                .required("event_id", .event), .required("type", .text("ProviderLinked")),
            ])
        let owner = Schema.object(
            "Owner",
            [
                .required("account", .account), .required("from", mark),
                .optional("until", mark, "Missing while it holds the identity"),
            ])
        return .object(
            "IdentityOwners",
            [
                .required("identity_id", .identity), .required("owners", .list(owner)),
                .required("examined", .number, "The log was read before this position"),
                .required("log_size", .number),
                .required("complete", .flag(true), "Whether the log was read to its end"),
            ])
    }()

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.named("identity_id", identity)
            writer.name("owners")
            writer.array { writer in
                for holding in holdings {
                    writer.object { writer in
                        writer.named("account", holding.account)
                        writer.holdingMark("from", holding.from)
                        if let until = holding.until { writer.holdingMark("until", until) }
                    }
                }
            }
            writer.named("examined", end)
            writer.named("log_size", logSize)
            writer.name("complete")
            writer.flag(isComplete)
        }
    }
}

extension JSONWriter {
    fileprivate mutating func holdingMark(_ name: String, _ mark: HoldingMark) {
        self.name(name)
        object { writer in
            writer.named("position", mark.mark.position)
            writer.member("recorded_at", mark.mark.recordedAt.description)
            writer.named("event_id", mark.event)
            writer.member("type", mark.type.rawValue)
        }
    }
}
