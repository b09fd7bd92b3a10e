internal import FoundationEssentials

/// The settings of an OAuth 2.0 provider that tells for which client it made an access token.
package struct OAuth2Settings: Sendable {
    /// The providers whose interfaces are known.
    package enum Preset: String, CaseIterable, Sendable {
        case facebook
        case github
    }

    /// The name of the provider's user namespace: equal user ids are the same person as long as it is the same.
    let issuer: String
    /// Learns for which client and person a token was made.
    let inspector: any TokenInspector

    /// Describes a known provider.
    ///
    /// - Parameters:
    ///   - preset: Its interface.
    ///   - client: The id of the app at the provider.
    ///   - secret: The secret of the app.
    ///   - api: The URL that the paths of its interface follow; nil for its usual one.
    package init(_ preset: Preset, client: String, secret: String, api: String? = nil) {
        switch preset {
        case .facebook:
            // Each app has its own ids of people, in every version of the interface.
            issuer = "facebook:\(client)"
            inspector = FacebookInspector(
                api: ProviderAPI(base: api ?? FacebookInspector.usualAPI), client: client,
                secret: secret)
        case .github:
            let api = api ?? GitHubInspector.usualAPI
            issuer = api
            inspector = GitHubInspector(
                api: ProviderAPI(base: api), client: client, secret: secret)
        }
    }

    init(issuer: String, inspector: any TokenInspector) {
        self.issuer = issuer
        self.inspector = inspector
    }

    /// Reads a provider's section of the providers file.
    init(_ object: StrictObject) throws(ProvidersFileFault) {
        let members = StrictObject.commonMembers.union(["client_id", "client_secret"])
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
                    scope: try object.optionalText("scope")))
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
        self.init(preset, client: client, secret: secret, api: api)
    }
}
