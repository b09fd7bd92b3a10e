import Foundation

/// The use of a proof from a browser flow.
public enum FlowPurpose: Hashable, Sendable {
    /// To sign in.
    case signIn
    /// To link the identity, or to show a merge with its account.
    case link
    /// To agree to a merge as a plan shows it.
    case merge(MergePlan)
}

extension AuthSession {
    /// Signs in at a provider in a browser, and opens an account if the identity has none.
    ///
    /// - Parameters:
    ///   - provider: The name of a provider with a flow.
    ///   - browser: Opens the browser.
    ///   - createsAccount: Whether an account may be opened.
    /// - Returns: The sign-in, or the second step that it needs.
    /// - Throws: ``LedgerError/Code/cancelledByPerson``, ``LedgerError/Code/browserFailed``; otherwise as
    ///   ``signIn(at:with:createsAccount:)``.
    @discardableResult
    public func signInInBrowser(
        at provider: String, with browser: any WebAuthenticator, createsAccount: Bool = true
    ) async throws(LedgerError) -> SignInResult {
        let proof = try await prove(.signIn, at: provider, with: browser)
        return try await signIn(at: provider, with: proof, createsAccount: createsAccount)
    }

    /// Lets a person prove an identity in a browser.
    ///
    /// The proof is good for a minute. A link that is refused does not use it up: ``LedgerError/proof`` then signs in,
    /// or shows the merge, within ten minutes.
    ///
    /// - Parameters:
    ///   - purpose: The use of the proof. All but a sign-in need a session.
    ///   - provider: The name of a provider with a flow.
    ///   - browser: Opens the browser.
    /// - Returns: The proof.
    /// - Throws: ``LedgerError/Code/cancelledByPerson``, ``LedgerError/Code/browserFailed``,
    ///   ``LedgerError/Code/unsupportedProvider``, and ``LedgerError/Code/invalidRequest`` for a return address that
    ///   the tenant does not list.
    public func prove(
        _ purpose: FlowPurpose, at provider: String, with browser: any WebAuthenticator
    ) async throws(LedgerError) -> Proof {
        let secret = FlowSecret()
        let returnAddress = browser.returnAddress
        let address = try await acting { keeper, shown throws(LedgerError) in
            let call = APICall(
                route: .beginFlow,
                body: purpose.body(provider, returnAddress, challenge: secret.challenge))
            let answer =
                purpose == .signIn
                ? try await keeper.sender.send(call, as: FlowAnswer.self)
                : try await keeper.send(call, as: FlowAnswer.self, for: shown)
            guard let url = URL(string: answer.authorizeURL) else {
                throw LedgerError(.unexpectedAnswer, message: "The flow has no address")
            }
            return url
        }
        let returned: URL
        do {
            returned = try await browser.authenticate(at: address)
        } catch {
            throw FlowReturn.error(error)
        }
        return .flow(
            code: try FlowReturn.code(of: returned, to: returnAddress), verifier: secret.verifier)
    }
}

extension FlowPurpose {
    fileprivate func body(
        _ provider: String, _ returnAddress: URL, challenge: String
    ) -> [String: BodyValue] {
        var body: [String: BodyValue] = [
            "provider": .text(provider), "return_to": .text(returnAddress.absoluteString),
            "code_challenge": .text(challenge),
        ]
        switch self {
        case .signIn: body["purpose"] = .text("sign_in")
        case .link: body["purpose"] = .text("link")
        case .merge(let plan):
            body["purpose"] = .text("merge")
            body["plan_digest"] = .text(plan.digest)
        }
        return body
    }
}
