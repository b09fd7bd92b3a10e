internal import JSON
package import Ledger

/// A browser flow, as its client began it.
package struct BrowserFlow: Sendable {
    /// The use of its result, beside which a link also serves a sign-in and the preview of a merge.
    package enum Use: Hashable, Sendable {
        case signIn
        /// Links an identity to the account of this session or, once that is refused, signs in with it.
        case link(Caller)
        /// Signs in or shows a merge after the link by this session was refused, and links nothing.
        case refusedLink(Caller)
        /// Proves the account that the account of this session absorbs, under the plan with this digest; nil for
        /// the preview.
        case merge(Caller, plan: String?)
    }

    /// The use.
    package let use: Use
    /// The provider.
    package let provider: ProviderName
    /// The address to which the browser returns.
    package let returnTo: String
    /// The challenge of the client's verifier (RFC 7636, section 4.2, method S256).
    package let challenge: String

    /// Describes a flow.
    package init(use: Use, provider: ProviderName, returnTo: String, challenge: String) {
        self.use = use
        self.provider = provider
        self.returnTo = returnTo
        self.challenge = challenge
    }

    func writeMembers(to writer: inout JSONWriter) {
        writer.member("provider", provider.description)
        writer.member("return_to", returnTo)
        writer.member("challenge", challenge)
        use.writeMembers(to: &writer)
    }

    init?(_ members: JSONMembers) {
        guard let provider = members["provider"]?.string.flatMap({ ProviderName($0) }),
            let returnTo = members["return_to"]?.string,
            let challenge = members["challenge"]?.string, let use = Use(members)
        else { return nil }
        self.init(use: use, provider: provider, returnTo: returnTo, challenge: challenge)
    }
}

extension BrowserFlow.Use {
    private var name: String {
        switch self {
        case .signIn: "sign_in"
        case .link: "link"
        case .refusedLink: "refused_link"
        case .merge: "merge"
        }
    }

    private var caller: Caller? {
        switch self {
        case .signIn: nil
        case .link(let caller), .refusedLink(let caller), .merge(let caller, _): caller
        }
    }

    func writeMembers(to writer: inout JSONWriter) {
        writer.member("use", name)
        writer.member("account", caller?.account.description)
        writer.member("session", caller?.session.description)
        if case .merge(_, let plan) = self { writer.member("plan", plan) }
    }

    init?(_ members: JSONMembers) {
        guard let name = members["use"]?.string else { return nil }
        if name == Self.signIn.name {
            self = .signIn
            return
        }
        guard let account = members["account"]?.string.flatMap({ AccountID($0) }),
            let session = members["session"]?.string.flatMap({ SessionID($0) })
        else { return nil }
        let caller = Caller(account: account, session: session)
        let uses = [
            Self.link(caller), .refusedLink(caller),
            .merge(caller, plan: members["plan"]?.string),
        ]
        guard let use = uses.first(where: { $0.name == name }) else { return nil }
        self = use
    }

    /// Whether a result for this use proves something for a purpose.
    ///
    /// A refused link may be followed by a sign-in with the identity, or by the preview of a merge with its account.
    func serves(_ purpose: ProofPurpose, by caller: Caller?) -> Bool {
        switch (purpose, self) {
        case (.signIn, .signIn), (.signIn, .link), (.signIn, .refusedLink): true
        case (.link, .link(let beginner)), (.mergePreview, .link(let beginner)),
            (.mergePreview, .refusedLink(let beginner)),
            (.mergePreview, .merge(let beginner, plan: nil)):
            beginner == caller
        case (.merge(let wanted, _), .merge(let beginner, let plan?)):
            beginner == caller && plan.isExactly(wanted)
        case (.signIn, .merge), (.link, .signIn), (.link, .refusedLink), (.link, .merge),
            (.mergePreview, .signIn), (.mergePreview, .merge), (.merge, _):
            false
        }
    }
}
