internal import HTTP
internal import Ledger

/// `POST /v1/auth/sign-out`: ends the caller's session, or every session of the account.
struct SignOutRoute: Route {
    static let method = "POST"
    static let path = "/v1/auth/sign-out"

    private static let done = Array("{}".utf8)

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let signOut = try await call.byAccountHolder { caller throws(APIError) in
            let everywhere = try call.body(mayBeEmpty: true).optionalFlag("everywhere") ?? false
            return SignOut(caller: caller, scope: everywhere ? .everywhere : .session)
        }
        try await call.submit(signOut)
        return .json(bytes: Self.done)
    }
}
