/// A second factor of an account, or its recovery codes.
public struct FactorAnswer: Codable, Hashable, Sendable {
    /// The opaque id.
    public let factorID: String
    /// The kind: `totp`, `phone` or `recovery_codes`.
    public let type: String
    /// When it was enrolled, as an RFC 3339 time; nil for a person who is not signed in.
    public let enrolledAt: String?
    /// The number of unused recovery codes; nil for any other kind, and for a person who is not signed in.
    public let codesLeft: Int?

    /// The last four digits of a phone number; nil for any other kind.
    public let hint: String?

    /// When it is removed, as an RFC 3339 time, because support planned it; nil otherwise.
    public let removalDue: String?

    enum CodingKeys: String, CodingKey {
        case factorID = "factor_id"
        case type
        case hint
        case removalDue = "removal_due"
        case enrolledAt = "enrolled_at"
        case codesLeft = "codes_left"
    }

    /// Describes a factor.
    public init(
        factorID: String, type: String, hint: String? = nil, enrolledAt: String? = nil,
        codesLeft: Int? = nil, removalDue: String? = nil
    ) {
        self.factorID = factorID
        self.hint = hint
        self.removalDue = removalDue
        self.type = type
        self.enrolledAt = enrolledAt
        self.codesLeft = codesLeft
    }
}

/// The answer to a request for the second factors of the caller's account.
public struct FactorsAnswer: Codable, Hashable, Sendable {
    /// The factors in the order of their enrolment.
    public let factors: [FactorAnswer]

    /// Lists factors.
    public init(factors: [FactorAnswer]) {
        self.factors = factors
    }
}

/// The answer to the start of an enrolment.
public struct EnrolmentAnswer: Codable, Hashable, Sendable {
    /// Presented with the first code of an authenticator app; nil for a phone.
    public let enrolmentToken: String?
    /// The secret of an authenticator app in base32, for a person who types it.
    public let secret: String?
    /// The `otpauth:` URI of an authenticator app, for a QR code.
    public let uri: String?
    /// Presented with the code that was sent to a phone; nil for an authenticator app.
    public let challengeID: String?
    /// The lifetime of the token or the code in seconds.
    public let expiresIn: Int64

    enum CodingKeys: String, CodingKey {
        case enrolmentToken = "enrolment_token"
        case secret
        case uri
        case challengeID = "challenge_id"
        case expiresIn = "expires_in"
    }

    /// Describes the enrolment of an authenticator app.
    public init(enrolmentToken: String, secret: String, uri: String, expiresIn: Int64) {
        self.enrolmentToken = enrolmentToken
        self.secret = secret
        self.uri = uri
        challengeID = nil
        self.expiresIn = expiresIn
    }

    /// Describes the enrolment of a phone.
    public init(challengeID: String, expiresIn: Int64) {
        enrolmentToken = nil
        secret = nil
        uri = nil
        self.challengeID = challengeID
        self.expiresIn = expiresIn
    }
}

/// The answer to the confirmation of a second factor.
public struct EnrolledAnswer: Codable, Hashable, Sendable {
    /// The id of the factor.
    public let factorID: String
    /// The recovery codes that come with the first factor, each good for one sign-in; returned only once.
    public let recoveryCodes: [String]?
    /// The new session of the caller, since the first factor ends all sessions.
    public let session: SessionAnswer?

    enum CodingKeys: String, CodingKey {
        case factorID = "factor_id"
        case recoveryCodes = "recovery_codes"
        case session
    }

    /// Describes an enrolled factor.
    public init(factorID: String, recoveryCodes: [String]?, session: SessionAnswer?) {
        self.factorID = factorID
        self.recoveryCodes = recoveryCodes
        self.session = session
    }
}

/// The answer to a request for new recovery codes.
public struct RecoveryCodesAnswer: Codable, Hashable, Sendable {
    /// The codes, each good for one sign-in; returned only once.
    public let recoveryCodes: [String]

    enum CodingKeys: String, CodingKey {
        case recoveryCodes = "recovery_codes"
    }

    /// Lists codes.
    public init(recoveryCodes: [String]) {
        self.recoveryCodes = recoveryCodes
    }
}
