internal import Cryptography
internal import HTTP
package import Ledger
internal import LedgerSignIn

/// `POST /v1/account/merge/preview`: the effects of merging the account of another identity into
/// the caller's.
struct MergePreviewRoute: Route {
    static let method = "POST"
    static let path = "/v1/account/merge/preview"
    static let operation = Operation(
        id: "preview_merge", tag: .merges,
        summary: "The effects of merging another account into the caller's",
        access: .accountHolder, body: MergePreviewBody.self,
        answers: .json(MergePlanAnswer.schema), refusals: .ofMergeByHolder)

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let request = try await call.byAccountHolder { caller throws(APIError) in
            try MergeRequest(call, by: caller, isForPlan: false)
        }
        let preview = MergeAccounts.Preview(
            authority: await request.authority(provedFor: .mergePreview),
            keepsAbsorbed: request.keepsAbsorbed, digest: planDigest)
        return await call.shown(try await call.submit(preview))
    }
}

/// `POST /v1/account/merge`: merges the account of another identity into the caller's, by a plan
/// that the caller agreed to.
struct MergeRoute: Route {
    static let method = "POST"
    static let path = "/v1/account/merge"
    static let operation = Operation(
        id: "merge", tag: .merges, summary: "Merge another account into the caller's, as planned",
        about:
            "The proof must be newer than the plan: the nonce of an ID token is `plan_digest`,"
            + " and codes, passkeys and browser flows are begun with it.",
        access: .accountHolder, parameters: [IdempotencyHeader.parameter], body: MergeBody.self,
        answers: .json(MergedAnswer.schema),
        refusals: [APIError].ofMergeByHolder + [
            .refused(.mergePlanChanged), .refused(.idempotencyKeyReused),
        ])

    /// The credential must be newer than the plan: an ID token carries the plan's digest as its
    /// nonce or, for a provider without nonces, was issued after the plan was shown.
    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let (request, text) = try await call.byAccountHolder { caller throws(APIError) in
            let request = try MergeRequest(call, by: caller, isForPlan: true)
            return (request, try request.body.text(MergeBody.planDigest))
        }
        let shown = call.services.mergePlans.read(
            text, for: request.caller.account, in: call.tenant, at: call.now)
        // No plan has the digest zero, so an unknown plan is refused like one that has changed.
        let command = MergeAccounts(
            authority: await request.authority(
                provedFor: .merge(plan: text, shownAt: shown?.at)),
            keepsAbsorbed: request.keepsAbsorbed, agreed: shown?.plan ?? .zero,
            digest: planDigest, idempotency: request.idempotency(Self.self))
        let merged = try await call.submit(command)
        return .json(MergedAnswer(plan: merged.plan, event: merged.event))
    }
}

/// The parts that both requests of an account holder share.
struct MergeRequest: Sendable {
    let caller: Caller
    let body: RequestBody
    private let call: RouteCall
    private let key: String?
    private let provider: ProviderName
    private let presented: CredentialBody
    let keepsAbsorbed: Set<ProviderName>

    init(
        _ call: RouteCall, by caller: Caller, isForPlan: Bool
    ) throws(APIError) {
        self.call = call
        self.caller = caller
        key = isForPlan ? try IdempotencyHeader.read(call) : nil
        body = try call.body()
        let named = ProviderName(try body.text(RequiredText.provider))
        presented = try body.credential(for: call.configuration(of: named), isForPlan: isForPlan)
        keepsAbsorbed = try MergeChoices.keepsAbsorbed(body)
        guard let provider = named else { throw .refused(.unsupportedProvider) }
        self.provider = provider
    }

    /// Returns the idempotency key of the request, for its route.
    func idempotency(_ route: any Route.Type) -> IdempotencyKey? {
        key.flatMap {
            call.idempotency(
                $0, of: caller.account, method: route.method, path: route.path,
                content: call.content)
        }
    }

    /// Returns the caller with the checked credential.
    func authority(provedFor purpose: ProofPurpose) async -> MergeAccounts.Authority {
        .accountHolder(
            caller, await call.credential(presented, of: provider, for: purpose, by: caller))
    }
}

extension RouteCall {
    /// Returns the answer that shows a plan, its digest, and which e-mails are verified, since
    /// support has no other proof of the requester's identity.
    func shown(_ planned: MergeAccounts.Preview.Success) async -> HTTPResponse {
        let plan = planned.plan
        let flags = await plan.emailFlags(from: services.audit.searches, in: tenant)
        return .json(
            MergePlanAnswer(
                plan: plan, emailFlags: flags,
                digest: services.mergePlans.issue(
                    planned.digest, for: plan.survivor, in: tenant, at: now)))
    }
}

/// Plain SHA-256, for the plans of merges.
package let planDigest: HashFunction = { bytes in
    guard let digest = Digest(SHA256.hash(bytes)) else {
        preconditionFailure("SHA-256 has 32 bytes")
    }
    return digest
}
