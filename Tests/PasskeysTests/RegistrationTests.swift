import Cryptography
import Encodings
import Passkeys
import SoftwareAuthenticators
import Testing

/// Registrations of Chromium and of an authenticator that signs whatever a test wants.
@Suite struct RegistrationTests {
    @Test(arguments: Fixture.names)
    func `registrations of Chromium are verified`(name: String) throws {
        let fixture = try Fixture(name)
        let response = try fixture.registrationResponse()
        let passkey = try fixture.creation().verify(response)
        #expect(passkey.credentialID == response.credentialID)
        #expect(
            passkey.publicKey.algorithm
                == (["edDSA": .edDSA, "rs256": .rs256][name] ?? .es256))
        #expect(passkey.signatureCount == (name == "u2f" ? 0 : 1))
        #expect(passkey.aaguid.count == 16)
        #expect(passkey.isUserVerified == fixture.isVerified)
        #expect(passkey.isBackupEligible == (name == "backedUp"))
        #expect(passkey.isBackedUp == (name == "backedUp"))
        #expect(
            passkey.attestation
                == (["packed", "u2f", "extensions"].contains(name) ? .certificate : .none))
        #expect(["internal", "usb"].contains(passkey.transports.first))
    }

    @Test(arguments: Fixture.names)
    func `the conditions of another ceremony are refused`(name: String) throws {
        let fixture = try Fixture(name)
        let response = try fixture.registrationResponse()
        func fault(_ ceremony: PasskeyCeremony) -> PasskeyFault? {
            #expect(throws: PasskeyFault.self) { try ceremony.verify(response) }
        }
        var challenge = [UInt8](0..<32)
        challenge[31] ^= 1
        #expect(try fault(fixture.creation(challenge: challenge)) == .wrongChallenge)
        #expect(try fault(fixture.creation(challenge: Array(0..<31))) == .wrongChallenge)
        let port = fixture.origin.split(separator: ":")[2]
        for origin in [
            "http://localhost", "http://localhost:1", "https://localhost:\(port)",
            "http://a.localhost:\(port)",
        ] {
            let party = try fixture.party(origins: [origin])
            #expect(try fault(fixture.creation(party)) == .wrongOrigin)
        }
        if !fixture.isVerified {
            #expect(try fault(fixture.creation(nil, .required)) == .userNotVerified)
        }
    }

    @Test func `the user must be verified when it is required, and only then`() throws {
        let fixture = try Fixture("unverified")
        let response = try fixture.registrationResponse()
        #expect(throws: PasskeyFault.userNotVerified) {
            try fixture.creation(nil, .required).verify(response)
        }
        #expect(try fixture.creation(nil, .preferred).verify(response).isUserVerified == false)
    }

    @Test func `a self-signed attestation is verified`() throws {
        var authenticator = SoftwareAuthenticator()
        #expect(try outcome(authenticator).attestation == .selfSigned)
        #expect(try outcome(authenticator).publicKey == authenticator.publicKey())
        authenticator.flags |=
            SoftwareAuthenticator.backupEligible | SoftwareAuthenticator.backedUp
        #expect(try outcome(authenticator).isBackedUp)
        authenticator.extensions = CBOR.map([
            (CBOR.text("credProtect"), CBOR.integer(2)), (CBOR.text("hmac-secret"), [0xF5]),
        ])
        #expect(try outcome(authenticator).attestation == .selfSigned)
    }

    @Test func `every condition has its fault`() throws {
        expectFault(.wrongType) { $0.type = "webauthn.get" }
        expectFault(.wrongType) { $0.type = "webauthn.create " }
        expectFault(.wrongChallenge) { $0.challenge[0] ^= 1 }
        expectFault(.wrongChallenge) { $0.challenge.append(0) }
        expectFault(.wrongOrigin) { $0.origin = "https://example.com" }
        expectFault(.wrongOrigin) { $0.origin = "https://login.example.com:444" }
        expectFault(.wrongOrigin) { $0.origin = "https://login.example.com/" }
        expectFault(.wrongOrigin) { $0.origin = "http://login.example.com" }
        expectFault(.crossOrigin) { $0.members = #","crossOrigin":true"# }
        expectFault(.crossOrigin) { $0.members = #","topOrigin":"https://evil.example""# }
        expectFault(.malformedClientData) { $0.members = #","crossOrigin":"false""# }
        expectFault(.malformedClientData) { $0.members = #","origin":"https://a.example""# }
        expectFault(.wrongRelyingParty) { $0.rpID = "login.example.com" }
        expectFault(.userNotPresent) { $0.flags = SoftwareAuthenticator.userVerified }
        expectFault(.userNotVerified) { $0.flags = SoftwareAuthenticator.userPresent }
        expectFault(.contradictoryFlags) { $0.flags |= SoftwareAuthenticator.backedUp }
        expectFault(.missingCredential) { $0.hasCredential = false }
        expectFault(.credentialIDLength) { $0.credentialID = [] }
        expectFault(.credentialIDLength) {
            $0.credentialID = [UInt8](repeating: 1, count: 1_024)
        }
        expectFault(.malformedAuthenticatorData) { $0.suffix = [0] }
        expectFault(.malformedAuthenticatorData) { $0.extensions = [0x80] }
        expectFault(.malformedAuthenticatorData) { $0.extensions = [] }
        expectFault(.unsupportedAttestation) { $0.format = "android-key" }
        expectFault(.unsupportedAttestation) { $0.format = "tpm" }
        expectFault(.invalidAttestation) { $0.format = "fido-u2f" }
        expectFault(.invalidAttestation) { $0.algorithm = -7 }
        expectFault(.invalidAttestation) { $0.statement = CBOR.map([]) }
        expectFault(.invalidAttestation) {
            $0.format = "none"
            $0.statement = CBOR.map([(CBOR.text("alg"), CBOR.integer(-8))])
        }
        expectFault(.malformedAttestationObject) { $0.statement = CBOR.array([]) }
        expectFault(.invalidAttestation) {
            $0.statement = CBOR.map([
                (CBOR.text("alg"), CBOR.integer(-8)),
                (CBOR.text("sig"), CBOR.bytes([UInt8](repeating: 1, count: 64))),
            ])
        }
        expectFault(.invalidAttestation) {
            $0.statement = CBOR.map([
                (CBOR.text("alg"), CBOR.integer(-8)),
                (CBOR.text("sig"), CBOR.bytes([UInt8](repeating: 1, count: 64))),
                (CBOR.text("x5c"), CBOR.array([CBOR.bytes(Array(0..<100))])),
            ])
        }
    }

    @Test func `a statement is signed by the key of its certificate`() throws {
        var authenticator = SoftwareAuthenticator()
        authenticator.hasCertificate = true
        #expect(try outcome(authenticator).attestation == .certificate)
        expectFault(.invalidAttestation) {
            $0.hasCertificate = true
            $0.algorithm = -7
        }
        // FIDO U2F knows keys on P-256 only.
        expectFault(.invalidAttestation) {
            $0.hasCertificate = true
            $0.format = "fido-u2f"
        }
    }

    @Test func `ids of up to 1023 bytes are accepted`() throws {
        var authenticator = SoftwareAuthenticator()
        authenticator.format = "none"
        for count in [1, 1_022, 1_023] {
            authenticator.credentialID = [UInt8](repeating: 1, count: count)
            #expect(try outcome(authenticator).credentialID.count == count)
        }
    }

    @Test func `keys of other algorithms and invalid keys are refused`() throws {
        func key(_ pairs: [(Int, [UInt8])]) -> [UInt8] {
            CBOR.map(pairs.map { (CBOR.integer($0.0), $0.1) })
        }
        let es256 = try Fixture("es256").registered().publicKey.bytes
        let x = Array(es256[..<32])
        let y = Array(es256[32...])
        func p256(_ y: [UInt8], curve: Int = 1, algorithm: Int = -7) -> [UInt8] {
            key([
                (1, CBOR.integer(2)), (3, CBOR.integer(algorithm)), (-1, CBOR.integer(curve)),
                (-2, CBOR.bytes(x)), (-3, CBOR.bytes(y)),
            ])
        }
        expectFault(nil) { $0.coseKey = p256(y) }
        expectFault(.invalidPublicKey) { $0.coseKey = p256(x) }
        expectFault(.invalidPublicKey) { $0.coseKey = p256(Array(y.dropLast())) }
        expectFault(.invalidPublicKey) { $0.coseKey = p256(y, curve: 2) }
        expectFault(.unsupportedAlgorithm) { $0.coseKey = p256(y, algorithm: -35) }
        expectFault(.unsupportedAlgorithm) { $0.coseKey = p256(y, algorithm: -37) }
        expectFault(.malformedAuthenticatorData) { $0.coseKey = [] }
        expectFault(.malformedAuthenticatorData) { $0.coseKey = key([(1, CBOR.integer(2))]) }
        expectFault(.malformedAuthenticatorData) { $0.coseKey = CBOR.array([]) }
        let modulus = try Fixture("rs256").registered().publicKey.bytes[..<256]
        func rsa(_ modulus: [UInt8], _ exponent: [UInt8]) -> [UInt8] {
            key([
                (1, CBOR.integer(3)), (3, CBOR.integer(-257)), (-1, CBOR.bytes(modulus)),
                (-2, CBOR.bytes(exponent)),
            ])
        }
        expectFault(nil) { $0.coseKey = rsa(Array(modulus), [1, 0, 1]) }
        expectFault(.invalidPublicKey) { $0.coseKey = rsa(Array(modulus.dropLast()), [1, 0, 1]) }
        expectFault(.invalidPublicKey) { $0.coseKey = rsa([0] + modulus.dropLast(), [1, 0, 1]) }
        expectFault(.invalidPublicKey) { $0.coseKey = rsa(Array(modulus), [3]) }
    }

    @Test func `the id outside the attestation object is the one inside`() throws {
        let response = try SoftwareAuthenticator().register()
        let other = try RegistrationResponse(
            credentialID: response.credentialID + [0], clientDataJSON: response.clientDataJSON,
            attestationObject: response.attestationObject)
        #expect(throws: PasskeyFault.wrongCredential) {
            try SoftwareAuthenticator.ceremony().verify(other)
        }
    }

    @Test func `stored keys are checked again`() throws {
        for name in ["es256", "edDSA", "rs256"] {
            let key = try Fixture(name).registered().publicKey
            #expect(try PasskeyPublicKey(algorithm: key.algorithm, bytes: key.bytes) == key)
            for bytes in [[], Array(key.bytes.dropLast()), key.bytes + [0]] {
                #expect(throws: PasskeyFault.invalidPublicKey) {
                    try PasskeyPublicKey(algorithm: key.algorithm, bytes: bytes)
                }
            }
        }
        #expect(throws: PasskeyFault.invalidPublicKey) {
            try PasskeyPublicKey(algorithm: .es256, bytes: [UInt8](repeating: 1, count: 64))
        }
    }

    private func outcome(_ authenticator: SoftwareAuthenticator) throws -> NewPasskey {
        try SoftwareAuthenticator.ceremony().verify(authenticator.register())
    }

    /// Registers with a change; the attestation is `none` where the key is not the true one.
    private func expectFault(
        _ fault: PasskeyFault?, _ location: SourceLocation = #_sourceLocation,
        change: (inout SoftwareAuthenticator) -> Void
    ) {
        var authenticator = SoftwareAuthenticator()
        change(&authenticator)
        if authenticator.coseKey != nil { authenticator.format = "none" }
        let result = Result { try outcome(authenticator) }
        var found: PasskeyFault?
        if case .failure(let error) = result { found = error as? PasskeyFault }
        #expect(found == fault, sourceLocation: location)
        #expect(((try? result.get()) == nil) == (fault != nil), sourceLocation: location)
    }
}
