internal import Encodings
internal import Foundation

/// The request of a client that sends a browser to an imitated provider (RFC 6749, section 4.1.1).
struct AuthorizationRequest: Sendable {
    /// The fields that the page's form carries on.
    static let fieldNames = [
        "client_id", "redirect_uri", "state", "code_challenge", "nonce", "response_mode",
    ]

    let client: String
    let redirectURI: String
    let state: String
    /// The PKCE challenge (RFC 7636).
    let challenge: String
    let nonce: String?
    /// Whether the answer is a form of this provider's page.
    let usesFormPost: Bool

    /// Reads a request; nil unless its client is on this machine.
    init?(_ fields: FormFields) {
        guard let client = fields["client_id"], let redirectURI = fields["redirect_uri"],
            let state = fields["state"], let challenge = fields["code_challenge"],
            let url = URL(string: redirectURI), let host = url.host(), url.fragment() == nil,
            DevelopmentIdentityProvider.isLoopback(host: host)
        else { return nil }
        self.client = client
        self.redirectURI = redirectURI
        self.state = state
        self.challenge = challenge
        nonce = fields["nonce"]
        usesFormPost = fields["response_mode"] == "form_post"
    }

    /// Returns the address of the client with an answer.
    func address(with answer: [(name: String, value: String)]) -> String {
        let query = answer.map { "\($0.name)=\(PercentEncoding.encode($0.value))" }.joined(
            separator: "&")
        return redirectURI + (redirectURI.contains("?") ? "&" : "?") + query
    }
}
