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
            + " and codes, passkeys and browser flows are begun with it. `other_access_token` may"
            + " be the one of the preview. Either session must have begun within 10 minutes, with"
            + " a second factor where its account has one.",
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
        guard let merged = try await call.submit(command).done else {
            throw .faulted(.internalFailure)
        }
        return .json(MergedAnswer(plan: merged.plan, event: merged.event))
    }
}

/// The parts that both requests of an account holder share.
struct MergeRequest: Sendable {
    let caller: Caller
    let body: RequestBody
    private let call: RouteCall
    private let key: String?
    private let proof: Proof
    /// The body that an idempotency key stands for, with the account that an access token names in the token's place:
    /// a client renews a token before it sends a merge again.
    private let content: [UInt8]
    let keepsAbsorbed: Set<ProviderName>

    init(
        _ call: RouteCall, by caller: Caller, isForPlan: Bool
    ) throws(APIError) {
        self.call = call
        self.caller = caller
        key = isForPlan ? try IdempotencyHeader.read(call) : nil
        body = try call.body()
        if let token = try body.text(OptionalText.otherAccessToken) {
            keepsAbsorbed = try MergeChoices.keepsAbsorbed(body)
            guard try body.text(OptionalText.mergedProvider) == nil else {
                throw .invalidRequest(
                    RequestFlaw(
                        "other_access_token takes the place of provider and its proof",
                        at: .field("other_access_token")))
            }
            guard let other = call.caller(of: token) else { throw .refused(.invalidProviderToken) }
            proof = .session(other)
            content = call.content.replacing(
                Array(token.utf8), with: Array(other.account.description.utf8))
            return
        }
        guard let name = try body.text(OptionalText.mergedProvider) else {
            throw .isRequired(OptionalText.mergedProvider.name)
        }
        let named = ProviderName(name)
        let presented = try body.credential(
            for: call.configuration(of: named), isForPlan: isForPlan)
        keepsAbsorbed = try MergeChoices.keepsAbsorbed(body)
        guard let provider = named else { throw .refused(.unsupportedProvider) }
        proof = .credential(presented, of: provider)
        content = call.content
    }

    /// The proof of the account to merge.
    private enum Proof {
        case credential(CredentialBody, of: ProviderName)
        case session(Caller)
    }

    /// Returns the idempotency key of the request, for its route.
    func idempotency(_ route: any Route.Type) -> IdempotencyKey? {
        key.flatMap {
            call.idempotency(
                $0, of: caller.account, method: route.method, path: route.path,
                content: content)
        }
    }

    /// Returns the caller with the checked credential, or with the session of the other account.
    func authority(provedFor purpose: ProofPurpose) async -> MergeAccounts.Authority {
        switch proof {
        case .session(let other): .holderOfBoth(caller, other)
        case .credential(let presented, let provider):
            .accountHolder(
                caller, await call.credential(presented, of: provider, for: purpose, by: caller))
        }
    }
}

extension RouteCall {
    /// Returns the answer that shows a plan, its digest, and which e-mails are verified, since
    /// support has no other proof of the requester's identity.
    ///
    /// - Parameters:
    ///   - planned: the plan.
    ///   - isBySupport: whether support requested it, which needs two persons for second factors.
    ///   - asker: the person whose request would be confirmed.
    /// - Returns: the answer.
    func shown(
        _ planned: MergeAccounts.Preview.Success, isBySupport: Bool = false,
        asker: Principal? = nil
    ) async -> HTTPResponse {
        let plan = planned.plan
        let flags = await plan.emailFlags(from: services.audit.searches, in: tenant)
        return .json(
            MergePlanAnswer(
                plan: plan, needsTwo: isBySupport && plan.touchesFactors, asker: asker,
                emailFlags: flags,
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
