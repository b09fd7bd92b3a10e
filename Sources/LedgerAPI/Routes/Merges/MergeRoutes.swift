internal import Cryptography
internal import HTTP
package import Ledger

/// `POST /v1/account/merge/preview`: what merging the account of another identity into the caller's would
/// do.
struct MergePreviewRoute: Route {
    static let method = "POST"
    static let path = "/v1/account/merge/preview"

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let request = try await MergeRequest(call)
        let nonce = try request.body.optionalText("nonce", bytesMax: RequestBody.nonceBytesMax)
        let proof = await request.prove(nonce: nonce, notBefore: nil)
        let reply = try await call.submit(.mergeAccounts(request.command(proof, agreed: nil)))
        guard case .mergePlanned(let plan, let digest) = reply else {
            throw .faulted(.internalFailure)
        }
        return call.shown(plan, digest)
    }
}

/// `POST /v1/account/merge`: lets the caller's account absorb that of another identity, as it was shown
/// and agreed to.
struct MergeRoute: Route {
    static let method = "POST"
    static let path = "/v1/account/merge"

    /// The ID token has to be younger than the plan: it carries the plan's digest as its nonce, and where
    /// the provider's flow has none, it was made after the plan was shown.
    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let request = try await MergeRequest(call)
        let text = try request.body.text("plan_digest", bytesMax: RequestBody.nonceBytesMax)
        let shown = call.services.mergePlans.read(
            text, for: request.caller.account, in: call.tenant, at: call.now)
        guard let shown else {
            _ = try await call.identities(of: request.caller)
            throw .refused(.mergePlanChanged)
        }
        let proof = await request.prove(nonce: text, notBefore: shown.at)
        let reply = try await call.submit(
            .mergeAccounts(request.command(proof, agreed: shown.plan)))
        guard case .merged(let plan, let event?) = reply else { throw .faulted(.internalFailure) }
        return .json(MergedAnswer(plan: plan, event: event))
    }
}

/// What both requests of an account holder have in common.
struct MergeRequest: Sendable {
    let caller: Caller
    let body: RequestBody
    private let call: RouteCall
    private let provider: String
    private let idToken: String
    private let keepsAbsorbed: Set<ProviderName>

    init(_ call: RouteCall) async throws(APIError) {
        self.call = call
        caller = try call.caller()
        do {
            body = try RequestBody(call.request)
            provider = try body.text("provider", bytesMax: 255)
            idToken = try body.text("id_token", bytesMax: RequestBody.tokenBytesMax)
            keepsAbsorbed = try MergeChoices.keepsAbsorbed(body)
        } catch {
            throw await call.answer(to: error, by: caller)
        }
    }

    /// Finds out whom the ID token is about, before anything is queued.
    func prove(nonce: String?, notBefore earliest: Timestamp?) async -> LinkProvider.Credential {
        guard let configured = ProviderName(provider).flatMap({ call.configuration.providers[$0] })
        else { return .unsupported }
        switch await configured.prove(idToken, nonce: nonce, at: call.now) {
        case .proved(let identity, let email, _, let issuedAt):
            // Times in tokens are whole seconds.
            if let earliest, configured.check.nonce == .none,
                issuedAt.seconds <= earliest.seconds
            {
                return .invalid
            }
            return .proved(identity, email: email)
        case .invalid: return .invalid
        case .unavailable: return .unavailable
        }
    }

    func command(_ proof: LinkProvider.Credential, agreed: Digest?) -> MergeAccounts {
        MergeAccounts(
            authority: .accountHolder(caller, proof), keepsAbsorbed: keepsAbsorbed, agreed: agreed,
            digest: planDigest)
    }
}

extension RouteCall {
    /// The answer that shows a plan, with what agrees to it.
    func shown(_ plan: MergePlan, _ digest: Digest) -> HTTPResponse {
        .json(
            MergePlanAnswer(
                plan: plan,
                digest: services.mergePlans.issue(
                    digest, for: plan.survivor, in: tenant, at: now)))
    }
}

/// Plain SHA-256, for the plans of merges.
package let planDigest: HashFunction = { bytes in
    guard let digest = Digest(SHA256.hash(bytes)) else {
        preconditionFailure("SHA-256 has 32 bytes")
    }
    return digest
}
