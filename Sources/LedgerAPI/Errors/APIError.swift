internal import Ledger
internal import LedgerSignIn
internal import Passwords

/// The reasons why a request does not succeed: a business refusal, a fault, or an invalid request.
enum APIError: Error {
    /// The ledger refused the command.
    case refused(Refusal)
    /// The account needs a second factor; the token of the first step, and the factors.
    case secondFactorRequired(token: String, [ShownFactor])
    /// Strangers have tried too many passwords for an address; a code to it makes the next try possible.
    case codeNeeded(retryAfterSeconds: Int64)
    /// Another account has the identity that a browser flow proves, whose proof is kept.
    case identityHeld(KeptProof)
    /// The ledger could not decide or read.
    case faulted(LedgerFault)
    /// The request breaks a rule of its route.
    case invalidRequest(RequestFlaw)
    /// The new password breaks the tenant's rule.
    case weakPassword(PasswordRefusal)
    /// The body is not declared as JSON.
    case notJSON
    /// The request carries no access token.
    case accessTokenMissing
    /// The access token is bad or expired.
    case accessTokenInvalid
    /// The request claims to be of a page for people, by its cookie or its header field, and is not.
    case notOfPage
    /// The request carries no API key.
    case apiKeyMissing
    /// The API key is unknown, expired, revoked or of another tenant.
    case apiKeyInvalid
    /// The principal's role does not permit this.
    case forbidden
    /// The principal's role may see personal data of one named account only, and none is named.
    case accountNotNamed
    /// The tenant's log has no such event.
    case eventNotFound
    /// The request needs the reason of its principal, and states none.
    case reasonMissing
    /// The proof does not exist.
    case noProof(ProofRefusal)
    /// The stored data does not prove what it should.
    case proofFailed
    /// No route matches the path.
    case notFound
    /// The path exists, but does not support this method.
    case methodNotAllowed(allowed: [String])
    /// The service is not ready to take requests.
    case notReady
    /// The service is still starting.
    case starting
}

/// The proof of a refused link, good for a sign-in or the preview of a merge.
enum KeptProof {
    /// For the client, in place of the flow's code.
    case token(String)
    /// For the page, in its cookie.
    case cookie(String)
}

/// The flaw of a request, in words that name the location and repeat nothing that was sent.
struct RequestFlaw {
    /// The part of the request that is wrong.
    enum Location {
        /// A member of the body.
        case field(String)
        /// A parameter of the query.
        case parameter(String)
        /// A header field.
        case header(String)
    }

    let message: String
    let location: Location?

    init(_ message: String, at location: Location? = nil) {
        self.message = message
        self.location = location
    }
}
