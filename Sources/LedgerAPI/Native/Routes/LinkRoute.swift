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
        access: .accountHolder, parameters: [IdempotencyHeader.parameter], body: LinkBody.self,
        answers: .json(LinkedProvidersAnswer.schema),
        refusals: [APIError].ofCredential + [
            .refused(.providerConflict(.heldByOther)), .refused(.idempotencyKeyReused),
            .weakPassword(.blocklisted), .refused(.reauthenticationRequired),
        ])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let request = try await call.byAccountHolder { caller throws(APIError) in
            try LinkRequest(call, by: caller)
        }
        let command = LinkProvider(
            caller: request.caller,
            credential: await call.credential(
                request.presented, of: request.provider, for: .link, by: request.caller),
            idempotency: request.key.flatMap {
                call.idempotency(
                    $0, of: request.caller.account, method: Self.method,
                    path: "/v1/auth/link/\(request.provider)", content: call.content)
            },
            newIdentity: call.services.newID())
        let providers = try await call.submit(command)
        let name = call.configuration.displayName(of: request.provider)
        return .json(
            LinkedProvidersAnswer(
                linkedProviders: providers.map(\.description),
                message: "\(name) account linked successfully"))
    }
}

/// An account holder's request to link an identity.
private struct LinkRequest {
    let caller: Caller
    let key: String?
    let presented: CredentialBody
    let provider: ProviderName

    init(_ call: RouteCall, by caller: Caller) throws(APIError) {
        self.caller = caller
        key = try IdempotencyHeader.read(call)
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
