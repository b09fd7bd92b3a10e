package import Ledger

/// The use of a code that a request needs.
enum RequiredUse {
    case signIn
    case signUp
    case reset
    case link(SessionID)
    case mergePreview(SessionID)
    case merge(SessionID, plan: String)
    /// The enrolment of a phone number as a second factor by this session.
    case enrolment(SessionID)
    /// A second factor, after the first step that the text names.
    case secondStep(String)

    /// Whether a challenge was made for the use.
    ///
    /// The code of a link also previews a merge and signs in: the steps after a refused link.
    func accepts(_ challenge: StoredChallenge) -> Bool {
        switch self {
        case .signIn: challenge.plan == nil && challenge.secret == nil
        case .signUp: challenge.secret.map { !$0.hasPrefix(AddressCodes.factorPrefix) } ?? false
        case .reset:
            challenge.session == nil && challenge.secret == nil && challenge.plan != nil
        case .link(let session):
            challenge.session == session && challenge.plan == nil && challenge.secret == nil
        case .mergePreview(let session): challenge.session == session && challenge.secret == nil
        case .merge(let session, let plan):
            challenge.session == session && challenge.plan != nil
                && challenge.plan == AddressCodes.digest(ofPlan: plan)
        case .enrolment(let session):
            challenge.session == session && challenge.secret == AddressCodes.factorPrefix
        case .secondStep(let step):
            challenge.session == nil && challenge.secret == AddressCodes.factorPrefix + step
        }
    }
}

/// The reasons why no code is sent or accepted.
package enum CodeFailure: Error, Sendable {
    /// The code is wrong, or its challenge has ended.
    case wrong
    /// Too many codes were sent or tried.
    case limited(retryAfterSeconds: Int64)
    /// The store failed.
    case faulted(LedgerFault)
}
