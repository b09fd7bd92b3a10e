import Foundation

extension PasskeyCreationOptions: Decodable {
    private struct RelyingParty: Decodable {
        let id: String
        let name: String
    }

    private struct User: Decodable {
        let id: String
        let name: String
        let displayName: String
    }

    private struct Parameters: Decodable {
        let alg: Int
    }

    private struct Selection: Decodable {
        let residentKey: String
        let userVerification: UserVerification
    }

    private enum CodingKeys: String, CodingKey {
        case rp
        case user
        case challenge
        case pubKeyCredParams
        case excludeCredentials
        case authenticatorSelection
    }

    /// Reads the JSON form of WebAuthn.
    ///
    /// - Parameter decoder: The decoder.
    /// - Throws: A `DecodingError`.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        let party = try members.decode(RelyingParty.self, forKey: .rp)
        let user = try members.decode(User.self, forKey: .user)
        let selection = try members.decode(Selection.self, forKey: .authenticatorSelection)
        let handle = try Base64URL.data(user.id, decoder.codingPath)
        self.init(
            relyingPartyID: party.id, relyingPartyName: party.name, userHandle: handle,
            userName: user.name, displayName: user.displayName,
            challenge: try members.bytes(.challenge),
            algorithms: try members.decode([Parameters].self, forKey: .pubKeyCredParams)
                .map(\.alg),
            excludedCredentials: try members.credentials(.excludeCredentials),
            isStored: selection.residentKey == "required",
            userVerification: selection.userVerification)
    }
}

extension PasskeyRequestOptions: Decodable {
    private enum CodingKeys: String, CodingKey {
        case rpId
        case challenge
        case allowCredentials
        case userVerification
    }

    /// Reads the JSON form of WebAuthn.
    ///
    /// - Parameter decoder: The decoder.
    /// - Throws: A `DecodingError`.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            relyingPartyID: try members.decode(String.self, forKey: .rpId),
            challenge: try members.bytes(.challenge),
            allowedCredentials: try members.credentials(.allowCredentials),
            userVerification: try members.decode(
                UserVerification.self, forKey: .userVerification))
    }
}

/// A credential of a list in options.
private struct Descriptor: Decodable {
    let id: String
}

extension KeyedDecodingContainer {
    fileprivate func bytes(_ key: Key) throws -> Data {
        try Base64URL.data(decode(String.self, forKey: key), codingPath + [key])
    }

    fileprivate func credentials(_ key: Key) throws -> [Data] {
        try (decodeIfPresent([Descriptor].self, forKey: key) ?? []).map {
            try Base64URL.data($0.id, codingPath + [key])
        }
    }
}

/// Base64 with the alphabet of URLs and without padding (RFC 4648, section 5).
enum Base64URL {
    static func encode(_ data: Data) -> String {
        data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
            .replacing("=", with: "")
    }

    /// Reads a text.
    ///
    /// - Throws: A `DecodingError` for a text of another alphabet.
    fileprivate static func data(_ text: String, _ path: [any CodingKey]) throws -> Data {
        let plain = text.replacing("-", with: "+").replacing("_", with: "/")
        let padding = String(repeating: "=", count: (4 - plain.utf8.count % 4) % 4)
        guard let data = Data(base64Encoded: plain + padding) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: path, debugDescription: "not base64url"))
        }
        return data
    }
}
