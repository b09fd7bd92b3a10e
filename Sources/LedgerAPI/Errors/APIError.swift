internal import Ledger

/// Why a request gets no 200: a business no, a fault, or a request that breaks the rules.
enum APIError: Error {
    /// The ledger said no.
    case refused(Refusal)
    /// The ledger could not say anything.
    case faulted(LedgerFault)
    /// The request breaks a rule of its route.
    case invalidRequest(RequestFlaw)
    /// There is a body that is not declared as JSON.
    case notJSON
    /// The request carries no access token.
    case accessTokenMissing
    /// The access token is bad or expired.
    case accessTokenInvalid
    /// The request carries no API key.
    case apiKeyMissing
    /// The API key is unknown, expired, revoked or of another tenant.
    case apiKeyInvalid
    /// The principal's role may not do this.
    case forbidden
    /// The principal's role may see personal data of one account at a time only, and none is named.
    case accountNotNamed
    /// The tenant's log has no such event.
    case eventNotFound
    /// There is no such proof.
    case noProof(ProofRefusal)
    /// What is stored does not prove what it should.
    case proofFailed
    /// No route has the path.
    case notFound
    /// The path exists, but not for this method.
    case methodNotAllowed(allowed: [String])
    /// The service is not ready to take requests.
    case notReady
}

/// What is wrong with a request, in words that name the place and repeat nothing that was sent.
struct RequestFlaw {
    /// Which kind of place is meant.
    enum Place {
        /// A member of the body.
        case field(String)
        /// A parameter of the query.
        case parameter(String)
        /// A header field.
        case header(String)
    }

    let message: String
    let place: Place?

    init(_ message: String, at place: Place? = nil) {
        self.message = message
        self.place = place
    }

    /// The `details` of the answer.
    var details: [String: String]? {
        switch place {
        case .field(let name): ["field": name]
        case .parameter(let name): ["parameter": name]
        case .header(let name): ["header": name]
        case nil: nil
        }
    }
}
