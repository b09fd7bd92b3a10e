internal import HTTP
internal import Ledger
internal import LedgerSignIn
internal import LedgerWire
internal import Passwords

/// `POST /v1/auth/link/{provider}`: adds the identity that a credential proves to the caller's
/// account.
struct LinkRoute: Route {
    static let method = "POST"
    static let path = "/v1/auth/link/{provider}"
    static let operation = Operation(
        id: "link", tag: .account, summary: "Link an identity to the caller's account",
        about:
            "In a tenant with `confirm_later`, `email` and `password` link a password whose address is"
            + " confirmed later, by a sign-in with the code that is sent. After a 409 to a `flow_code` of an"
            + " identity that another account has, `details.proof_token` takes its place for ten minutes, in a"
            + " sign-in or the preview of a merge.",
        access: .accountHolder,
        parameters: [IdempotencyHeader.parameter, LanguageHeader.parameter], body: LinkBody.self,
        answers: .json(LinkedProvidersAnswer.schema),
        refusals: [APIError].ofCredential + [
            .identityHeld(.token(ExampleValue.proofToken)), .refused(.idempotencyKeyReused),
            .weakPassword(.blocklisted), .refused(.reauthenticationRequired),
        ])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let request = try await call.byAccountHolder { caller throws(APIError) in
            try LinkRequest(call, by: caller)
        }
        let earlier = try await call.earlierLink(by: request)
        let confirmation = try await call.confirmation(of: request, isRepeated: earlier != nil)
        let providers: [ProviderName]
        if let earlier {
            providers = earlier
        } else {
            let presented =
                confirmation.map { .password(.claim(address: $0.address, $0.hash)) }
                ?? request.presented
            let credential = await call.credential(
                presented, of: request.provider, for: .link, by: request.caller)
            do throws(APIError) {
                providers = try await call.submit(
                    request.command(credential, call.services.newID()))
            } catch .refused(.providerConflict(.heldByOther)) {
                throw call.identityHeld(request, by: credential)
            }
        }
        let name = call.configuration.displayName(of: request.provider)
        let challenge = await call.challenge(of: confirmation, repeatedBy: request.key)
        return .json(
            LinkedProvidersAnswer(
                linkedProviders: providers.map(\.description),
                message: "\(name) account linked successfully",
                challengeID: challenge?.description))
    }
}

extension RouteCall {
    /// Returns the answer of an earlier link with the same key; nil without one, and if no address is claimed.
    ///
    /// A claim uses up a limit and is hashed. The command checks the key and the session before its credential,
    /// which is refused here, so that neither a repetition nor a session that has ended costs anything.
    ///
    /// - Throws: the refusals that come before that of the credential.
    fileprivate func earlierLink(
        by request: LinkRequest
    ) async throws(APIError) -> [ProviderName]? {
        guard request.claim != nil else { return nil }
        let credential = Credential(
            provider: request.provider,
            digest: services.requestDigests.attempt(request.presented.digest, at: now),
            check: .failure(.limited(retryAfterSeconds: 1)))
        do throws(APIError) {
            return try await submit(request.command(credential, services.newID()))
        } catch .refused(.rateLimited) {
            return nil
        }
    }

    /// Returns the refusal of an identity that another account has, with the proof of a browser flow.
    ///
    /// Nothing of it is stored: a repetition gets the proof while its own code is good.
    fileprivate func identityHeld(_ request: LinkRequest, by credential: Credential) -> APIError {
        let held = APIError.refused(.providerConflict(.heldByOther))
        guard case .flow(let body) = request.presented, let proof = credential.proof else {
            return held
        }
        let token = services.flows.token(
            keeping: proof, of: body, refusedTo: request.caller, in: tenant, at: now)
        guard page != nil else { return .identityHeld(.token(token)) }
        // The scripts of the page get neither codes nor tokens.
        guard let flow = pageFlow,
            let cookie = services.pages.cookie(of: flow, keeping: token, in: tenant, at: now)
        else { return held }
        return .identityHeld(.cookie(cookie))
    }

    /// Returns the address and the password of a link whose address is confirmed later; nil for any other link.
    fileprivate func confirmation(
        of request: LinkRequest, isRepeated: Bool
    ) async throws(APIError) -> Confirmation? {
        guard let claim = request.claim else { return nil }
        do throws(APIError) {
            try await countClaim()
            return Confirmation(
                provider: request.provider, address: claim.address, password: claim.password,
                hash: try await hashed(claim.prepared), language: request.language)
        } catch {
            // The link is made, and only its code can't be sent now.
            if isRepeated { return nil }
            throw error
        }
    }
}

/// An account holder's request to link an identity.
private struct LinkRequest {
    /// An address in its canonical form, and its password.
    typealias Claim = (address: String, password: Password, prepared: PreparedPassword)

    let caller: Caller
    let key: IdempotencyKey?
    let language: String?
    let presented: CredentialBody
    let provider: ProviderName
    /// Nil for a link whose address is not confirmed later.
    let claim: Claim?

    init(_ call: RouteCall, by caller: Caller) throws(APIError) {
        self.caller = caller
        let key = try IdempotencyHeader.read(call)
        language = try LanguageHeader.read(call)
        let body = try call.body()
        // An anonymous identity is never linked, with or without its secret.
        presented = try body.credentialOrNewSecret(for: call.configuration(of: call.provider))
        guard let provider = call.provider else { throw .refused(.unsupportedProvider) }
        self.provider = provider
        self.key = key.map {
            call.idempotency(
                $0, of: caller.account, method: LinkRoute.method,
                path: "/v1/auth/link/\(provider)", content: call.content)
        }
        guard call.configuration.policy.confirmLater,
            case .password(.known(let typed, let password, _, _)) = presented,
            case .password(let settings)? = call.configuration(of: provider)?.settings
        else {
            claim = nil
            return
        }
        claim = (
            try call.canonical(typed), password, try call.prepared(password, under: settings)
        )
    }

    func command(_ credential: Credential, _ newIdentity: IdentityID) -> LinkProvider {
        LinkProvider(
            caller: caller, credential: credential, idempotency: key, newIdentity: newIdentity)
    }
}

/// The body of a link.
private enum LinkBody: BodyForm {
    static let name = "LinkRequest"
    static let members: [any BodyMember] = .credential
}
