internal import Cryptography
internal import Encodings
internal import JSON
package import Ledger
internal import OpenID

extension BrowserFlows {
    /// The end of a flow without a proof, with the code that the client gets (RFC 6749, section 4.1.2.1).
    enum Failure: String, Error {
        case accessDenied = "access_denied"
        case invalidRequest = "invalid_request"
        case temporarilyUnavailable = "temporarily_unavailable"
    }

    /// Returns the address of the provider's page.
    ///
    /// - Parameters:
    ///   - pending: The flow.
    ///   - settings: The settings of its provider.
    ///   - callback: The address of the callback.
    /// - Returns: nil for a provider without browser flows.
    package func address(
        for pending: Pending, _ settings: ProviderSettings, callback: String
    ) -> String? {
        settings.flow?.authorizationAddress(
            callback: callback, state: pending.state, verifier: pending.verifier,
            nonce: settings.sentNonce(pending.nonce))
    }

    /// Ends a flow in the browser.
    ///
    /// - Parameters:
    ///   - pending: The flow.
    ///   - answer: The answer of the provider.
    ///   - settings: The settings of its provider.
    ///   - callback: The address of the callback.
    ///   - client: The browser, whose network may have few refused codes an hour; nil for no limit.
    ///   - tenant: The tenant.
    ///   - now: The time of the request.
    /// - Returns: The address to which the browser returns, with `flow_code` or `error`.
    package func end(
        _ pending: Pending, by answer: Answer, _ settings: ProviderSettings, callback: String,
        from client: CodeClient? = nil, in tenant: TenantID, at now: Timestamp
    ) async -> String {
        let flow = pending.flow
        let (name, value): (String, String)
        do throws(Failure) {
            let code = try providerCode(answer, settings)
            let proof = try await self.proof(
                pending, code, settings, callback, from: client, in: tenant, at: now)
            name = "flow_code"
            value = self.code(flow, proof, in: tenant, at: now)
        } catch {
            name = "error"
            value = error.rawValue
        }
        return flow.returnTo + (flow.returnTo.contains("?") ? "&" : "?") + "\(name)=\(value)"
    }

    /// Returns the code of a provider's answer.
    private func providerCode(
        _ answer: Answer, _ settings: ProviderSettings
    ) throws(Failure) -> String {
        // RFC 9207, section 2.4: the answer of another provider than the one that was asked.
        if let issuer = answer.issuer, let known = settings.flowIssuers,
            !known.contains(where: { $0.isExactly(issuer) })
        {
            throw .invalidRequest
        }
        switch answer.error {
        case nil: break
        // The latter two are those of Apple and LinkedIn.
        case "access_denied", "user_cancelled_authorize", "user_cancelled_login":
            throw .accessDenied
        case "server_error", "temporarily_unavailable": throw .temporarilyUnavailable
        default: throw .invalidRequest
        }
        guard let code = answer.code else { throw .invalidRequest }
        return code
    }

    private func proof(
        _ pending: Pending, _ code: String, _ settings: ProviderSettings, _ callback: String,
        from client: CodeClient?, in tenant: TenantID, at now: Timestamp
    ) async throws(Failure) -> Proof {
        do throws(Credential.Flaw) {
            return try await client.asking(in: tenant, at: now) {
                () async throws(Credential.Flaw) in
                try await settings.proof(
                    of: code, callback: callback, verifier: pending.verifier,
                    nonce: pending.nonce, at: pending.flow.provider, at: now)
            }
        } catch {
            switch error {
            case .unavailable, .limited: throw .temporarilyUnavailable
            default: throw .accessDenied
            }
        }
    }
}

extension CodeClient? {
    /// Asks a provider about a code or a token, or the operator's service about an attestation, unless too many of the
    /// client's network were refused within an hour.
    ///
    /// Anyone can present made-up ones, and providers limit the calls of an app. Only a refusal counts: many persons can
    /// sign in at once behind one network's address, and ``ProviderAPI`` limits the calls at one time.
    ///
    /// - Throws: `limited` then; `unavailable` when the store fails; the flaw that the provider finds.
    func asking<Value>(
        in tenant: TenantID, at now: Timestamp,
        _ ask: () async throws(Credential.Flaw) -> Value
    ) async throws(Credential.Flaw) -> Value {
        guard let client = self else { return try await ask() }
        let counts = client.codes.exchangeCounts(from: client.network, in: tenant)
        let reached: ReachedCount?
        do { reached = try await client.codes.reached(counts, in: tenant, at: now) } catch {
            throw .unavailable
        }
        if let reached { throw .limited(retryAfterSeconds: reached.waitSeconds) }
        do throws(Credential.Flaw) { return try await ask() } catch {
            // A provider that does not answer has refused nothing.
            if error != .unavailable {
                _ = try? await client.codes.count(counts, in: tenant, at: now)
            }
            throw error
        }
    }
}

extension ProviderSettings {
    /// The browser flow; nil for a provider without one.
    package var flow: FlowSettings? {
        switch self {
        case .oidc(let settings): settings.flow
        case .oauth2(let settings): settings.flow
        case .anonymous, .code, .password, .passkey: nil
        }
    }

    /// The addresses that the ledger calls to check credentials and attestations, besides that of a key set.
    package var endpoints: [String] {
        let inspection: String? =
            switch self {
            case .oauth2(let settings): settings.inspector.api.base
            case .anonymous(let settings): settings.attestation?.url
            case .oidc, .code, .password, .passkey: nil
            }
        return [inspection, flow?.tokenURL].compactMap(\.self)
    }

    /// The issuers of authorization answers; nil where the provider states none, or one for each of its tenants.
    fileprivate var flowIssuers: [String]? {
        switch self {
        case .oidc(let settings):
            if case .sub = settings.check.subject { settings.check.issuers } else { nil }
        case .oauth2(let settings): settings.statesIssuer ? [settings.issuer] : nil
        case .anonymous, .code, .password, .passkey: nil
        }
    }

    /// Returns the nonce as the provider gets it, which puts it into the ID token unchanged; nil where none is sent.
    fileprivate func sentNonce(_ nonce: String) -> String? {
        guard case .oidc(let settings) = self else { return nil }
        return switch settings.check.nonce {
        case .raw: nonce
        case .sha256: Hex.encode(SHA256.hash(nonce))
        case .none: nil
        }
    }

    /// Exchanges the code of an authorization, and checks the token.
    fileprivate func proof(
        of code: String, callback: String, verifier: String, nonce: String,
        at provider: ProviderName, at now: Timestamp
    ) async throws(Credential.Flaw) -> Proof {
        guard let flow else { throw .unsupported }
        let members = try await flow.exchange(
            code, callback: callback, verifier: verifier, at: now)
        switch self {
        case .oidc(let settings):
            guard let token = members["id_token"]?.string else { throw .invalid }
            return try await OIDCProver(provider: provider, settings: settings)
                .prove(OIDCBody(idToken: token, nonce: nonce), for: .link, at: now)
        case .oauth2(let settings):
            guard let token = members["access_token"]?.string else { throw .invalid }
            return try await OAuth2Prover(provider: provider, settings: settings)
                .proveOwn(OAuth2Body(accessToken: token), at: now)
        case .anonymous, .code, .password, .passkey: throw .unsupported
        }
    }
}
