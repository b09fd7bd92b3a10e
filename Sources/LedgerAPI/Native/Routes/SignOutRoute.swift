internal import HTTP
internal import Ledger

/// `POST /v1/auth/sign-out`: ends the caller's session, or every session of the account.
struct SignOutRoute: Route {
    static let method = "POST"
    static let path = "/v1/auth/sign-out"
    static let operation = Operation(
        id: "sign_out", tag: .signIn,
        summary: "End the caller's session, or every session of the account",
        access: .accountHolder, body: SignOutBody.self, answers: .json(.empty))

    private static let done = Array("{}".utf8)

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let signOut = try await call.byAccountHolder { caller throws(APIError) in
            let everywhere = try call.body().flag(SignOutBody.everywhere)
            return SignOut(caller: caller, scope: everywhere ?? false ? .everywhere : .session)
        }
        try await call.submit(signOut)
        return .json(bytes: Self.done)
    }
}

/// The body of a sign-out.
private enum SignOutBody: BodyForm {
    static let name = "SignOutRequest"
    static let everywhere = OptionalFlag(
        name: "everywhere", about: "Whether every session of the account ends; false by default",
        example: false)
    static let members: [any BodyMember] = [everywhere]
    static let mayBeEmpty = true
}
