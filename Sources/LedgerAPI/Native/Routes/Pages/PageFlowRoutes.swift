internal import HTTP
internal import JSON
internal import Ledger
internal import LedgerSignIn

/// `POST /account/flows`: begins a browser flow whose client is the page.
///
/// The verifier, and later the code, are in a cookie that scripts can't read. The page presents the code with
/// `"flow_code":"cookie"`.
struct BeginPageFlowRoute: Route {
    static let method = "POST"
    static let path = "/account/flows"
    static let origin = Parameter(
        name: "Origin", location: .header, schema: .text(""), about: "The origin of the page")
    static let operation = Operation(
        id: "begin_page_flow", tag: .account, summary: "Begin a flow of the page",
        access: .anyone, parameters: [origin], body: PageFlowBody.self, answers: [])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        guard let page = call.page else { throw .notOfPage }
        let body = try call.body()
        let purpose = try body.text(PageFlowBody.purpose)
        let plan = try body.text(PageFlowBody.planDigest)
        guard let name = ProviderName(try body.text(RequiredText.provider)),
            call.configuration(of: name)?.settings.flow != nil, call.services.publicURL != nil
        else { throw .refused(.unsupportedProvider) }
        let use = try use(purpose, plan, by: page.caller)
        if use != .signIn, let caller = page.caller { _ = try await call.identities(of: caller) }
        let flow = call.services.pages.flow(at: name, for: purpose)
        let callback = PageCallbackRoute.path.replacing("{provider}", with: name.description)
        let begun = BrowserFlow(
            use: use, provider: name,
            returnTo: LoopbackAddress.of(
                call.address(of: callback), asReachedBy: try call.values(of: Self.origin).first),
            challenge: flow.challenge)
        let token = call.services.flows.begin(begun, in: call.tenant, at: call.now)
        let address = call.address(of: StartFlowRoute.path) + "?flow=\(token)"
        return .json(
            PageFlowAnswer(authorizeURL: address),
            headers: [
                PageFlowCookie.set(
                    call.services.pages.cookie(of: flow, in: call.tenant, at: call.now))
            ])
    }

    private func use(
        _ purpose: String, _ plan: String?, by caller: Caller?
    ) throws(APIError) -> BrowserFlow.Use {
        if purpose == "sign_in" { return .signIn }
        guard let caller else { throw .accessTokenMissing }
        switch purpose {
        case "link": return .link(caller)
        case "merge": return .merge(caller, plan: plan)
        default:
            throw .invalidRequest(
                RequestFlaw("purpose must be sign_in, link or merge", at: .field("purpose")))
        }
    }
}

/// `GET /account/callback/{provider}`: takes the code out of the address, and leads to the page.
///
/// It decides nothing: the code counts only with the verifier in the cookie, and the page presents it.
struct PageCallbackRoute: Route {
    static let method = "GET"
    static let path = "/account/callback/{provider}"
    static let code = Parameter(name: "flow_code", schema: .text(""), about: "The code")
    static let error = Parameter(name: "error", schema: .text(""), about: "The cause")
    static let operation = Operation(
        id: "end_page_flow", tag: .account, summary: "Lead back to the page",
        access: .anyone, parameters: [code, error, PageFlowCookie.parameter], answers: [])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        var headers = [
            // Relative, since a reverse proxy may add a path.
            (name: "Location", value: "../../account?flow=done"),
            (name: "Referrer-Policy", value: "no-referrer"),
        ]
        let code = try call.values(of: Self.code).first
        let error = try call.values(of: Self.error).first
        if let flow = call.pageFlow, flow.provider == call.provider {
            let ended = call.services.pages.ended(flow, code: code, error: error)
            headers.append(
                PageFlowCookie.set(
                    call.services.pages.cookie(of: ended, in: call.tenant, at: call.now)))
        }
        return HTTPResponse(status: 303, headers: headers)
    }
}

private enum PageFlowBody: BodyForm {
    static let name = "PageFlow"
    static let purpose = RequiredText(
        name: "purpose", bytesMax: 16, about: "`sign_in`, `link` or `merge`", example: "sign_in")
    static let planDigest = OptionalText.planDigest
    static let members: [any BodyMember] = [RequiredText.provider, purpose, planDigest]
}

private struct PageFlowAnswer: JSONWritable {
    let authorizeURL: String

    func write(to writer: inout JSONWriter) {
        writer.object { $0.member("authorize_url", authorizeURL) }
    }
}
