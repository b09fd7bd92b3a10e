package import Cryptography
internal import Encodings
internal import JSON
package import Ledger

/// Sends browsers to providers and back: the authorization code grant of OAuth 2.0, with this service as the client.
///
/// Nothing is stored. What a flow needs is in encrypted tokens: in the address that the client opens, in the
/// browser's cookie, and in the code that the client gets at the end, whose use a command records. The callback
/// decides nothing: the client presents the code as a credential, together with the verifier of its own challenge.
package struct BrowserFlows: Sendable {
    /// The time for a flow in the browser, in seconds.
    package static let seconds: Int64 = 600
    /// The lifetime of a result, in seconds.
    package static let codeSeconds: Int64 = 60
    /// The lifetime of the token of a refused link, in seconds.
    package static let proofSeconds: Int64 = 600
    /// The maximum length of a code, in bytes.
    package static let codeBytesMax = SealedTokens.bytesMax

    /// The maximum length of the token of a kept answer, in bytes; the address that has it must fit in a request.
    private static let answerBytesMax = 6_144

    private let tokens: SealedTokens

    /// Uses the secret that all processes of the ledger share, and the times of the last accepted restores.
    package init(key secret: SymmetricKey, restores: [TenantID: Timestamp] = [:]) {
        tokens = SealedTokens(key: secret, label: "browser-flow", restores: restores)
    }

    /// A flow in the browser, between the address that began it and the callback.
    package struct Pending: Sendable {
        /// The flow.
        package let flow: BrowserFlow
        /// The value of the browser's cookie.
        package let cookie: String
        let verifier: String
        let nonce: String

        /// The value that the provider sends back, by which the callback belongs to the browser that has the cookie.
        package var state: String { Base64URL.encode(SHA256.hash(cookie)) }
    }

    /// The answer of a provider, as it came to the callback.
    package struct Answer: Sendable {
        /// The maximum length of each part, in bytes: codes of Microsoft for organisations have more than 2,048.
        package static let partBytesMax = 4_096

        package let state: String
        let code: String?
        let error: String?
        let issuer: String?

        /// Describes an answer (RFC 6749, section 4.1.2; RFC 9207).
        package init(state: String, code: String?, error: String?, issuer: String?) {
            self.state = state
            self.code = code
            self.error = error
            self.issuer = issuer
        }
    }

    /// Begins a flow; returns the token for the address that the client opens in the browser.
    package func begin(_ flow: BrowserFlow, in tenant: TenantID, at now: Timestamp) -> String {
        tokens.seal("begun\0\(tenant)", in: tenant, until: now.adding(seconds: Self.seconds)) {
            flow.writeMembers(to: &$0)
        }
    }

    /// Continues a flow in a browser, which gets the cookie.
    ///
    /// - Returns: nil unless it was begun for the tenant and has not expired.
    package func start(_ token: String, in tenant: TenantID, at now: Timestamp) -> Pending? {
        guard let (members, _) = tokens.open(token, "begun\0\(tenant)", in: tenant, at: now),
            let flow = BrowserFlow(members)
        else { return nil }
        let verifier = Base64URL.encode(SecureRandom.bytes(32))
        let nonce = Base64URL.encode(SecureRandom.bytes(16))
        let cookie = tokens.seal(
            "pending\0\(tenant)", in: tenant, until: now.adding(seconds: Self.seconds)
        ) { writer in
            flow.writeMembers(to: &writer)
            writer.member("verifier", verifier)
            writer.member("nonce", nonce)
        }
        return Pending(flow: flow, cookie: cookie, verifier: verifier, nonce: nonce)
    }

    /// Returns the flow of a browser's cookie.
    ///
    /// - Returns: nil unless the state is that of the cookie, and the flow of the tenant has not expired.
    package func pending(
        _ cookie: String, state: String, in tenant: TenantID, at now: Timestamp
    ) -> Pending? {
        guard
            let (members, _) = tokens.open(cookie, "pending\0\(tenant)", in: tenant, at: now),
            let flow = BrowserFlow(members), let verifier = members["verifier"]?.string,
            let nonce = members["nonce"]?.string
        else { return nil }
        let pending = Pending(flow: flow, cookie: cookie, verifier: verifier, nonce: nonce)
        let isOwn = constantTimeEqual(Array(pending.state.utf8), Array(state.utf8))
        return isOwn ? pending : nil
    }

    /// Keeps an answer that came as a form from the provider's page, with which browsers send no cookie.
    ///
    /// - Returns: The token by which the browser comes back with its cookie.
    package func keep(_ answer: Answer, in tenant: TenantID, at now: Timestamp) -> String {
        tokens.seal(
            "form\0\(tenant)", in: tenant, until: now.adding(seconds: Self.codeSeconds)
        ) { writer in
            writer.member("state", answer.state)
            writer.member("code", answer.code)
            writer.member("error", answer.error)
            writer.member("iss", answer.issuer)
        }
    }

    /// Returns a kept answer; nil unless it was kept for the tenant within the last minute.
    package func kept(_ token: String, in tenant: TenantID, at now: Timestamp) -> Answer? {
        guard
            let (members, _) = tokens.open(
                token, "form\0\(tenant)", in: tenant, at: now, bytesMax: Self.answerBytesMax),
            let state = members["state"]?.string
        else { return nil }
        return Answer(
            state: state, code: members["code"]?.string, error: members["error"]?.string,
            issuer: members["iss"]?.string)
    }

    /// Returns the code by which the client presents a proof.
    func code(
        _ flow: BrowserFlow, _ proof: Proof, in tenant: TenantID, at now: Timestamp
    ) -> String {
        seal(
            proof, for: flow.use, Self.code(flow.challenge, flow.provider, tenant), in: tenant,
            until: now.adding(seconds: Self.codeSeconds))
    }

    /// Returns the token that takes the place of a code whose link was refused, for the same verifier.
    ///
    /// Code and token are used up together.
    ///
    /// - Parameters:
    ///   - proof: The proof of the code.
    ///   - body: The code.
    ///   - caller: The session of the link.
    ///   - tenant: The tenant.
    ///   - now: The time of the request.
    /// - Returns: The token.
    package func token(
        keeping proof: Proof, of body: FlowBody, refusedTo caller: Caller, in tenant: TenantID,
        at now: Timestamp
    ) -> String {
        seal(
            proof, for: .refusedLink(caller),
            Self.code(body.challenge, proof.subject.provider, tenant), in: tenant,
            until: now.adding(seconds: Self.proofSeconds))
    }

    private func seal(
        _ proof: Proof, for use: BrowserFlow.Use, _ context: String, in tenant: TenantID,
        until: Timestamp
    ) -> String {
        tokens.seal(context, in: tenant, until: until) { writer in
            use.writeMembers(to: &writer)
            proof.writeMembers(to: &writer)
        }
    }

    /// Reads the result of a flow that a client presents.
    ///
    /// - Throws: `invalid` unless it was issued for this challenge, provider and tenant and for a use that serves
    ///   the purpose, and has not expired.
    func prove(
        _ body: FlowBody, of provider: ProviderName, in tenant: TenantID,
        for purpose: ProofPurpose, by caller: Caller?, at now: Timestamp
    ) throws(Credential.Flaw) -> Proof {
        guard FlowBody.verifierLengths.contains(body.verifier.utf8.count),
            let (members, token) = tokens.open(
                body.code, Self.code(body.challenge, provider, tenant), in: tenant, at: now),
            let use = BrowserFlow.Use(members), use.serves(purpose, by: caller),
            let proof = Proof(
                members, usedUp: Self.usedUp(use, by: token), names: { _, _ in [] })
        else { throw .invalid }
        return proof
    }

    /// Returns what the use of a code uses up; nil for the token of a refused link, whose proof has that of its code.
    private static func usedUp(
        _ use: BrowserFlow.Use, by code: SingleUseIDToken
    ) -> SingleUseIDToken? {
        if case .refusedLink = use { return nil }
        // The token of a refused link, and then a second factor, may follow after the code's own end.
        return SingleUseIDToken(
            digest: code.digest,
            expiresAt: code.expiresAt.adding(seconds: proofSeconds + SealedTokens.firstStepSeconds))
    }

    private static func code(
        _ challenge: String, _ provider: ProviderName, _ tenant: TenantID
    ) -> String {
        "code\0\(tenant)\0\(provider)\0\(challenge)"
    }
}
