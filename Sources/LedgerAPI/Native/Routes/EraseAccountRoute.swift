internal import HTTP
import JSON
internal import Ledger
internal import LedgerSignIn

/// `POST /v1/accounts/{id}/erasure/preview`: the accounts that an erasure would cover, and what it
/// would destroy.
struct ErasurePreviewRoute: Route {
    static let method = "POST"
    static let path = "/v1/accounts/{id}/erasure/preview"
    static let operation = Operation(
        id: "preview_erasure", tag: .erasure,
        summary: "The accounts that an erasure would cover, and the data it would destroy",
        access: .principal(.administrators), parameters: [ReasonHeader.beside],
        body: ReasonBody.self, answers: .json(ErasurePlanAnswer.schema),
        refusals: [.refused(.unknownAccount), .refused(.accountErased)])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let auditRequest = try await call.auditRequest(.previewErasure, account: call.namedAccount)
        _ = try QueryParameters(call)
        let account = try call.account()
        let planned = try await auditRequest.execute(
            EraseAccount.Preview(account: account, actor: .principal(auditRequest.principal)))
        let digest = call.services.mergePlans.issue(
            planDigest(planned.plan.bytes), for: account, in: call.tenant, at: call.now)
        return .json(
            ErasurePlanAnswer(plan: planned.plan, losses: planned.losses, digest: digest))
    }
}

/// `DELETE /v1/accounts/{id}`: erases the person of an account, for an administrator and with a
/// reason.
///
/// Repeating it answers the same. `?basis=` states the legal ground; the default is
/// `data_subject_request`. `?plan_digest=` agrees to a preview; without it the account must not be
/// merged with another one. Where the rules require two people, it asks another administrator to confirm the erasure.
struct EraseAccountRoute: Route {
    static let method = "DELETE"
    static let path = "/v1/accounts/{id}"
    static let operation = Operation(
        id: "erase_account", tag: .erasure, summary: "Erase the person of an account",
        about: "Repeating it answers the same. An account that was merged with others is erased"
            + " with them, and only by a plan. In a tenant with `erase_needs_two` it only asks for the"
            + " erasure, which another administrator confirms within 24 hours: the answer is 202.",
        access: .principal(.administrators),
        parameters: [
            Parameter(
                name: "basis", schema: .choice(bases),
                about: "The legal ground; \(bases.first ?? "") by default", isInExample: true),
            Parameter(
                name: "plan_digest", schema: .planDigest,
                about: "The `plan_digest` of the preview"),
            ReasonHeader.parameter.required,
        ],
        answers: .json(ErasedAnswer.schema),
        refusals: [
            .refused(.unknownAccount), .refused(.legalHold), .refused(.erasurePlanChanged),
            .refused(.accountMerged(into: AccountID(bits: 0))),
            .refused(.reauthenticationRequired), .refused(.erasureRequested),
        ], otherAnswers: [202: ErasureRequestAnswer.schema])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        // The access log says before what is about to happen, and after what happened if that was another thing: the
        // recorded rules decide, and they may differ from this server's.
        let announced: AccessAction =
            call.configuration.policy.eraseNeedsTwo ? .askErasure : .eraseAccount
        let auditRequest = try await call.auditRequest(announced, account: call.namedAccount)
        try await auditRequest.requireFreshSignIn()
        let query = try QueryParameters(call)
        let basis = try query.value(
            "basis", Self.bases.joined(separator: ", ")
        ) { text in
            AccountErased.Basis(rawValue: text).flatMap { $0.isRequestable ? $0 : nil }
        }
        let account = try call.account()
        let command = EraseAccount(
            account: account, basis: basis ?? .dataSubjectRequest,
            agreement: try query.value("plan_digest", "a plan digest", { $0 })
                .map { call.agreement(to: $0, of: account) } ?? .named,
            step: .ask(
                call.services.newID(), reason: try auditRequest.requiredReason(), planDigest),
            actor: .principal(auditRequest.principal))
        switch try await auditRequest.execute(command, details: query.details) {
        case .erased(let erased):
            if announced != .eraseAccount, erased.isNew {
                try await auditRequest.record(.eraseAccount, query.details)
            }
            return .json(ErasedAnswer(account: account, erased))
        case .asked(let request):
            try await auditRequest.record(
                .askErasure, ["erasure_request": request.id.description])
            return .json(
                ErasureRequestAnswer(request, reader: auditRequest.principal), status: 202)
        }
    }

    private static let bases = AccountErased.Basis.allCases.filter(\.isRequestable)
        .map(\.rawValue)
}

/// The plan of an erasure, with the digest that agrees to it.
struct ErasurePlanAnswer: JSONWritable {
    let plan: ErasurePlan
    let losses: ErasureLosses
    let digest: String

    static let schema = Schema.object(
        "ErasurePlan",
        [
            .required("plan_digest", .planDigest, "Agrees to the plan"),
            .required("expires_in", .integer(MergePlanDigests.lifetimeSeconds), "In seconds"),
            .required("account", .account), .required("survivor", .account),
            .required("covers", .list(.account), "Every account that would be erased"),
            .required("holds", .list(.uuid(ExampleValue.hold)), "Legal holds that prevent it"),
            .required("events", .integer(7), "The events whose personal data is destroyed"),
            .required("linked_identities", .integer(2)),
        ])

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("plan_digest", digest)
            writer.name("expires_in")
            writer.number(MergePlanDigests.lifetimeSeconds)
            writer.member("account", plan.account.description)
            writer.member("survivor", plan.survivor.description)
            writer.name("covers")
            writer.texts(plan.covers.map(\.description))
            writer.name("holds")
            writer.texts(plan.holds.map(\.description))
            writer.name("events")
            writer.number(losses.events)
            writer.name("linked_identities")
            writer.number(Int64(losses.linkedIdentities))
        }
    }
}

/// The answer that an account is erased, by this request or an earlier one.
struct ErasedAnswer: JSONWritable {
    private let account: AccountID
    private let erased: EraseAccount.Erased

    init(account: AccountID, _ erased: EraseAccount.Erased) {
        self.account = account
        self.erased = erased
    }

    static let schema = Schema.object(
        "Erased",
        [
            .required("account", .account), .required("position", .number),
            .required("erased_before", .flag(false), "Whether an earlier request erased it"),
            .required("covers", .list(.account)),
        ])

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("account", account.description)
            writer.member("position", erased.position.description)
            writer.name("erased_before")
            writer.flag(!erased.isNew)
            writer.name("covers")
            writer.texts(erased.covering.map(\.description))
        }
    }
}

extension RouteCall {
    /// Returns the agreement to a previewed erasure.
    ///
    /// No plan has the digest zero, so an unknown plan is refused like one that has changed.
    func agreement(to shown: String, of account: AccountID) -> EraseAccount.Agreement {
        let read = services.mergePlans.read(shown, for: account, in: tenant, at: now)
        return .plan(read?.plan ?? .zero, planDigest)
    }
}

extension Set<Role> {
    /// The roles that may change accounts on others' behalf.
    static let administrators: Set<Role> = [.admin]
}
