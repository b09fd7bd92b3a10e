internal import Cryptography
internal import Encodings
internal import JSON

/// The data that a browser has signed in addition: WebAuthn level 3, section 5.8.1.
struct ClientData {
    /// The kinds of ceremonies.
    enum Kind: String {
        case create = "webauthn.create"
        case get = "webauthn.get"
    }

    /// The SHA-256 of the bytes, which is signed.
    let hash: [UInt8]
    private let type: String
    private let challenge: [UInt8]
    private let origin: String
    private let isCrossOrigin: Bool

    /// Parses the JSON; unknown members are ignored, as the standard demands.
    init(_ bytes: [UInt8]) throws(PasskeyFault) {
        guard
            let members = JSONValue(parsing: bytes)?.members,
            let type = members["type"]?.string,
            let challenge = members["challenge"]?.string.flatMap({ Base64URL.decode($0) }),
            let origin = members["origin"]?.string
        else { throw .malformedClientData }
        switch members.present("crossOrigin") {
        case nil, .bool(false)?: isCrossOrigin = members.present("topOrigin") != nil
        case .bool(true)?: isCrossOrigin = true
        default: throw .malformedClientData
        }
        self.type = type
        self.challenge = challenge
        self.origin = origin
        hash = SHA256.hash(bytes)
    }

    /// Checks that the browser took part in this ceremony, on a page of the relying party.
    func check(_ kind: Kind, in ceremony: PasskeyCeremony) throws(PasskeyFault) {
        guard type.isExactly(kind.rawValue) else { throw .wrongType }
        guard constantTimeEqual(challenge, ceremony.challenge) else { throw .wrongChallenge }
        guard ceremony.relyingParty.origins.contains(where: { $0.isExactly(origin) }) else {
            throw .wrongOrigin
        }
        guard !isCrossOrigin else { throw .crossOrigin }
    }
}
