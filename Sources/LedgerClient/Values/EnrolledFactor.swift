public import Foundation

/// A second factor in the list of an account, or its recovery codes.
public struct EnrolledFactor: Codable, Hashable, Sendable, Identifiable {
    /// The opaque id.
    public var id: String
    /// The kind.
    public var kind: SecondFactor.Kind
    /// The last digits of a phone number.
    public var hint: String?
    /// The time of the enrolment.
    public var enrolledAt: Date
    /// The number of unused recovery codes; nil for another kind.
    public var codesLeft: Int?
    /// The time at which it is removed, because support planned that; nil otherwise.
    public var removalDue: Date?

    enum CodingKeys: String, CodingKey {
        case id = "factor_id"
        case kind = "type"
        case hint
        case enrolledAt = "enrolled_at"
        case codesLeft = "codes_left"
        case removalDue = "removal_due"
    }
}

/// The secret for an authenticator app, which its first code confirms.
///
/// Its description does not contain it.
public struct AuthenticatorAppSecret: Decodable, Sendable {
    /// The secret in base32, for a person who types it.
    public let secret: String
    /// The `otpauth:` address, for a QR code or a link that opens the app.
    public let uri: String
    /// The time in which the first code confirms it, in seconds.
    public let expiresIn: Int
    let token: String

    enum CodingKeys: String, CodingKey {
        case secret
        case uri
        case expiresIn = "expires_in"
        case token = "enrolment_token"
    }
}

extension AuthenticatorAppSecret: CustomStringConvertible, CustomReflectable {
    /// The kind of factor.
    public var description: String { "secret of an authenticator app" }

    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The first use of a second factor, which enrols it.
public enum FactorConfirmation: Sendable {
    /// The code that the authenticator app shows.
    case authenticatorApp(AuthenticatorAppSecret, code: String)
    /// The code that ``AuthSession/sendFactorCode(to:)`` has sent.
    case phone(SentCode, code: String)
    /// The passkey that ``AuthSession/makePasskey(_:at:userName:displayName:with:)`` has made.
    case passkey(PasskeyCredential)
}

extension FactorConfirmation: CustomStringConvertible, CustomReflectable {
    /// The kind of factor.
    public var description: String {
        switch self {
        case .authenticatorApp: "authenticator app"
        case .phone: "phone"
        case .passkey: "passkey"
        }
    }

    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// An enrolled second factor, with the recovery codes that the first one brings.
///
/// Its description does not contain the codes.
public struct FactorEnrolment: Sendable {
    /// The id of the factor.
    public let factorID: String
    /// The recovery codes, which are shown here alone; empty for a further factor.
    public let recoveryCodes: [String]
}

extension FactorEnrolment: CustomStringConvertible, CustomReflectable {
    /// The id of the factor.
    public var description: String { "factor \(factorID)" }

    /// A mirror without the codes.
    public var customMirror: Mirror { Mirror(self, children: ["factorID": factorID]) }
}
