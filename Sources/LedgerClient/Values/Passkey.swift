public import Foundation

/// A request for the response of an authenticator, and the challenge in it.
///
/// It is good for ten minutes and for one response.
public struct PasskeyChallenge<Options: Decodable & Hashable & Sendable>: Hashable, Sendable,
    Decodable
{
    /// The id of the challenge, as necessary as the response: keep it where the ceremony began.
    public var challengeID: String
    /// The lifetime, in seconds.
    public var expiresIn: Int
    /// The options for the authenticator.
    public var options: Options

    /// Describes a challenge.
    public init(challengeID: String, expiresIn: Int, options: Options) {
        self.challengeID = challengeID
        self.expiresIn = expiresIn
        self.options = options
    }

    enum CodingKeys: String, CodingKey {
        case challengeID = "challenge_id"
        case expiresIn = "expires_in"
        case options
    }
}

/// Whether an authenticator verifies the person, such as by a fingerprint.
public struct UserVerification: RawRepresentable, Codable, Hashable, Sendable {
    /// The word of WebAuthn, such as `preferred`.
    public let rawValue: String

    /// Wraps a word, which may be one that this release does not know.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// It must.
    public static let required = Self(rawValue: "required")
    /// It does where it can.
    public static let preferred = Self(rawValue: "preferred")
    /// A touch is sufficient.
    public static let discouraged = Self(rawValue: "discouraged")
}

/// The options for making a passkey: WebAuthn's `PublicKeyCredentialCreationOptionsJSON`.
public struct PasskeyCreationOptions: Hashable, Sendable {
    /// The domain for which the passkey is made.
    public var relyingPartyID: String
    /// The name of the service.
    public var relyingPartyName: String
    /// The random bytes that the authenticator stores for the account.
    public var userHandle: Data
    /// The name by which the authenticator lists the passkey.
    public var userName: String
    /// The name of the person; may be empty.
    public var displayName: String
    /// The bytes that the response is about.
    public var challenge: Data
    /// The numbers of the permitted signature algorithms (COSE), the preferred one first.
    public var algorithms: [Int]
    /// The credentials that the account has: an authenticator with one of them makes no second one.
    public var excludedCredentials: [Data]
    /// Whether the authenticator itself stores the credential; not needed for second factors.
    public var isStored: Bool
    /// Whether the authenticator verifies the person.
    public var userVerification: UserVerification
}

/// The options for using a passkey: WebAuthn's `PublicKeyCredentialRequestOptionsJSON`.
public struct PasskeyRequestOptions: Hashable, Sendable {
    /// The domain for which the passkey was made.
    public var relyingPartyID: String
    /// The bytes that the response is about.
    public var challenge: Data
    /// The credentials that may answer; any of the domain's if it is empty.
    public var allowedCredentials: [Data]
    /// Whether the authenticator verifies the person.
    public var userVerification: UserVerification
}

/// The response of an authenticator that has made a passkey.
public struct PasskeyRegistration: Sendable {
    /// The id of the credential.
    public var credentialID: Data
    /// The client data, which contain the challenge.
    public var clientDataJSON: Data
    /// The attestation object, which contains the public key.
    public var attestationObject: Data
    /// The ways to reach the authenticator, such as `internal`, if they are known.
    public var transports: [String]

    /// Describes a response.
    public init(
        credentialID: Data, clientDataJSON: Data, attestationObject: Data,
        transports: [String] = []
    ) {
        self.credentialID = credentialID
        self.clientDataJSON = clientDataJSON
        self.attestationObject = attestationObject
        self.transports = transports
    }
}

/// The response of an authenticator that has used a passkey.
public struct PasskeyAssertion: Sendable {
    /// The id of the credential.
    public var credentialID: Data
    /// The client data, which contain the challenge.
    public var clientDataJSON: Data
    /// The authenticator data, with the flags and the counter.
    public var authenticatorData: Data
    /// The signature of both.
    public var signature: Data
    /// The bytes that the authenticator stores for the account; nil from one that stores none.
    public var userHandle: Data?

    /// Describes a response.
    public init(
        credentialID: Data, clientDataJSON: Data, authenticatorData: Data, signature: Data,
        userHandle: Data? = nil
    ) {
        self.credentialID = credentialID
        self.clientDataJSON = clientDataJSON
        self.authenticatorData = authenticatorData
        self.signature = signature
        self.userHandle = userHandle
    }
}

/// A challenge with the response of an authenticator, which proves a passkey once.
///
/// It is a secret: its description does not contain it.
public struct PasskeyCredential: Sendable {
    enum Response: Sendable {
        case registration(PasskeyRegistration)
        case assertion(PasskeyAssertion)
    }

    let challengeID: String
    let response: Response
}

extension PasskeyCredential: CustomStringConvertible, CustomReflectable {
    /// The kind of proof, without its content.
    public var description: String { "passkey" }

    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension PasskeyChallenge where Options == PasskeyCreationOptions {
    /// Joins the challenge and its response.
    ///
    /// - Parameter registration: The response of the authenticator.
    /// - Returns: The proof.
    public func answered(by registration: PasskeyRegistration) -> PasskeyCredential {
        PasskeyCredential(challengeID: challengeID, response: .registration(registration))
    }
}

extension PasskeyChallenge where Options == PasskeyRequestOptions {
    /// Joins the challenge and its response.
    ///
    /// - Parameter assertion: The response of the authenticator.
    /// - Returns: The proof.
    public func answered(by assertion: PasskeyAssertion) -> PasskeyCredential {
        PasskeyCredential(challengeID: challengeID, response: .assertion(assertion))
    }
}
