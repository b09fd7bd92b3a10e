internal import Encodings
internal import FoundationEssentials
internal import JSON
internal import Ledger

/// The settings of a provider's browser flow: the authorization code grant of OAuth 2.0 (RFC 6749, section 4.1)
/// with PKCE (RFC 7636).
package struct FlowSettings: Sendable {
    /// The usual addresses and the scope of a provider.
    struct Defaults {
        let authorizationURL: String
        let tokenURL: String
        let scope: String
        var authenticatesByHeader = false
        /// Whether it takes a PKCE verifier from a client with a secret; some refuse every exchange that has one.
        var takesVerifier = true
    }

    /// The client's authentication at the token endpoint.
    enum Secret: Sendable {
        case text(String)
        /// A JWT that the client signs, as Apple asks for.
        case apple(AppleClientSecret)
    }

    private let authorizationURL: String
    private let tokens: ProviderAPI
    let client: String
    private let secret: Secret
    private let authenticatesByHeader: Bool
    let takesVerifier: Bool
    private let scope: String
    /// Whether the provider sends its answer as a form from its own page.
    private let usesFormPost: Bool

    /// The provider's token endpoint.
    var tokenURL: String { tokens.base }

    /// Describes the flow of a client.
    ///
    /// - Parameters:
    ///   - authorizationURL: The provider's page.
    ///   - tokenURL: The provider's token endpoint.
    ///   - client: The id of the client.
    ///   - secret: The secret of the client.
    ///   - scope: The scope to ask for.
    ///   - usesFormPost: Whether the provider answers with a form.
    package init(
        authorizationURL: String, tokenURL: String, client: String, secret: String, scope: String,
        usesFormPost: Bool = false
    ) {
        self.init(
            Defaults(authorizationURL: authorizationURL, tokenURL: tokenURL, scope: scope),
            client: client, secret: .text(secret), usesFormPost: usesFormPost)
    }

    init(_ known: Defaults, client: String, secret: Secret, usesFormPost: Bool = false) {
        authorizationURL = known.authorizationURL
        tokens = ProviderAPI(base: known.tokenURL)
        authenticatesByHeader = known.authenticatesByHeader
        takesVerifier = known.takesVerifier
        scope = known.scope
        self.client = client
        self.secret = secret
        self.usesFormPost = usesFormPost
    }

    /// Reads the member `flow` of a provider's section, whose other members may give the client.
    ///
    /// - Parameters:
    ///   - section: The provider's section.
    ///   - known: The addresses of a provider that has a preset.
    ///   - client: The client of a section that names it beside the flow.
    /// - Returns: nil without that member.
    /// - Throws: `ProvidersFileFault`, which names the location.
    static func read(
        _ section: StrictObject, known: Defaults? = nil,
        client: (id: String, secret: String)? = nil
    ) throws(ProvidersFileFault) -> FlowSettings? {
        guard section.has("flow") else { return nil }
        let (value, location) = try section.required("flow")
        let object = try StrictObject(value, at: location)
        var members: Set<String> = [
            "authorization_url", "token_url", "scope", "form_post", "client_secret_basic", "pkce",
        ]
        if client == nil {
            members.formUnion(["client_id", "client_secret", "apple_key"])
        }
        try object.allow(members)
        func address(_ name: String, _ usual: String?) throws(ProvidersFileFault) -> String {
            guard object.has(name) || usual == nil else { return usual ?? "" }
            return try object.requiredAddress(name)
        }
        let id: String
        let secret: Secret
        if let client {
            id = client.id
            secret = .text(client.secret)
        } else {
            id = try object.requiredText("client_id")
            secret =
                object.has("apple_key")
                ? .apple(try AppleClientSecret(object, client: id))
                : .text(try object.requiredText("client_secret"))
            guard !object.has("apple_key") || !object.has("client_secret") else {
                throw ProvidersFileFault(
                    object.location(of: "client_secret"), "contradicts apple_key")
            }
        }
        let isBasic = try object.optionalFlag("client_secret_basic")
        return FlowSettings(
            Defaults(
                authorizationURL: try address("authorization_url", known?.authorizationURL),
                tokenURL: try address("token_url", known?.tokenURL),
                scope: try object.optionalText("scope") ?? known?.scope ?? "openid email",
                authenticatesByHeader: isBasic ?? known?.authenticatesByHeader ?? false,
                takesVerifier: try object.optionalFlag("pkce") ?? known?.takesVerifier ?? true),
            client: id, secret: secret,
            usesFormPost: try object.optionalFlag("form_post") ?? false)
    }

    /// Returns the address of the provider's page.
    ///
    /// - Parameters:
    ///   - callback: The address to which the provider sends the browser back.
    ///   - state: The value that comes back with it.
    ///   - verifier: The PKCE verifier of the flow.
    ///   - nonce: The nonce of the ID token; nil where none is sent.
    /// - Returns: The address.
    func authorizationAddress(
        callback: String, state: String, verifier: String, nonce: String?
    ) -> String {
        var fields = [
            ("response_type", "code"), ("client_id", client), ("redirect_uri", callback),
            ("scope", scope), ("state", state),
        ]
        if takesVerifier {
            fields += [
                ("code_challenge", FlowBody.challenge(of: verifier)),
                ("code_challenge_method", "S256"),
            ]
        }
        if let nonce { fields.append(("nonce", nonce)) }
        if usesFormPost { fields.append(("response_mode", "form_post")) }
        return authorizationURL + (authorizationURL.contains("?") ? "&" : "?") + Self.form(fields)
    }

    /// Exchanges the code of an authorization for tokens (RFC 6749, section 4.1.3).
    ///
    /// - Returns: The members of the answer.
    /// - Throws: `invalid` for a code that the provider refuses; `unavailable` without its answer, for a refused
    ///   client (RFC 6749, section 5.2), and for a temporary error.
    func exchange(
        _ code: String, callback: String, verifier: String, at now: Timestamp
    ) async throws(Credential.Flaw) -> JSONMembers {
        let secretText =
            switch secret {
            case .text(let text): text
            case .apple(let signer): signer.token(at: now)
            }
        var fields = [
            ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", callback),
            ("client_id", client),
        ]
        if takesVerifier { fields.append(("code_verifier", verifier)) }
        if !authenticatesByHeader { fields.append(("client_secret", secretText)) }
        let (status, document) = try await tokens.exchange(
            "", authorization: authenticatesByHeader ? ProviderAPI.basic(client, secretText) : nil,
            body: (Array(Self.form(fields).utf8), "application/x-www-form-urlencoded"))
        guard let members = document?.members else {
            throw status == 400 ? .invalid : .unavailable
        }
        // GitHub answers with status 200 and `error`.
        if let error = members.present("error") {
            let isOfClient = Self.refusedClients.contains(error.string ?? "")
            throw isOfClient || error.isTemporary ? .unavailable : .invalid
        }
        guard status == 200 else { throw .unavailable }
        return members
    }

    /// The errors that are no refusal of the code; the last one is GitHub's.
    private static let refusedClients: Set<String> = [
        "invalid_client", "unauthorized_client", "incorrect_client_credentials",
    ]

    private static func form(_ fields: [(String, String)]) -> String {
        fields.map { "\($0.0)=\(PercentEncoding.encode($0.1))" }.joined(separator: "&")
    }
}
