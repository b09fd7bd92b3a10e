/// An app on a device: signs in, links and unlinks over HTTP, and keeps its tokens.
package struct Device: Sendable {
    package let client: WireClient
    package private(set) var accessToken = ""
    package private(set) var refreshToken = ""
    package private(set) var userID = ""

    /// Creates a device that uses a server.
    package init(_ client: WireClient) {
        self.client = client
    }

    /// Signs in and stores the tokens on success.
    ///
    /// - Throws: an error of the connection.
    @discardableResult
    package mutating func signIn(
        _ provider: TestIdentityProvider, as subject: String, email: String? = nil
    ) async throws -> WireClient.Answer {
        let answer = try await client.call(
            "POST", "/v1/auth/sign-in/\(provider.name)",
            ["id_token": provider.token(subject: subject, email: email)])
        keep(answer)
        return answer
    }

    /// Exchanges the refresh token and stores the new tokens on success.
    ///
    /// - Throws: an error of the connection.
    @discardableResult
    package mutating func refresh() async throws -> WireClient.Answer {
        let answer = try await client.call(
            "POST", "/v1/auth/refresh", ["refresh_token": refreshToken])
        keep(answer)
        return answer
    }

    /// Links an identity.
    ///
    /// - Throws: an error of the connection.
    package func link(
        _ provider: TestIdentityProvider, as subject: String, email: String? = nil,
        key: String? = nil
    ) async throws -> WireClient.Answer {
        try await client.call(
            "POST", "/v1/auth/link/\(provider.name)",
            ["id_token": provider.token(subject: subject, email: email)], token: accessToken,
            key: key)
    }

    /// Unlinks a provider.
    ///
    /// - Throws: an error of the connection.
    package func unlink(
        _ provider: TestIdentityProvider, key: String? = nil
    ) async throws -> WireClient.Answer {
        try await client.call(
            "DELETE", "/v1/auth/link/\(provider.name)", token: accessToken, key: key)
    }

    /// Reads the account.
    ///
    /// - Throws: an error of the connection.
    package func account() async throws -> WireClient.Answer {
        try await client.call("GET", "/v1/account", token: accessToken)
    }

    /// Stores the tokens of an answer that has some.
    package mutating func keep(_ answer: WireClient.Answer) {
        guard answer.status == 200 else { return }
        // The answer to the first second factor also has a session.
        let session = answer.json["session"] as? [String: any Sendable] ?? answer.json
        accessToken = session["access_token"] as? String ?? ""
        refreshToken = session["refresh_token"] as? String ?? ""
        userID = session["user_id"] as? String ?? ""
    }
}
