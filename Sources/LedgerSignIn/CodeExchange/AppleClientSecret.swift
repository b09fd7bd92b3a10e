internal import Cryptography
internal import Encodings
internal import JSON
internal import Ledger

/// Signs the client secrets of Sign in with Apple: JWTs by a key of the developer's team (Apple, "Creating a
/// client secret").
struct AppleClientSecret: Sendable {
    private static let audience = "https://appleid.apple.com"
    private static let seconds: Int64 = 300

    private let team: String
    private let client: String
    private let signer: TokenSigner

    /// Reads the members of `apple_key`: the team, the id of the key, and the key itself.
    ///
    /// The key is the text of Apple's `.p8` file between its first and last line, without the line ends.
    init(_ section: StrictObject, client: String) throws(ProvidersFileFault) {
        let (value, location) = try section.required("apple_key")
        let object = try StrictObject(value, at: location)
        try object.allow(["team_id", "key_id", "private_key"])
        team = try object.requiredText("team_id")
        self.client = client
        guard let bytes = Base64.decode(try object.requiredText("private_key")),
            let key = TokenSigningKey(pkcs8: bytes)
        else {
            throw ProvidersFileFault(
                object.location(of: "private_key"),
                "must be the base64 text of a PKCS #8 key on the curve P-256")
        }
        signer = key.signer(keyID: try object.requiredText("key_id"))
    }

    /// Returns a secret that is valid for some minutes.
    func token(at now: Timestamp) -> String {
        var claims = JSONWriter()
        claims.object { writer in
            writer.member("iss", team)
            writer.name("iat")
            writer.number(now.seconds)
            writer.name("exp")
            writer.number(now.seconds + Self.seconds)
            writer.member("aud", Self.audience)
            writer.member("sub", client)
        }
        return signer.sign(claims.bytes)
    }
}
