internal import Cryptography
internal import Encodings
internal import JSON
package import Ledger

/// The browser flows that a page begins: this service is their client, so the verifier and the code stay in a cookie.
extension PageSessions {
    /// The maximum length of a code that fits into a cookie, in bytes.
    private static let codeBytesMax = 2_600

    /// A flow of a page.
    package struct Flow: Sendable {
        /// The provider.
        package let provider: ProviderName
        /// The word for its use, which the page chose.
        package let purpose: String
        /// The cause without a proof, in the words of browser flows.
        package let error: String?
        let code: String?
        let verifier: String

        /// The challenge of the verifier.
        package var challenge: String { FlowBody.challenge(of: verifier) }

        /// The credential; nil while the person is at the provider, and without a proof.
        package var body: FlowBody? { code.map { FlowBody(code: $0, verifier: verifier) } }
    }

    /// Makes a flow with a verifier of its own.
    package func flow(at provider: ProviderName, for purpose: String) -> Flow {
        Flow(
            provider: provider, purpose: purpose, error: nil, code: nil,
            verifier: Base64URL.encode(SecureRandom.bytes(32)))
    }

    /// Returns the value of a flow's cookie.
    package func cookie(of flow: Flow, in tenant: TenantID, at now: Timestamp) -> String {
        let isOver = flow.code != nil || flow.error != nil
        return cookie(
            of: flow, lasting: isOver ? BrowserFlows.codeSeconds : 2 * BrowserFlows.seconds,
            in: tenant, at: now)
    }

    /// Returns the value of the cookie after a refused link, with the token in place of the code.
    ///
    /// - Returns: nil for a token that does not fit into a cookie.
    package func cookie(
        of flow: Flow, keeping token: String, in tenant: TenantID, at now: Timestamp
    ) -> String? {
        let refused = ended(flow, code: token, error: nil)
        guard refused.code != nil else { return nil }
        return cookie(of: refused, lasting: BrowserFlows.proofSeconds, in: tenant, at: now)
    }

    private func cookie(
        of flow: Flow, lasting seconds: Int64, in tenant: TenantID, at now: Timestamp
    ) -> String {
        tokens.seal(
            "flow\0\(tenant)", in: tenant, until: now.adding(seconds: seconds)
        ) { writer in
            writer.member("provider", flow.provider.description)
            writer.member("purpose", flow.purpose)
            writer.member("error", flow.error)
            writer.member("code", flow.code)
            writer.member("verifier", flow.verifier)
        }
    }

    /// Returns the flow of a cookie; nil unless it was begun for the tenant and has not expired.
    package func flow(_ cookie: String, in tenant: TenantID, at now: Timestamp) -> Flow? {
        guard let (members, _) = tokens.open(cookie, "flow\0\(tenant)", in: tenant, at: now),
            let provider = members["provider"]?.string.flatMap({ ProviderName($0) }),
            let purpose = members["purpose"]?.string, let verifier = members["verifier"]?.string
        else { return nil }
        return Flow(
            provider: provider, purpose: purpose, error: members["error"]?.string,
            code: members["code"]?.string, verifier: verifier)
    }

    /// Returns the flow with the result that came back with the browser.
    package func ended(_ flow: Flow, code: String?, error: String?) -> Flow {
        let fits = code.map { $0.utf8.count <= Self.codeBytesMax } ?? false
        let failure = error.flatMap { BrowserFlows.Failure(rawValue: $0) } ?? .invalidRequest
        return Flow(
            provider: flow.provider, purpose: flow.purpose, error: fits ? nil : failure.rawValue,
            code: fits ? code : nil, verifier: flow.verifier)
    }
}
