internal import Cryptography
internal import HTTP
package import Ledger
internal import LedgerSignIn
import OpenID

/// `POST /v1/account/merge/preview`: the effects of merging the account of another identity into
/// the caller's.
struct MergePreviewRoute: Route {
    static let method = "POST"
    static let path = "/v1/account/merge/preview"

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let (request, nonce) = try await call.byAccountHolder { caller throws(APIError) in
            let request = try MergeRequest(call, by: caller)
            let nonce = try request.body.optionalText("nonce", bytesMax: RequestBody.nonceBytesMax)
            return (request, nonce)
        }
        let proof = await request.prove(nonce: nonce, notBefore: nil)
        let reply = try await call.submit(
            .mergeAccounts(request.command(proof, agreed: nil, idempotency: nil)))
        guard case .mergePlanned(let plan, let digest) = reply else {
            throw .faulted(.internalFailure)
        }
        return await call.shown(plan, digest)
    }
}

/// `POST /v1/account/merge`: merges the account of another identity into the caller's, by a plan
/// that the caller agreed to.
struct MergeRoute: Route {
    static let method = "POST"
    static let path = "/v1/account/merge"

    /// The ID token must be newer than the plan: it carries the plan's digest as its nonce or, for
    /// a provider without nonces, was issued after the plan was shown.
    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let (request, text) = try await call.byAccountHolder { caller throws(APIError) in
            let request = try MergeRequest(call, by: caller)
            let text = try request.body.text("plan_digest", bytesMax: RequestBody.nonceBytesMax)
            return (request, text)
        }
        let shown = call.services.mergePlans.read(
            text, for: request.caller.account, in: call.tenant, at: call.now)
        let proof = await request.prove(nonce: text, notBefore: shown?.at)
        // No plan has the digest zero, so an unknown plan is refused like one that has changed.
        let command = request.command(
            proof, agreed: shown?.plan ?? .zero, idempotency: request.idempotency(path: Self.path))
        let reply = try await call.submit(.mergeAccounts(command))
        guard case .merged(let plan, let event?) = reply else { throw .faulted(.internalFailure) }
        return .json(MergedAnswer(plan: plan, event: event))
    }
}

/// The parts that both requests of an account holder share.
struct MergeRequest: Sendable {
    let caller: Caller
    let body: RequestBody
    private let call: RouteCall
    private let key: String?
    private let provider: ProviderName
    private let idToken: String
    private let tokenDigest: Digest
    private let keepsAbsorbed: Set<ProviderName>

    init(_ call: RouteCall, by caller: Caller) throws(APIError) {
        self.call = call
        self.caller = caller
        key = try IdempotencyHeader.read(call.request.headers)
        body = try call.body()
        let name = try body.text("provider", bytesMax: 255)
        idToken = try body.text("id_token", bytesMax: RequestBody.tokenBytesMax)
        keepsAbsorbed = try MergeChoices.keepsAbsorbed(body)
        guard let provider = ProviderName(name) else { throw .refused(.unsupportedProvider) }
        self.provider = provider
        guard let digest = Digest(SHA256.hash(idToken)) else { throw .faulted(.internalFailure) }
        tokenDigest = digest
    }

    /// Returns the idempotency key of the request, for its path.
    func idempotency(path: String) -> IdempotencyKey? {
        key.flatMap {
            IdempotencyHeader.key(
                $0, of: caller.account, method: call.request.method, path: path,
                content: call.request.body)
        }
    }

    /// Checks the ID token before the command is queued.
    func prove(nonce: String?, notBefore earliest: Timestamp?) async -> LinkProvider.Credential {
        guard let configured = call.configuration.providers[provider] else { return .unsupported }
        switch await configured.prove(idToken, nonce: nonce, at: call.now) {
        case .proved(let subject, let email, _, let issuedAt, _):
            // Times in tokens are whole seconds.
            if let earliest, configured.check.nonce == .none,
                issuedAt.seconds <= earliest.seconds
            {
                return .invalid
            }
            return .proved(subject, email: email)
        case .invalid: return .invalid
        case .unavailable: return .unavailable
        }
    }

    func command(
        _ credential: LinkProvider.Credential, agreed: Digest?, idempotency: IdempotencyKey?
    ) -> MergeAccounts {
        let proof = MergeAccounts.Proof(
            provider: provider, credential: credential, tokenDigest: tokenDigest)
        return MergeAccounts(
            authority: .accountHolder(caller, proof), keepsAbsorbed: keepsAbsorbed, agreed: agreed,
            digest: planDigest, idempotency: idempotency)
    }
}

extension RouteCall {
    /// Returns the answer that shows a plan, its digest, and which e-mails are verified, since
    /// support has no other proof of the requester's identity.
    func shown(_ plan: MergePlan, _ digest: Digest) async -> HTTPResponse {
        let flags = await plan.emailFlags(from: services.audit.searches, in: tenant)
        return .json(
            MergePlanAnswer(
                plan: plan, emailFlags: flags,
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
