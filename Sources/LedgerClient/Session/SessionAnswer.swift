/// The body of an answer that opens or renews a session.
struct SessionAnswer: Decodable, Sendable {
    let accessToken: String
    let refreshToken: String
    let expiresIn: Int
    let userID: String
    let isNewUser: Bool
    let linkedProviders: [String]
    let anonymousSecret: String?
    let deviceToken: String?
    let challengeID: String?

    enum CodingKeys: String, CodingKey {
        case accessToken = "access_token"
        case refreshToken = "refresh_token"
        case expiresIn = "expires_in"
        case userID = "user_id"
        case isNewUser = "is_new_user"
        case linkedProviders = "linked_providers"
        case anonymousSecret = "anonymous_secret"
        case deviceToken = "device_token"
        case challengeID = "challenge_id"
    }
}

extension SentCode {
    /// The code that confirms an address of an account that is open already.
    init(confirming challengeID: String) {
        // The answer has no lifetime: it is that of every code.
        self.init(challengeID: challengeID, expiresIn: 600)
    }
}

/// The body of an answer to a sign-up: a session, or the challenge of the code that was sent.
enum SignUpAnswer: Decodable, Sendable {
    case opened(SessionAnswer)
    case sent(SentCode)

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: SessionAnswer.CodingKeys.self)
        self =
            members.contains(.accessToken)
            ? .opened(try SessionAnswer(from: decoder)) : .sent(try SentCode(from: decoder))
    }
}

/// The body of an answer about an account.
struct AccountAnswer: Decodable, Sendable {
    struct Identity: Decodable, Sendable {
        let id: String
        let provider: String
        let linkedAt: String
        let email: String?
        let isEmailVerified: Bool?
        let unlinkDue: String?
        let name: String?

        enum CodingKeys: String, CodingKey {
            case id = "identity_id"
            case provider
            case linkedAt = "linked_at"
            case email
            case isEmailVerified = "email_verified"
            case unlinkDue = "unlink_due"
            case name
        }
    }

    let userID: String
    let linkedProviders: [String]
    let identities: [Identity]

    enum CodingKeys: String, CodingKey {
        case userID = "user_id"
        case linkedProviders = "linked_providers"
        case identities
    }

    /// The account; nil if a time is malformed.
    var profile: Profile? {
        var profile = Profile(userID: userID, linkedProviders: linkedProviders)
        for identity in identities {
            guard let linkedAt = ServerTime.date(identity.linkedAt) else { return nil }
            profile.identities.append(
                LedgerClient.Identity(
                    id: identity.id, provider: identity.provider, linkedAt: linkedAt,
                    email: identity.email, isEmailVerified: identity.isEmailVerified,
                    unlinkDue: identity.unlinkDue.flatMap(ServerTime.date),
                    name: identity.name))
        }
        return profile
    }
}

/// The body of an answer that lists the providers of an account.
struct LinkedProvidersAnswer: Decodable, Sendable {
    let linkedProviders: [String]
    let challengeID: String?
    /// Of a code that proved an address without a sign-in.
    let deviceToken: String?

    enum CodingKeys: String, CodingKey {
        case linkedProviders = "linked_providers"
        case deviceToken = "device_token"
        case challengeID = "challenge_id"
    }
}

/// The body of an answer that lists the providers of a tenant.
struct ProvidersAnswer: Decodable, Sendable {
    let providers: [Provider]
}

/// The body of an answer that begins a browser flow.
struct FlowAnswer: Decodable, Sendable {
    let authorizeURL: String

    enum CodingKeys: String, CodingKey {
        case authorizeURL = "authorize_url"
    }
}

/// A body of which nothing is read.
struct EmptyAnswer: Decodable, Sendable {}
