internal import Encodings
internal import HTTP
internal import Ledger
internal import LedgerSignIn

/// `GET /v1/auth/flows/start`: sends the browser to the provider with a cookie, or asks the person before.
///
/// For browsers: it is in no document, and answers with pages and redirections.
struct StartFlowRoute: Route {
    static let method = "GET"
    static let path = "/v1/auth/flows/start"
    static let flow = Parameter(name: "flow", schema: .text(""), about: "The flow")
    static let operation = Operation(
        id: "start_flow", tag: .signIn, summary: "Send the browser to the provider",
        access: .anyone, parameters: [flow], answers: [])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        guard let token = try call.values(of: Self.flow).first,
            let pending = call.services.flows.start(token, in: call.tenant, at: call.now),
            let provider = call.configuration(of: pending.flow.provider)
        else { return FlowPage.ended }
        let cookie = FlowCookie.set(pending.cookie)
        guard let app = call.configuration.returnAddresses.appToAskAbout(for: pending.flow.returnTo)
        else { return try call.provider(of: pending, cookie) }
        return FlowPage.asking(app, provider.displayName, state: pending.state, cookie)
    }
}

/// `POST /v1/auth/flows/start`: sends the browser to the provider after the person has agreed.
///
/// The form is that of the page: only the browser that showed it has the cookie with the form's state.
struct AgreedFlowRoute: Route {
    static let method = "POST"
    static let path = StartFlowRoute.path
    static let operation = Operation(
        id: "agree_to_flow", tag: .signIn, summary: "Send the browser to the provider",
        access: .anyone, parameters: [FlowCookie.parameter], answers: [])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        guard let fields = call.formFields(), let state = fields["state"],
            let pending = try call.pendingFlow(state)
        else { return FlowPage.ended }
        return try call.provider(of: pending, FlowCookie.set(pending.cookie))
    }
}

/// `GET /v1/auth/flows/callback/{provider}`: ends a flow in the browser, and sends it back to the client.
struct FlowCallbackRoute: Route {
    static let method = "GET"
    static let path = "/v1/auth/flows/callback/{provider}"
    static let parameters = ["state", "code", "error", "iss", "form"].map {
        Parameter(name: $0, schema: .text(""), about: "Of the provider")
    }
    static let operation = Operation(
        id: "end_flow", tag: .signIn, summary: "Send the browser back to the client",
        access: .anyone, parameters: parameters + [FlowCookie.parameter], answers: [])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        var fields: [String: String] = [:]
        for parameter in Self.parameters {
            let values = try call.values(of: parameter)
            guard values.count < 2 else { return FlowPage.ended }
            fields[parameter.name] = values.first
        }
        let flows = call.services.flows
        let kept = fields["form"].flatMap { flows.kept($0, in: call.tenant, at: call.now) }
        guard let answer = kept ?? BrowserFlows.Answer(fields),
            let pending = try call.pendingFlow(answer.state),
            pending.flow.provider == call.provider,
            let provider = call.configuration(of: call.provider)
        else { return FlowPage.ended }
        let address = await flows.end(
            pending, by: answer, provider.settings, callback: call.callback(of: provider.name),
            from: call.codeClient(nil), in: call.tenant, at: call.now)
        return .redirecting(to: address, FlowCookie.deleted)
    }
}

/// `POST /v1/auth/flows/callback/{provider}`: takes the answer of a provider that sends a form from its own page,
/// as Apple does.
///
/// Browsers send no `SameSite` cookie with the form of another site, so the answer comes back with a redirection.
struct FlowFormRoute: Route {
    static let method = "POST"
    static let path = FlowCallbackRoute.path
    static let operation = Operation(
        id: "keep_flow_answer", tag: .signIn, summary: "Send the browser back with its cookie",
        access: .anyone, answers: [])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        guard let provider = call.provider, let fields = call.formFields(),
            let answer = BrowserFlows.Answer(fields)
        else { return FlowPage.ended }
        let form = call.services.flows.keep(answer, in: call.tenant, at: call.now)
        return .redirecting(to: call.callback(of: provider) + "?form=\(form)")
    }
}

extension BrowserFlows.Answer {
    /// Reads the parameters of a provider; nil without a state, and for longer ones than providers send.
    fileprivate init?(_ fields: [String: String]) {
        guard let state = fields["state"],
            fields.values.allSatisfy({ $0.utf8.count <= Self.partBytesMax })
        else { return nil }
        self.init(
            state: state, code: fields["code"], error: fields["error"], issuer: fields["iss"])
    }
}

