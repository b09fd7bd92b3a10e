internal import HTTP
internal import Ledger
internal import LedgerSignIn
internal import LedgerWire

/// `DELETE /v1/auth/link/{provider}`: unlinks an identity from the caller's account.
///
/// `?identity_id=` names one when an account has several of the provider. A body has no meaning,
/// but is part of the fingerprint of an idempotency key.
struct UnlinkRoute: Route {
    static let method = "DELETE"
    static let path = "/v1/auth/link/{provider}"
    static let operation = Operation(
        id: "unlink", tag: .account, summary: "Unlink an identity from the caller's account",
        about: "Requires a recent sign-in. A body has no meaning.", access: .accountHolder,
        parameters: [identityParameter, IdempotencyHeader.parameter],
        answers: .json(LinkedProvidersAnswer.schema),
        refusals: [
            .refused(.providerNotLinked), .refused(.identityNotNamed([])), .refused(.onlyProvider),
            .refused(.reauthenticationRequired), .refused(.idempotencyKeyReused),
            .faulted(.rulesDiffer),
        ])

    private static let parameter = "identity_id"
    private static let identityParameter = Parameter(
        name: parameter, schema: .identity,
        about: "The identity, required where the account has several of the provider")

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let command = try await call.byAccountHolder { caller throws(APIError) in
            try self.command(call, by: caller)
        }
        let providers = try await call.submit(command)
        let name = call.configuration.displayName(of: command.provider)
        return .json(
            LinkedProvidersAnswer(
                linkedProviders: providers.map(\.description),
                message: "\(name) account unlinked"))
    }

    private func command(
        _ call: RouteCall, by caller: Caller
    ) throws(APIError) -> UnlinkProvider {
        let key = try IdempotencyHeader.read(call)
        let identity = try identity(call)
        guard let provider = call.provider else { throw .refused(.providerNotLinked) }
        let named = identity.map { Array("\(Self.parameter)=\($0)\0".utf8) } ?? []
        return UnlinkProvider(
            caller: caller, provider: provider, identity: identity,
            idempotency: key.flatMap {
                call.idempotency(
                    $0, of: caller.account, method: Self.method,
                    path: "/v1/auth/link/\(provider)", content: named + call.content)
            })
    }

    private func identity(_ call: RouteCall) throws(APIError) -> IdentityID? {
        let values = try call.values(of: Self.identityParameter)
        guard let value = values.first else { return nil }
        guard values.count == 1, let identity = IdentityID(value) else {
            throw .invalidRequest(
                RequestFlaw("\(Self.parameter) must be one UUID", at: .parameter(Self.parameter)))
        }
        return identity
    }
}
