internal import Encodings
internal import Foundation
internal import HTTP
internal import JSON

/// The browser flows of the imitated providers: the page, and the exchange of its code.
extension DevelopmentIdentityProvider {
    /// Shows the page for a name, and sends the browser back with a code.
    func authorization(at provider: String, _ request: HTTPRequest) -> HTTPResponse {
        guard let fields = FormFields(request), let wanted = AuthorizationRequest(fields) else {
            return .failure(400, "INVALID_REQUEST", "not an authorization request of this machine")
        }
        guard request.method == "POST" else {
            return Self.page(200, authorizationPage(of: provider, fields))
        }
        var answer: [(name: String, value: String)] = [("state", wanted.state)]
        if fields["deny"] != nil {
            answer.append(("error", "access_denied"))
        } else {
            guard let person = try? TokenRequest(fields) else {
                return Self.page(400, authorizationPage(of: provider, fields))
            }
            answer.append(("code", codes.code(of: provider, for: wanted, person, at: Self.now)))
        }
        if let issuer = issuer(of: provider) { answer.append(("iss", issuer)) }
        guard wanted.usesFormPost else {
            return HTTPResponse(
                status: 303, headers: [("Location", wanted.address(with: answer))])
        }
        return Self.page(200, AuthorizationPage.form(to: wanted.redirectURI, answer))
    }

    private func authorizationPage(of provider: String, _ fields: FormFields) -> String {
        AuthorizationPage.html(of: provider, hasIDToken: issuer(of: provider) != nil, fields)
    }

    /// Returns a page whose form leads to the client, by itself or by redirections.
    private static func page(_ status: Int, _ text: String) -> HTTPResponse {
        var page = HTTPResponse.html(status, text)
        page.headers.removeAll { $0.name == "Content-Security-Policy" }
        return page
    }

    /// Answers the exchange of a code; nil for another request for a token.
    func exchange(at provider: String, _ request: HTTPRequest) -> HTTPResponse? {
        guard request.method == "POST", let fields = FormFields(request),
            fields["grant_type"] == "authorization_code"
        else { return nil }
        guard isClient(request, fields) else {
            return .json(401) { $0.member("error", "invalid_client") }
        }
        guard let (person, nonce) = codes.person(fields, at: provider, now: Self.now),
            let token = flowToken(of: person, nonce: nonce, at: provider)
        else { return .json(400) { $0.member("error", "invalid_grant") } }
        return .json(200) { writer in
            writer.member(token.kind.rawValue, token.text)
            writer.member("token_type", "Bearer")
        }
    }

    /// Whether the request has the client's secret, in its body or in `Authorization`.
    private func isClient(_ request: HTTPRequest, _ fields: FormFields) -> Bool {
        let secret = ImitatedTokenProvider.clientSecret
        let pair = Base64.encode(Array("\(Self.audience):\(secret)".utf8))
        return fields["client_secret"] == secret
            || request.headers["Authorization"] == "Basic \(pair)"
    }
}

/// The pages of a browser flow.
private enum AuthorizationPage {
    /// The form for a name, or for a refusal.
    static func html(of provider: String, hasIDToken: Bool, _ fields: FormFields) -> String {
        let hidden = AuthorizationRequest.fieldNames.map { field($0, fields[$0]) }.joined()
        let isStaff = provider == DevelopmentIdentityProvider.staffName
        return page(
            isStaff ? "Sign in as staff" : "Sign in with \(provider.capitalized)",
            """
            <p>The development identity provider: sign in with any name.</p>
            <form method="post" action="authorize">\(hidden)
            <label>Name <input name="name" maxlength="100" value="\(isStaff ? "sam" : "ada")" autofocus></label>
            \(isStaff ? roles : hasIDToken ? ProviderPage.methodsField : "")
            <button>\(isStaff ? "Continue" : "Sign in")</button> <button name="deny" value="1">Cancel</button>
            </form>
            """)
    }

    /// The choice of a role; several are separated by spaces.
    private static let roles: String = {
        let options = ["support", "auditor", "admin", "auditor support", "none"].map {
            "<option value=\"\($0)\">\($0.replacing(" ", with: " and "))</option>"
        }
        return "<label>Role <select name=\"role\">\(options.joined())</select></label>"
    }()

    /// The form that carries an answer to the client.
    static func form(to address: String, _ answer: [(name: String, value: String)]) -> String {
        let hidden = answer.map { field($0.name, $0.value) }.joined()
        return page(
            "Back to the app",
            """
            <form method="post" action="\(HTMLText.escape(address))">\(hidden)
            <button>Continue</button></form>
            """)
    }

    private static func field(_ name: String, _ value: String?) -> String {
        value.map { "<input type=\"hidden\" name=\"\(name)\" value=\"\(HTMLText.escape($0))\">" }
            ?? ""
    }

    private static func page(_ title: String, _ content: String) -> String {
        """
        <!doctype html>
        <html lang="en">
        <meta charset="utf-8">
        <title>\(HTMLText.escape(title))</title>
        <h1>\(HTMLText.escape(title))</h1>
        \(content)
        </html>

        """
    }
}
