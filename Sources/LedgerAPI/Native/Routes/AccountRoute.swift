internal import HTTP
internal import Ledger
internal import LedgerWire

/// `GET /v1/account`: the identities that can sign in to the caller's account.
struct AccountRoute: Route {
    static let method = "GET"
    static let path = "/v1/account"
    static let operation = Operation(
        id: "get_account", tag: .account, summary: "The identities of the caller's account",
        access: .accountHolder, answers: .json(AccountAnswer.schema))

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        try await call.account(of: try call.caller())
    }
}

extension RouteCall {
    /// Answers with the identities of a caller whose session is live.
    func account(of caller: Caller) async throws(APIError) -> HTTPResponse {
        let identities = try await identities(of: caller)
        var providers: [String] = []
        for identity in identities where !providers.contains(identity.provider.description) {
            providers.append(identity.provider.description)
        }
        return .json(
            AccountAnswer(
                userID: caller.account.description, linkedProviders: providers,
                identities: identities.map { identity in
                    AccountAnswer.Identity(
                        identityID: identity.id.description,
                        provider: identity.provider.description, email: identity.email?.address,
                        emailVerified: identity.email?.isVerified,
                        linkedAt: identity.linkedAt.description,
                        unlinkDue: identity.unlinkDue?.description)
                }))
    }
}
