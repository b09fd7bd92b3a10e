package import Ledger

/// The use of a code that a request needs.
enum RequiredUse {
    case signIn
    /// A sign-in with the password of this address, which strangers have tried too often.
    case password(of: String)
    case signUp
    case reset
    case link(Caller)
    case mergePreview(Caller)
    case merge(Caller, plan: String)
    /// The replacement of an address of the account by its holder.
    case change(Caller)
    /// The return of a former address.
    case takeBack
    /// The enrolment of a phone number as a second factor by this account holder.
    case enrolment(Caller)
    /// A second factor, after the first step that the text names.
    case secondStep(String)

    /// The account holder whose session alone has this use of a code; nil where any client has.
    var holder: Caller? {
        switch self {
        case .link(let caller), .mergePreview(let caller), .merge(let caller, _),
            .change(let caller), .enrolment(let caller):
            caller
        case .signIn, .password, .signUp, .reset, .takeBack, .secondStep: nil
        }
    }

    /// Whether a challenge was made for the use.
    ///
    /// The code of a link also previews a merge and signs in: the steps after a refused link.
    func accepts(_ challenge: StoredChallenge) -> Bool {
        if let holder, challenge.session != holder.session { return false }
        return switch self {
        case .signIn: challenge.plan == nil && challenge.secret == nil
        case .password(let address):
            challenge.session == nil && challenge.plan == nil && challenge.secret == nil
                && challenge.address == address
        case .signUp: challenge.secret.map { !AddressCodes.isUse($0) } ?? false
        case .reset:
            challenge.session == nil && challenge.secret == nil && challenge.plan != nil
        case .link: challenge.plan == nil && challenge.secret == nil
        case .mergePreview: challenge.secret == nil
        case .merge(_, let plan):
            challenge.plan != nil && challenge.plan == AddressCodes.digest(ofPlan: plan)
        case .change: challenge.secret == AddressCodes.changeText
        case .takeBack:
            challenge.session == nil && challenge.secret == AddressCodes.returnText
        case .enrolment: challenge.secret == AddressCodes.factorPrefix
        case .secondStep(let step):
            challenge.session == nil && challenge.secret == AddressCodes.factorPrefix + step
        }
    }
}

extension RequiredUse {
    /// Whether a right code is used up by its check: the password beside it may be wrong, and then no command ends the
    /// challenge.
    var usesUp: Bool {
        if case .password = self { true } else { false }
    }
}

extension AddressCodes {
    /// Whether the text of a challenge names a use, and is not the hash of a password.
    static func isUse(_ secret: String) -> Bool {
        secret.hasPrefix(factorPrefix) || [changeText, returnText].contains(secret)
    }
}

/// The reasons why no code is sent or accepted.
package enum CodeFailure: Error, Sendable {
    /// The code is wrong, or its challenge has ended.
    case wrong
    /// The code beside a password is, so the password was not checked.
    case wrongCode
    /// Too many codes were sent or tried.
    case limited(retryAfterSeconds: Int64)
    /// Strangers have tried too many passwords for an address: until then, one is tried with a code to the address.
    case codeNeeded(retryAfterSeconds: Int64)
    /// The store failed.
    case faulted(LedgerFault)
}