extension RouteCall {
    /// Returns the flow of the browser's cookie; nil unless it has this state.
    fileprivate func pendingFlow(_ state: String) throws(APIError) -> BrowserFlows.Pending? {
        for cookie in try values(of: FlowCookie.parameter) {
            if let flow = services.flows.pending(cookie, state: state, in: tenant, at: now) {
                return flow
            }
        }
        return nil
    }

    /// Returns the address to which a provider sends browsers back.
    fileprivate func callback(of provider: ProviderName) -> String {
        address(of: FlowCallbackRoute.path.replacing("{provider}", with: "\(provider)"))
    }

    /// Sends the browser to the provider's page.
    fileprivate func provider(
        of pending: BrowserFlows.Pending, _ cookie: (name: String, value: String)
    ) throws(APIError) -> HTTPResponse {
        guard let provider = configuration(of: pending.flow.provider),
            let address = services.flows.address(
                for: pending, provider.settings, callback: callback(of: provider.name))
        else { return FlowPage.ended }
        return .redirecting(to: address, cookie)
    }

    /// Returns the fields of a form, each of which occurs once; nil for another body.
    fileprivate func formFields() -> [String: String]? {
        guard contentTypes.count == 1, MediaType(contentTypes[0])?.isForm == true,
            let pairs = FormEncoding.fields(of: content),
            Set(pairs.map(\.name)).count == pairs.count
        else { return nil }
        return Dictionary(uniqueKeysWithValues: pairs.map { ($0.name, $0.value) })
    }
}

extension HTTPResponse {
    /// Sends a browser to an address, without the address of this page.
    fileprivate static func redirecting(
        to address: String, _ more: (name: String, value: String)...
    ) -> HTTPResponse {
        let headers = [("Location", address), ("Referrer-Policy", "no-referrer")]
        return HTTPResponse(status: 303, headers: headers + more)
    }
}

/// The cookie that makes a flow that of one browser.
///
/// With the prefix, browsers take it from this host alone and over TLS (RFC 6265bis, section 4.1.3.2).
private enum FlowCookie {
    static let name = "__Host-ledger-flow"
    static let parameter = Parameter(
        name: name, location: .cookie, schema: .text(""), about: "The flow")

    static func set(_ value: String) -> (name: String, value: String) {
        ("Set-Cookie", "\(name)=\(value); Max-Age=\(BrowserFlows.seconds); \(attributes)")
    }

    static let deleted = (name: "Set-Cookie", value: "\(name)=; Max-Age=0; \(attributes)")
    private static let attributes = "Path=/; Secure; HttpOnly; SameSite=Lax"
}

/// The pages that a person sees between the client and the provider.
private enum FlowPage {
    /// The page for a flow that has ended, or was begun in another browser.
    static let ended = page(
        400, "This sign-in has ended",
        """
        <p>It took too long, or was begun in another browser. Go back to the app and begin again.</p>
        """)

    /// Asks whether an app may begin a sign-in: any app of the device could have opened the page.
    static func asking(
        _ app: String, _ provider: String, state: String, _ cookie: (name: String, value: String)
    ) -> HTTPResponse {
        let names = (HTMLText.escape(app), HTMLText.escape(provider))
        var response = page(
            200, "Use your \(names.1) account for \(names.0)?",
            """
            <p>An app on this device asks to use your <b>\(names.1)</b> account for
            <b>\(names.0)</b>. Go on only if you have just asked for it there.</p>
            <form method="post"><input type="hidden" name="state" value="\(state)">
            <button>Go on to \(names.1)</button></form>
            """)
        response.headers.append(cookie)
        return response
    }

    private static func page(_ status: Int, _ title: String, _ content: String) -> HTTPResponse {
        let text = """
            <!doctype html>
            <html lang="en">
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width">
            <title>\(title)</title>
            <style>body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 40rem;
              padding: 0 1rem; color-scheme: light dark } button { font: inherit; padding: .4rem 1rem }</style>
            <h1>\(title)</h1>
            \(content)
            </html>

            """
        return HTTPResponse(
            status: status,
            headers: [
                ("Content-Type", "text/html; charset=utf-8"),
                (
                    "Content-Security-Policy",
                    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
                ), ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
            ], body: Array(text.utf8))
    }
}
