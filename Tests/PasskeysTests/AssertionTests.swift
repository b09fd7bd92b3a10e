import Encodings
import Passkeys
import SoftwareAuthenticators
import Testing

/// Assertions of Chromium and of an authenticator that signs whatever a test wants.
@Suite struct AssertionTests {
    @Test(arguments: Fixture.names)
    func `assertions of Chromium are verified`(name: String) throws {
        let fixture = try Fixture(name)
        let response = try fixture.assertionResponse()
        let use = try fixture.request().verify(response, of: fixture.stored())
        #expect(use.signatureCount == 2)
        #expect(!use.hasCounterGoneBack)
        #expect(use.isUserVerified == fixture.isVerified)
        #expect(use.isBackedUp == (name == "backedUp"))
        #expect(response.userHandle == (fixture.isVerified ? Fixture.userHandle : nil))
    }

    @Test(arguments: Fixture.names)
    func `the conditions of another ceremony are refused`(name: String) throws {
        let fixture = try Fixture(name)
        let response = try fixture.assertionResponse()
        let passkey = try fixture.stored()
        func fault(_ ceremony: PasskeyCeremony, _ passkey: StoredPasskey) -> PasskeyFault? {
            #expect(throws: PasskeyFault.self) { try ceremony.verify(response, of: passkey) }
        }
        #expect(try fault(fixture.request(challenge: Array(33..<65)), passkey) == .wrongChallenge)
        #expect(try fault(fixture.request(challenge: Array(32..<63)), passkey) == .wrongChallenge)
        let party = try fixture.party(origins: ["http://localhost:1"])
        #expect(try fault(fixture.request(party), passkey) == .wrongOrigin)
        if !fixture.isVerified {
            #expect(try fault(fixture.request(nil, .required), passkey) == .userNotVerified)
        }
    }

