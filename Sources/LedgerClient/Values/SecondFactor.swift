/// A second factor of an account, or its recovery codes.
public struct SecondFactor: Codable, Hashable, Sendable, Identifiable {
    /// The kind of a factor.
    public struct Kind: RawRepresentable, Codable, Hashable, Sendable {
        /// The word of the HTTP API, such as `totp`.
        public let rawValue: String

        /// Wraps a word, which may be one that this release does not know.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// An authenticator app.
        public static let authenticatorApp = Self(rawValue: "totp")
        /// A phone that gets codes.
        public static let phone = Self(rawValue: "phone")
        /// A security key or another authenticator of passkeys.
        public static let passkey = Self(rawValue: "passkey")
        /// Codes on paper, each of which works once.
        public static let recoveryCodes = Self(rawValue: "recovery_codes")
    }

    /// The opaque id.
    public var id: String
    /// The kind.
    public var kind: Kind
    /// The last digits of a phone number.
    public var hint: String?

    /// Describes a factor.
    public init(id: String, kind: Kind, hint: String? = nil) {
        self.id = id
        self.kind = kind
        self.hint = hint
    }

    enum CodingKeys: String, CodingKey {
        case id = "factor_id"
        case kind = "type"
        case hint
    }
}

/// The second step of a sign-in, whose first proof was correct.
public struct SecondFactorChallenge: Hashable, Sendable {
    /// The factors, any of which completes the sign-in.
    public var factors: [SecondFactor]
    /// The time for the second step from the first one, in seconds.
    public var expiresIn: Int
    /// The token of the first step.
    let token: String

    /// Describes the second step of a sign-in.
    init(factors: [SecondFactor], expiresIn: Int, token: String) {
        self.factors = factors
        self.expiresIn = expiresIn
        self.token = token
    }
}

extension SecondFactorChallenge: CustomStringConvertible, CustomReflectable {
    /// The kinds of the factors, without the token.
    public var description: String {
        "second factor: \(factors.map(\.kind.rawValue).joined(separator: ", "))"
    }

    /// A mirror without the token.
    public var customMirror: Mirror {
        Mirror(self, children: ["factors": factors, "expiresIn": expiresIn])
    }
}
