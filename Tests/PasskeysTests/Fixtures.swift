import Encodings
import Foundation
import JSON
import Passkeys
import Testing

/// Credentials that Chromium's virtual authenticators made once; `record.mjs` beside `Browser.swift` makes new ones.
struct Fixture: CustomTestStringConvertible {
    private struct File: Decodable {
        let origin: String
        let fixtures: [Record]
    }

    private struct Record: Decodable {
        let name: String
        let registration: String
        let assertion: String
    }

    static let names = [
        "es256", "edDSA", "rs256", "backedUp", "unverified", "packed", "u2f", "extensions",
    ]
    static let userHandle = Array(UInt8(0)..<16)

    let name: String
    let origin: String
    /// `RegistrationResponseJSON`.
    let registration: String
    /// `AuthenticationResponseJSON`.
    let assertion: String

    init(_ name: String) throws {
        let url = try #require(
            Bundle.module.url(forResource: "Fixtures/chromium", withExtension: "json"))
        let file = try JSONDecoder().decode(File.self, from: Data(contentsOf: url))
        let record = try #require(file.fixtures.first { $0.name == name })
        self.name = name
        origin = file.origin
        registration = record.registration
        assertion = record.assertion
    }

    var testDescription: String { name }

    /// Whether the authenticator stored the credential and verified the user.
    var isVerified: Bool { !["unverified", "u2f"].contains(name) }

    func party(id: String = "localhost", origins: [String]? = nil) throws -> RelyingParty {
        try #require(RelyingParty(id: id, name: "Example", origins: origins ?? [origin]))
    }

    /// The ceremony of the registration.
    func creation(
        _ party: RelyingParty? = nil, challenge: [UInt8] = Array(0..<32),
        _ verification: PasskeyCeremony.UserVerification? = nil
    ) throws -> PasskeyCeremony {
        try #require(
            PasskeyCeremony(
                relyingParty: party ?? self.party(), challenge: challenge,
                userVerification: verification ?? (isVerified ? .required : .discouraged)))
    }

    /// The ceremony of the assertion.
    func request(
        _ party: RelyingParty? = nil, challenge: [UInt8] = Array(32..<64),
        _ verification: PasskeyCeremony.UserVerification? = nil
    ) throws -> PasskeyCeremony {
        try creation(party, challenge: challenge, verification)
    }

    func registered() throws -> NewPasskey {
        try creation().verify(registrationResponse())
    }

    func registrationResponse() throws -> RegistrationResponse {
        try RegistrationResponse(parsing: Array(registration.utf8))
    }

    func assertionResponse() throws -> AssertionResponse {
        try AssertionResponse(parsing: Array(assertion.utf8))
    }

    func stored(count: UInt32? = nil) throws -> StoredPasskey {
        StoredPasskey(try registered(), count: count)
    }
}

extension StoredPasskey {
    init(
        _ passkey: NewPasskey, credentialID: [UInt8]? = nil, key: PasskeyPublicKey? = nil,
        count: UInt32? = nil, isBackupEligible: Bool? = nil,
        userHandle: [UInt8] = Fixture.userHandle
    ) {
        self.init(
            credentialID: credentialID ?? passkey.credentialID, publicKey: key ?? passkey.publicKey,
            signatureCount: count ?? passkey.signatureCount,
            isBackupEligible: isBackupEligible ?? passkey.isBackupEligible, userHandle: userHandle)
    }
}

extension AssertionResponse {
    func changed(
        clientDataJSON: [UInt8]? = nil, authenticatorData: [UInt8]? = nil,
        signature: [UInt8]? = nil, userHandle: [UInt8]?? = nil
    ) throws(PasskeyFault) -> AssertionResponse {
        try AssertionResponse(
            credentialID: credentialID, clientDataJSON: clientDataJSON ?? self.clientDataJSON,
            authenticatorData: authenticatorData ?? self.authenticatorData,
            signature: signature ?? self.signature, userHandle: userHandle ?? self.userHandle)
    }
}

extension RegistrationResponse {
    func changed(
        clientDataJSON: [UInt8]? = nil, attestationObject: [UInt8]? = nil
    ) throws(PasskeyFault) -> RegistrationResponse {
        try RegistrationResponse(
            credentialID: credentialID, clientDataJSON: clientDataJSON ?? self.clientDataJSON,
            attestationObject: attestationObject ?? self.attestationObject)
    }
}

/// Every prefix that lacks at least a byte.
func truncations(of bytes: [UInt8]) -> [[UInt8]] {
    bytes.indices.map { Array(bytes[..<$0]) }
}

/// The bytes with each of their bits inverted in turn.
func bitFlips(of bytes: [UInt8]) -> [[UInt8]] {
    (0..<(bytes.count * 8)).map { bit in
        var flipped = bytes
        flipped[bit / 8] ^= 1 << (bit % 8)
        return flipped
    }
}
