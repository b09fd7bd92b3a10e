internal import HTTP
internal import JSON
internal import Ledger
internal import LedgerSignIn

/// `POST /v1/auth/flows`: begins a browser flow.
struct BeginFlowRoute: Route {
    static let method = "POST"
    static let path = "/v1/auth/flows"
    static let operation = Operation(
        id: "begin_flow", tag: .signIn, summary: "Begin a sign-in, a link or a merge in a browser",
        about:
            "The browser opens `authorize_url`, and comes back to `return_to` with `flow_code` or"
            + " `error`. A link and a merge need an access token. A merge without `plan_digest` is"
            + " previewed.",
        access: .anyoneOrAccountHolder, body: BeginFlowBody.self,
        answers: .json(FlowAnswer.schema), refusals: [.refused(.unsupportedProvider)])

    private enum Purpose: String, CaseIterable {
        case signIn = "sign_in"
        case link
        case merge
    }

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let body = try call.body()
        let text = try body.text(BeginFlowBody.purpose)
        guard let purpose = Purpose(rawValue: text) else {
            throw .invalidRequest(
                RequestFlaw("purpose must be sign_in, link or merge", at: .field("purpose")))
        }
        let begun: (flow: BrowserFlow, caller: Caller?)
        switch purpose {
        case .signIn: begun = (try flow(body, for: .signIn, call), nil)
        case .link:
            begun = try await call.byAccountHolder { caller throws(APIError) in
                (try flow(body, for: .link(caller), call), caller)
            }
        case .merge:
            begun = try await call.byAccountHolder { caller throws(APIError) in
                let plan = try body.text(BeginFlowBody.planDigest)
                return (try flow(body, for: .merge(caller, plan: plan), call), caller)
            }
        }
        if let caller = begun.caller { _ = try await call.identities(of: caller) }
        let token = call.services.flows.begin(begun.flow, in: call.tenant, at: call.now)
        return .json(
            FlowAnswer(authorizeURL: call.address(of: StartFlowRoute.path) + "?flow=\(token)"))
    }

    private func flow(
        _ body: RequestBody, for use: BrowserFlow.Use, _ call: RouteCall
    ) throws(APIError) -> BrowserFlow {
        let challenge = try body.text(BeginFlowBody.codeChallenge)
        let returnTo = try body.text(BeginFlowBody.returnTo)
        let plan = try body.text(BeginFlowBody.planDigest)
        let name = ProviderName(try body.text(RequiredText.provider))
        if case .merge = use {
        } else if plan != nil {
            throw .invalidRequest(
                RequestFlaw("plan_digest is for a merge", at: .field("plan_digest")))
        }
        guard FlowBody.isChallenge(challenge) else {
            throw .invalidRequest(
                RequestFlaw(
                    "code_challenge must be the base64url text of a SHA-256",
                    at: .field("code_challenge")))
        }
        guard call.configuration.returnAddresses.permit(returnTo) else {
            throw .invalidRequest(
                RequestFlaw("return_to must be a listed address", at: .field("return_to")))
        }
        guard let name, call.configuration(of: name)?.settings.flow != nil,
            call.services.publicURL != nil
        else { throw .refused(.unsupportedProvider) }
        return BrowserFlow(use: use, provider: name, returnTo: returnTo, challenge: challenge)
    }
}

private enum BeginFlowBody: BodyForm {
    static let name = "FlowRequest"
    static let purpose = RequiredText(
        name: "purpose", bytesMax: 16, about: "`sign_in`, `link` or `merge`", example: "sign_in")
    static let returnTo = RequiredText(
        name: "return_to", bytesMax: ReturnAddresses.bytesMax,
        about: "The address to which the browser returns; one that the tenant lists",
        example: "http://127.0.0.1:3000/callback")
    static let codeChallenge = RequiredText(
        name: "code_challenge", bytesMax: 43,
        about:
            "The base64url SHA-256 of a random `code_verifier` (RFC 7636), which the client keeps",
        example: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
    static let planDigest = OptionalText.planDigest
    static let members: [any BodyMember] = [
        RequiredText.provider, purpose, returnTo, codeChallenge, planDigest,
    ]
}

private struct FlowAnswer: JSONWritable {
    let authorizeURL: String

    static let schema = Schema.object(
        "Flow",
        [
            .required(
                "authorize_url", .text("https://ledger.example/v1/auth/flows/start?flow=Zmxvdw"),
                "Opened in the browser"),
            .required("expires_in", .integer(BrowserFlows.seconds), "In seconds"),
        ])

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("authorize_url", authorizeURL)
            writer.name("expires_in")
            writer.number(BrowserFlows.seconds)
        }
    }
}

extension RouteCall {
    /// Returns the address of a path of the tenant, as browsers reach it.
    func address(of path: String) -> String {
        let tenant = tenant == .default ? "" : "/t/\(tenant)"
        return (services.publicURL ?? "") + tenant + path
    }
}
