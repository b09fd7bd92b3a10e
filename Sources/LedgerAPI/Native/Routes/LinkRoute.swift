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
            + " confirmed later, by a sign-in with the code that is sent.",
        access: .accountHolder,
        parameters: [IdempotencyHeader.parameter, LanguageHeader.parameter], body: LinkBody.self,
        answers: .json(LinkedProvidersAnswer.schema),
        refusals: [APIError].ofCredential + [
            .refused(.providerConflict(.heldByOther)), .refused(.idempotencyKeyReused),
            .weakPassword(.blocklisted), .refused(.reauthenticationRequired),
        ])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let request = try await call.byAccountHolder { caller throws(APIError) in
            try LinkRequest(call, by: caller)
        }
        let claim = try await call.confirmation(of: request)
        let presented =
            claim.map { .password(.claim(address: $0.address, $0.hash)) } ?? request.presented
        let key = request.key.flatMap {
            call.idempotency(
                $0, of: request.caller.account, method: Self.method,
                path: "/v1/auth/link/\(request.provider)", content: call.content)
        }
        let command = LinkProvider(
            caller: request.caller,
            credential: await call.credential(
                presented, of: request.provider, for: .link, by: request.caller),
            idempotency: key, newIdentity: call.services.newID())
        let providers = try await call.submit(command)
        let name = call.configuration.displayName(of: request.provider)
        return .json(
            LinkedProvidersAnswer(
                linkedProviders: providers.map(\.description),
                message: "\(name) account linked successfully",
                challengeID: await call.challenge(of: claim, repeatedBy: key)?.description))
    }
}

extension RouteCall {
    /// Returns the address and the password of a link whose address is confirmed later; nil for any other link.
    fileprivate func confirmation(
        of request: LinkRequest
    ) async throws(APIError) -> Confirmation? {
        guard configuration.policy.confirmLater,
            case .password(.known(let typed, let password, _)) = request.presented,
            case .password(let settings)? = configuration(of: request.provider)?.settings
        else { return nil }
        let address = try canonical(typed)
        let prepared = try prepared(password, under: settings)
        try await countClaim()
        return Confirmation(
            provider: request.provider, address: address, password: password,
            hash: try await hashed(prepared), language: request.language)
    }
}

/// An account holder's request to link an identity.
private struct LinkRequest {
    let caller: Caller
    let key: String?
    let language: String?
    let presented: CredentialBody
    let provider: ProviderName

    init(_ call: RouteCall, by caller: Caller) throws(APIError) {
        self.caller = caller
        key = try IdempotencyHeader.read(call)
        language = try LanguageHeader.read(call)
        let body = try call.body()
        // An anonymous identity is never linked, with or without its secret.
        presented = try body.credentialOrNewSecret(for: call.configuration(of: call.provider))
        guard let provider = call.provider else { throw .refused(.unsupportedProvider) }
        self.provider = provider
    }
}

/// The body of a link.
private enum LinkBody: BodyForm {
    static let name = "LinkRequest"
    static let members: [any BodyMember] = .credential
}
