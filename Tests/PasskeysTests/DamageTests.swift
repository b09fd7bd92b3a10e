import CFIDO2
import Passkeys
import SoftwareAuthenticators
import Testing

/// Every truncation and every inverted bit of real responses.
@Suite struct DamageTests {
    @Test(arguments: Fixture.names)
    func `damaged assertions are refused`(name: String) throws {
        let fixture = try Fixture(name)
        let response = try fixture.assertionResponse()
        let passkey = try fixture.stored()
        let ceremony = try fixture.request(nil, .discouraged)
        func expectRefusal(
            _ bytes: [UInt8], _ changed: ([UInt8]) throws -> AssertionResponse
        ) throws {
            for damaged in truncations(of: bytes) + bitFlips(of: bytes) + [bytes + [0]] {
                let response = try changed(damaged)
                #expect(throws: PasskeyFault.self) { try ceremony.verify(response, of: passkey) }
            }
        }
        try expectRefusal(response.clientDataJSON) { try response.changed(clientDataJSON: $0) }
        try expectRefusal(response.authenticatorData) {
            try response.changed(authenticatorData: $0)
        }
        try expectRefusal(response.signature) { try response.changed(signature: $0) }
    }

    /// The statement `none` has no signature: a changed key or id is another registration.
    @Test(arguments: Fixture.names)
    func `truncated registrations are refused, and damaged ones do no harm`(name: String) throws {
        let fixture = try Fixture(name)
        let response = try fixture.registrationResponse()
        let ceremony = try fixture.creation(nil, .discouraged)
        let object = response.attestationObject
        for damaged in truncations(of: object) + [object + [0]] {
            let response = try response.changed(attestationObject: damaged)
            #expect(throws: PasskeyFault.self) { try ceremony.verify(response) }
        }
        for damaged in bitFlips(of: object) {
            let response = try response.changed(attestationObject: damaged)
            let passkey = try? ceremony.verify(response)
            #expect(passkey == nil || passkey?.credentialID == response.credentialID)
        }
        for damaged in truncations(of: response.clientDataJSON) {
            let response = try response.changed(clientDataJSON: damaged)
            #expect(throws: PasskeyFault.self) { try ceremony.verify(response) }
        }
    }

    @Test func `damaged registrations with a self-signed statement are refused`() throws {
        let authenticator = SoftwareAuthenticator()
        let ceremony = try SoftwareAuthenticator.ceremony(.discouraged)
        let response = try authenticator.register()
        #expect(try ceremony.verify(response).attestation == .selfSigned)
        for object in bitFlips(of: response.attestationObject) {
            let response = try response.changed(attestationObject: object)
            #expect(throws: PasskeyFault.self) { try ceremony.verify(response) }
        }
        for clientData in bitFlips(of: response.clientDataJSON) {
            let response = try response.changed(clientDataJSON: clientData)
            #expect(throws: PasskeyFault.self) { try ceremony.verify(response) }
        }
    }

    @Test(arguments: ["packed", "u2f", "extensions"])
    func `signed statements protect the authenticator data and the client data`(
        name: String
    ) throws {
        let fixture = try Fixture(name)
        let response = try fixture.registrationResponse()
        let ceremony = try fixture.creation(nil, .discouraged)
        // The authenticator data are the last member. FIDO U2F signs neither flags, counter nor AAGUID.
        let object = response.attestationObject
        let last = name == "u2f" ? 77 : 164
        for damaged in bitFlips(of: Array(object.suffix(last))) {
            let damaged = Array(object.dropLast(last)) + damaged
            let response = try response.changed(attestationObject: damaged)
            #expect(throws: PasskeyFault.self) { try ceremony.verify(response) }
        }
        for clientData in bitFlips(of: response.clientDataJSON) {
            let response = try response.changed(clientDataJSON: clientData)
            #expect(throws: PasskeyFault.self) { try ceremony.verify(response) }
        }
    }

    /// Other users of OpenSSL on the thread, such as TLS, would take them for their own.
    @Test func `refusals leave no errors in OpenSSL's queue`() throws {
        for name in Fixture.names {
            let fixture = try Fixture(name)
            let response = try fixture.assertionResponse()
            let passkey = try fixture.stored()
            ERR_clear_error()
            for signature in truncations(of: response.signature) {
                let damaged = try response.changed(signature: signature)
                #expect(throws: PasskeyFault.invalidSignature) {
                    try fixture.request().verify(damaged, of: passkey)
                }
                #expect(ERR_peek_error() == 0)
            }
        }
        ERR_clear_error()
        #expect(throws: PasskeyFault.invalidPublicKey) {
            try PasskeyPublicKey(algorithm: .es256, bytes: [UInt8](repeating: 1, count: 64))
        }
        #expect(ERR_peek_error() == 0)
    }

    @Test func `hostile structures are refused in little time`() throws {
        let response = try SoftwareAuthenticator().register()
        let ceremony = try SoftwareAuthenticator.ceremony()
        let huge: [[UInt8]] = [
            [0xBB, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
            [0xA3, 0x5B, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
            [0xA3, 0x9B, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00],
            [0xA3] + [UInt8](repeating: 0x81, count: 16_000),
            [0xA3] + [UInt8](repeating: 0xA1, count: 16_000),
            [0xA3] + [UInt8](repeating: 0xC0, count: 16_000),
            [0xA3, 0x5F, 0x41, 0x00, 0xFF], [0xA3, 0xF9, 0x00, 0x00], [0xBF, 0xFF], [],
            [0xA3, 0x18, 0x01], [0xA3, 0x61, 0xFF], [0xA3, 0xF7], [0xA3, 0x1C],
        ]
        for object in huge {
            let response = try response.changed(attestationObject: object)
            #expect(throws: PasskeyFault.malformedAttestationObject) {
                try ceremony.verify(response)
            }
        }
    }
}
