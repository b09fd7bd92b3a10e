internal import HTTP
internal import Ledger

/// `POST /v1/auth/sign-out`: ends the caller's session, or every session of the account.
struct SignOutRoute: Route {
    static let method = "POST"
    static let path = "/v1/auth/sign-out"

    private static let done = Array("{}".utf8)

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let caller = try call.caller()
        let everywhere: Bool
        do {
            let body = try RequestBody(call.request, mayBeEmpty: true)
            everywhere = try body.optionalFlag("everywhere") ?? false
        } catch {
            throw await call.answer(to: error, by: caller)
        }
        _ = try await call.submit(
            .signOut(SignOut(caller: caller, scope: everywhere ? .everywhere : .session)))
        return .json(bytes: Self.done)
    }
}