    @Test func `another credential, another user and another key are refused`() throws {
        let fixture = try Fixture("es256")
        let response = try fixture.assertionResponse()
        let passkey = try fixture.registered()
        let ceremony = try fixture.request()
        #expect(throws: PasskeyFault.wrongCredential) {
            try ceremony.verify(
                response,
                of: StoredPasskey(passkey, credentialID: Array(passkey.credentialID.dropLast())))
        }
        #expect(throws: PasskeyFault.wrongUserHandle) {
            try ceremony.verify(response, of: StoredPasskey(passkey, userHandle: [1]))
        }
        #expect(throws: PasskeyFault.changedBackupEligibility) {
            try ceremony.verify(response, of: StoredPasskey(passkey, isBackupEligible: true))
        }
        for name in Fixture.names where name != "es256" {
            let key = try Fixture(name).registered().publicKey
            #expect(throws: PasskeyFault.invalidSignature) {
                try ceremony.verify(response, of: StoredPasskey(passkey, key: key))
            }
        }
        let withoutUser = try response.changed(userHandle: .some(nil))
        #expect(try ceremony.verify(withoutUser, of: StoredPasskey(passkey)).isUserVerified)
    }

    @Test func `a counter that went back is reported`() throws {
        let fixture = try Fixture("rs256")
        let response = try fixture.assertionResponse()
        for (stored, hasGoneBack) in [
            (0, false), (1, false), (2, true), (3, true), (UInt32.max, true),
        ] {
            let use = try fixture.request().verify(response, of: fixture.stored(count: stored))
            #expect(use.hasCounterGoneBack == hasGoneBack)
            #expect(use.signatureCount == 2)
        }
        // Authenticators without a counter.
        var authenticator = SoftwareAuthenticator()
        authenticator.count = 0
        let passkey = try authenticator.stored()
        let ceremony = try SoftwareAuthenticator.ceremony()
        #expect(try !ceremony.verify(authenticator.assert(), of: passkey).hasCounterGoneBack)
        authenticator.count = .max
        #expect(try ceremony.verify(authenticator.assert(), of: passkey).signatureCount == .max)
    }

    @Test func `every condition has its fault`() throws {
        expectFault(nil) { _ in }
        expectFault(.wrongType) { $0.type = "webauthn.create" }
        expectFault(.wrongChallenge) { $0.challenge[31] ^= 0x80 }
        expectFault(.wrongChallenge) { $0.challenge = [] }
        expectFault(.wrongOrigin) { $0.origin = "https://login.example.com.evil.example" }
        expectFault(.wrongOrigin) { $0.origin = "HTTPS://login.example.com" }
        expectFault(.wrongOrigin) { $0.origin = "https://login.example.com." }
        expectFault(.wrongOrigin) { $0.origin = "https://login.example.co" }
        expectFault(.wrongOrigin) { $0.origin = "" }
        expectFault(.wrongOrigin) { $0.origin = "null" }
        expectFault(.crossOrigin) { $0.members = #","crossOrigin":true"# }
        expectFault(nil) { $0.members = #","crossOrigin":false,"topOrigin":null,"a":[1]"# }
        expectFault(.malformedClientData) { $0.members = #","crossOrigin":0"# }
        expectFault(.malformedClientData) { $0.members = #","type":"webauthn.get""# }
        expectFault(.malformedClientData) { $0.members = "}" }
        expectFault(.wrongRelyingParty) { $0.rpID = "evil.example" }
        expectFault(.userNotPresent) { $0.flags = SoftwareAuthenticator.userVerified }
        expectFault(.userNotVerified) { $0.flags = SoftwareAuthenticator.userPresent }
        expectFault(.contradictoryFlags) { $0.flags |= SoftwareAuthenticator.backedUp }
        expectFault(.malformedAuthenticatorData) { $0.suffix = [0xA0] }
        expectFault(.malformedAuthenticatorData) {
            $0.flags |= SoftwareAuthenticator.hasExtensions
        }
        expectFault(.malformedAuthenticatorData) {
            $0.flags |= SoftwareAuthenticator.hasCredential
        }
        expectFault(nil) { $0.extensions = CBOR.map([(CBOR.text("other"), [0xF5])]) }
        expectFault(nil) {
            $0.extensions = CBOR.map([(CBOR.text("hmac-secret"), CBOR.bytes([1, 2]))])
        }
        expectFault(.malformedAuthenticatorData) {
            $0.extensions = CBOR.map([(CBOR.text("hmac-secret"), [0xF5])])
        }
    }

    @Test func `an Android app that the service lists uses its passkeys, and no other one`() throws
    {
        let apps = ["A", "E"].map { "android:apk-key-hash:" + String(repeating: $0, count: 43) }
        var authenticator = SoftwareAuthenticator()
        authenticator.members = #","androidPackageName":"com.example.app""#
        for (origin, isListed) in [(apps[0], true), (apps[1], false)] {
            authenticator.origin = origin
            let party = try #require(
                RelyingParty(
                    id: "example.com", name: "Example",
                    origins: [SoftwareAuthenticator.origin, apps[0]]))
            let ceremony = try #require(
                PasskeyCeremony(
                    relyingParty: party, challenge: SoftwareAuthenticator.challenge,
                    userVerification: .required))
            let use = try? ceremony.verify(authenticator.assert(), of: authenticator.stored())
            #expect((use != nil) == isListed)
        }
    }

    @Test func `a credential in an assertion is refused`() throws {
        let authenticator = SoftwareAuthenticator()
        let fixture = try Fixture("es256")
        let registered = try fixture.registrationResponse().attestationObject
        // The bytes after the head of the authenticator data, which are the end of the object.
        let credential = Array(registered.suffix(164 - 37))
        #expect(throws: PasskeyFault.malformedAuthenticatorData) {
            try SoftwareAuthenticator.ceremony().verify(
                authenticator.assert(withCredential: credential), of: authenticator.stored())
        }
    }

    @Test func `the user is verified only when required`() throws {
        var authenticator = SoftwareAuthenticator()
        authenticator.flags = SoftwareAuthenticator.userPresent
        for verification in [PasskeyCeremony.UserVerification.preferred, .discouraged] {
            let use = try SoftwareAuthenticator.ceremony(verification).verify(
                authenticator.assert(), of: authenticator.stored())
            #expect(!use.isUserVerified)
        }
    }

    @Test func `signatures of other lengths are refused`() throws {
        for name in Fixture.names {
            let fixture = try Fixture(name)
            let response = try fixture.assertionResponse()
            for signature in [[], response.signature + [0], [UInt8](repeating: 0, count: 1_024)] {
                #expect(throws: PasskeyFault.invalidSignature) {
                    try fixture.request().verify(
                        response.changed(signature: signature), of: fixture.stored())
                }
            }
        }
    }

    private func expectFault(
        _ fault: PasskeyFault?, _ location: SourceLocation = #_sourceLocation,
        change: (inout SoftwareAuthenticator) -> Void
    ) {
        var authenticator = SoftwareAuthenticator()
        change(&authenticator)
        let result = Result {
            try SoftwareAuthenticator.ceremony().verify(
                authenticator.assert(), of: authenticator.stored())
        }
        var found: PasskeyFault?
        if case .failure(let error) = result { found = error as? PasskeyFault }
        #expect(found == fault, sourceLocation: location)
        #expect(((try? result.get()) == nil) == (fault != nil), sourceLocation: location)
    }
}
