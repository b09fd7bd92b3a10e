package import Ledger

/// The use of a proof; a merge takes only a proof that was made for it.
package enum ProofPurpose: Sendable {
    /// A session of the tenant; with the digests of ID tokens where each may open only one.
    case signIn(TenantID, singleUse: SingleUseIDTokens?)
    /// A link.
    case link
    /// The preview of a merge.
    case mergePreview
    /// A merge by the plan with this digest, shown at that time; nil when no such plan was shown.
    case merge(plan: String, shownAt: Timestamp?)
}

extension ProofPurpose {
    /// Whether it is a sign-in.
    var isSignIn: Bool {
        if case .signIn = self { true } else { false }
    }
}
