internal import Encodings
internal import Foundation
internal import JSON

/// The page of an imitated provider: a form for a name, and the resulting token.
enum ProviderPage {
    /// The content security policy: the page may only submit its own form.
    static let contentSecurityPolicy =
        "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'"

    /// The content below the form.
    enum Result {
        case nothing
        case token(MintedToken, request: TokenRequest)
        case refused(String)
    }

    static func html(
        of provider: String, kind: MintedToken.Kind, api: String, _ result: Result
    ) -> String {
        let title = HTMLText.escape("Sign in with \(provider.capitalized)")
        return """
            <!doctype html>
            <html lang="en">
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width">
            <title>\(title)</title>
            <style>
            body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 44rem;
              padding: 0 1rem; color-scheme: light dark }
            label { display: block; margin: .6rem 0 }
            input { font: inherit; width: 100%; box-sizing: border-box }
            pre { overflow-wrap: anywhere; white-space: pre-wrap; padding: .8rem;
              border: 1px solid; border-radius: .4rem }
            </style>
            <h1>\(title)</h1>
            <p>The development identity provider: sign in with any name.</p>
            <form method="post" action="./">
            <label>Name <input name="name" required maxlength="100" autofocus></label>
            \(kind == .idToken ? nonceField + methodsField : "")
            <button>Make an \(kind.title)</button>
            </form>
            \(html(result, of: provider, api: api))
            </html>

            """
    }

    private static let nonceField = #"<label>Nonce (optional) <input name="nonce"></label>"#

    /// The methods of the sign-in, as the ID token states them.
    static let methodsField = #"<label>amr (optional), such as mfa <input name="amr"></label>"#

    private static func html(_ result: Result, of provider: String, api: String) -> String {
        switch result {
        case .nothing:
            return ""
        case .refused(let reason):
            return "<p role=\"alert\">\(HTMLText.escape(reason))</p>"
        case .token(let token, let request):
            var body = JSONWriter()
            body.object { writer in
                writer.member(token.kind.rawValue, token.text)
                writer.member("nonce", request.nonce)
            }
            let curl = """
                curl -s \(api)/v1/auth/sign-in/\(provider) \\
                  -H 'Content-Type: application/json' \\
                  -d \(quotedForShell(String(decoding: body.bytes, as: UTF8.self)))
                """
            return """
                <h2>The \(token.kind.title) of \(HTMLText.escape(request.name))</h2>
                <pre>\(HTMLText.escape(token.text))</pre>
                <h2>Sign in with it</h2>
                <pre>\(HTMLText.escape(curl))</pre>
                """
        }
    }

    /// Quotes a text as one word of a POSIX shell.
    private static func quotedForShell(_ text: String) -> String {
        "'"
            + text.split(separator: "'", omittingEmptySubsequences: false).joined(
                separator: "'\\''")
            + "'"
    }
}
