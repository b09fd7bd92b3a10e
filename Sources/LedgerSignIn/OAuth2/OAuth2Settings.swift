internal import FoundationEssentials

/// The settings of an OAuth 2.0 provider.
package struct OAuth2Settings: Sendable {
    /// The providers whose interfaces are known.
    package enum Preset: String, CaseIterable, Sendable {
        case facebook
        case github
        case x
        case linkedin
    }

    /// The name of the provider's user namespace: equal user ids are the same person as long as it is the same.
    let issuer: String
    /// Learns for which person, and for which client, a token was made.
    let inspector: any TokenInspector
    /// The browser flow; nil when it is not configured.
    let flow: FlowSettings?
    /// Whether ``issuer`` is the name by which the provider states itself.
    let statesIssuer: Bool

    /// Describes a known provider.
    ///
    /// - Parameters:
    ///   - preset: Its interface.
    ///   - client: The id of the app at the provider.
    ///   - secret: The secret of the app.
    ///   - api: The URL that the paths of its interface follow; nil for its usual one.
    ///   - flow: The browser flow; nil without one.
    package init(
        _ preset: Preset, client: String, secret: String, api: String? = nil,
        flow: FlowSettings? = nil
    ) {
        self.flow = flow
        statesIssuer = false
        let api = ProviderAPI(base: api ?? preset.usualAPI)
        switch preset {
        case .facebook:
            // Each app has its own ids of people, in every version of the interface.
            issuer = "facebook:\(client)"
            inspector = FacebookInspector(api: api, client: client, secret: secret)
        case .github:
            issuer = api.base
            inspector = GitHubInspector(api: api, client: client, secret: secret)
        case .x:
            issuer = api.base
            inspector = XProfile(api: api)
        case .linkedin:
            // Each app has its own ids of people.
            issuer = "linkedin:\(client)"
            inspector = LinkedInProfile(api: api)
        }
    }

    init(issuer: String, inspector: any TokenInspector, flow: FlowSettings? = nil) {
        self.issuer = issuer
        self.inspector = inspector
        self.flow = flow
        // Any other text is a name that the operator has chosen.
        statesIssuer = issuer.hasPrefix("https://")
    }

    /// Reads a provider's section of the providers file.
    init(_ object: StrictObject) throws(ProvidersFileFault) {
        let members = StrictObject.commonMembers.union(["client_id", "client_secret", "flow"])
        let client = try object.requiredText("client_id")
        let secret = try object.requiredText("client_secret")
        guard let text = try object.optionalText("preset") else {
            try object.allow(members.union(["introspection_url", "issuer", "audience", "scope"]))
            let issuer = try object.requiredText("issuer")
            self.init(
                issuer: issuer,
                inspector: IntrospectionInspector(
                    api: ProviderAPI(base: try object.requiredAddress("introspection_url")),
                    client: client, secret: secret, issuer: issuer,
                    audience: try object.optionalText("audience"),
                    scope: try object.optionalText("scope")),
                flow: try FlowSettings.read(object, client: (client, secret)))
            return
        }
        try object.allow(members.union(["preset", "api_url"]))
        guard let preset = Preset(rawValue: text) else {
            let known = Preset.allCases.map { "\"\($0.rawValue)\"" }
            throw ProvidersFileFault(
                object.location(of: "preset"), "must be \(known.joined(separator: " or "))")
        }
        let api = object.has("api_url") ? try object.requiredAddress("api_url") : nil
        guard api?.hasSuffix("/") != true else {
            throw ProvidersFileFault(object.location(of: "api_url"), "must not end with /")
        }
        self.init(
            preset, client: client, secret: secret, api: api,
            flow: try FlowSettings.read(object, known: preset.flow, client: (client, secret)))
        guard inspector.comparesClient || flow != nil else {
            throw ProvidersFileFault(
                object.location(of: "flow"),
                "is missing, and the provider does not say for which client it made an access token"
            )
        }
    }
}

extension OAuth2Settings.Preset {
    /// The URL that the paths of the interface follow.
    fileprivate var usualAPI: String {
        switch self {
        case .facebook: "https://graph.facebook.com"
        case .github: "https://api.github.com"
        case .x: "https://api.x.com"
        case .linkedin: "https://api.linkedin.com"
        }
    }

    /// The browser flow, as the provider documents it.
    fileprivate var flow: FlowSettings.Defaults {
        switch self {
        case .facebook:
            FlowSettings.Defaults(
                authorizationURL: "https://www.facebook.com/dialog/oauth",
                tokenURL: "https://graph.facebook.com/oauth/access_token",
                scope: "public_profile,email", takesVerifier: false)
        case .github:
            FlowSettings.Defaults(
                authorizationURL: "https://github.com/login/oauth/authorize",
                tokenURL: "https://github.com/login/oauth/access_token", scope: "user:email")
        case .x:
            FlowSettings.Defaults(
                authorizationURL: "https://x.com/i/oauth2/authorize",
                tokenURL: "https://api.x.com/2/oauth2/token", scope: "users.read tweet.read",
                authenticatesByHeader: true)
        case .linkedin:
            FlowSettings.Defaults(
                authorizationURL: "https://www.linkedin.com/oauth/v2/authorization",
                tokenURL: "https://www.linkedin.com/oauth/v2/accessToken",
                scope: "openid profile email", takesVerifier: false)
        }
    }
}
