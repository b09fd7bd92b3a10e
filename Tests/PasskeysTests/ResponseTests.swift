import Encodings
import JSON
import Passkeys
import Testing

/// Responses in the JSON of browsers.
@Suite struct ResponseTests {
    /// The responses of a fixture with a text replaced once.
    private func outcomes(
        of name: String = "es256", replacing old: String, by new: String
    ) throws -> (registration: PasskeyFault?, assertion: PasskeyFault?) {
        let fixture = try Fixture(name)
        return (
            fault { () throws(PasskeyFault) in
                _ = try RegistrationResponse(
                    parsing: replaced(fixture.registration, old, new))
            },
            fault { () throws(PasskeyFault) in
                _ = try AssertionResponse(parsing: replaced(fixture.assertion, old, new))
            }
        )
    }

    private func replaced(_ text: String, _ old: String, _ new: String) -> [UInt8] {
        var text = text
        guard let range = text.firstRange(of: old) else { return Array(text.utf8) }
        text.replaceSubrange(range, with: new)
        return Array(text.utf8)
    }

    private func fault(_ body: () throws(PasskeyFault) -> Void) -> PasskeyFault? {
        do {
            try body()
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: Fixture.names)
    func `the JSON of Chromium is read`(name: String) throws {
        let fixture = try Fixture(name)
        let json = try #require(JSONValue(parsing: Array(fixture.registration.utf8)))
        let id = try #require(json.members?["id"]?.string)
        #expect(try RegistrationResponse(json).credentialID == Base64URL.decode(id))
        #expect(try fixture.registrationResponse().transports.count == 1)
        #expect(try fixture.assertionResponse().credentialID == Base64URL.decode(id))
    }

    @Test(arguments: [
        (#""type":"public-key""#, #""type":"password""#),
        (#""type":"public-key""#, #""type":null"#),
        (#""id":""#, #""id":"A"#),
        (#""rawId":""#, #""rawId":"A"#),
        (#""rawId":""#, #""rawID":""#),
        (#""response":{"#, #""reply":{"#),
        (#""response":{"#, #""response":[],"reply":{"#),
        (#""clientDataJSON":""#, #""clientDataJSON":"="#),
        (#""clientDataJSON":""#, #""clientDataJSON":"+/"#),
        (#""clientDataJSON":""#, #""clientDataJSON":1,"x":""#),
        (#""clientDataJSON":""#, #""x":""#),
        (#""clientExtensionResults":{}"#, #""clientExtensionResults":[]"#),
        (#""authenticatorAttachment":"#, #""authenticatorAttachment":1,"x":"#),
        ("{", "{{"), ("}", "}}"), ("{", #"{"type":"public-key","#),
    ])
    func `other JSON is refused`(old: String, new: String) throws {
        let (registration, assertion) = try outcomes(replacing: old, by: new)
        #expect(registration == .malformedResponse)
        #expect(assertion == .malformedResponse)
    }

    @Test(arguments: [
        (#""type":"public-key""#, #""type":"public-key","new":{}"#),
        (#""response":{"#, #""response":{"new":true,"#),
        (#""clientExtensionResults":{}"#, #""clientExtensionResults":{"credProps":{"rk":true}}"#),
        (#""authenticatorAttachment":"platform""#, #""authenticatorAttachment":null"#),
        (#""authenticatorAttachment":"platform","#, ""),
    ])
    func `members of newer browsers are ignored`(old: String, new: String) throws {
        let (registration, assertion) = try outcomes(replacing: old, by: new)
        #expect(registration == nil && assertion == nil)
    }

    @Test func `members of one kind of response`() throws {
        for (old, new) in [
            (#""transports":["internal"]"#, #""transports":"internal""#),
            (#""transports":["internal"]"#, #""transports":[1]"#),
            (#""transports":["internal"]"#, #""transports":[""]"#),
            (#""transports":["internal"]"#, #""transports":["a b"]"#),
            (#""transports":["internal"]"#, #""transports":["é"]"#),
            (
                #""transports":["internal"]"#,
                #""transports":["1","2","3","4","5","6","7","8","9"]"#
            ),
            (#""attestationObject":""#, #""attestationObject":"/"#),
            (#""attestationObject":""#, #""x":""#),
        ] {
            #expect(try outcomes(replacing: old, by: new).registration == .malformedResponse)
        }
        for (old, new) in [
            (#""userHandle":""#, #""userHandle":"="#),
            (#""userHandle":""#, #""userHandle":{},"x":""#),
            (#""signature":""#, #""x":""#), (#""authenticatorData":""#, #""x":""#),
        ] {
            #expect(try outcomes(replacing: old, by: new).assertion == .malformedResponse)
        }
        let null = try outcomes(replacing: #""userHandle":""#, by: #""userHandle":null,"x":""#)
        #expect(null.assertion == nil)
    }

    @Test func `an empty user handle is none`() throws {
        let fixture = try Fixture("es256")
        let text = replaced(fixture.assertion, #""userHandle":""#, #""userHandle":"","x":""#)
        let response = try AssertionResponse(parsing: text)
        #expect(response.userHandle == nil)
        let use = try fixture.request().verify(response, of: fixture.stored())
        #expect(use.isUserVerified)
    }

    @Test func `inputs beyond their limits are refused`() throws {
        func bytes(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }
        func registration(_ id: Int, _ client: Int, _ object: Int) -> PasskeyFault? {
            fault { () throws(PasskeyFault) in
                _ = try RegistrationResponse(
                    credentialID: bytes(id), clientDataJSON: bytes(client),
                    attestationObject: bytes(object))
            }
        }
        #expect(registration(1, 4_096, 16_384) == nil)
        #expect(registration(1_023, 0, 0) == nil)
        #expect(registration(0, 0, 0) == .credentialIDLength)
        #expect(registration(1_024, 0, 0) == .credentialIDLength)
        #expect(registration(1, 4_097, 0) == .tooLong)
        #expect(registration(1, 0, 16_385) == .tooLong)
        func assertion(_ client: Int, _ data: Int, _ signature: Int, _ user: Int) -> PasskeyFault? {
            fault { () throws(PasskeyFault) in
                _ = try AssertionResponse(
                    credentialID: [1], clientDataJSON: bytes(client),
                    authenticatorData: bytes(data), signature: bytes(signature),
                    userHandle: bytes(user))
            }
        }
        #expect(assertion(4_096, 4_096, 1_024, 64) == nil)
        #expect(assertion(4_097, 0, 0, 0) == .tooLong)
        #expect(assertion(0, 4_097, 0, 0) == .tooLong)
        #expect(assertion(0, 0, 1_025, 0) == .tooLong)
        #expect(assertion(0, 0, 0, 65) == .tooLong)
        let long = [UInt8](repeating: UInt8(ascii: " "), count: 65_537)
        #expect(throws: PasskeyFault.tooLong) { try RegistrationResponse(parsing: long) }
        #expect(throws: PasskeyFault.tooLong) { try AssertionResponse(parsing: long) }
        let text = String(repeating: "A", count: 30_000)
        for name in ["attestationObject", "clientDataJSON"] {
            let old = "\"\(name)\":\""
            #expect(try outcomes(replacing: old, by: old + text).registration == .tooLong)
        }
        for name in ["signature", "clientDataJSON", "authenticatorData", "userHandle"] {
            let old = "\"\(name)\":\""
            #expect(try outcomes(replacing: old, by: old + text).assertion == .tooLong)
        }
    }

    @Test func `damaged JSON is refused or has the same meaning`() throws {
        let fixture = try Fixture("edDSA")
        let passkey = try fixture.stored()
        let ceremony = try fixture.request()
        let bytes = Array(fixture.assertion.utf8)
        let use = try ceremony.verify(fixture.assertionResponse(), of: passkey)
        for damaged in truncations(of: bytes) {
            #expect(throws: PasskeyFault.malformedResponse) {
                try AssertionResponse(parsing: damaged)
            }
        }
        for damaged in bitFlips(of: bytes) {
            guard let response = try? AssertionResponse(parsing: damaged) else { continue }
            let other = try? ceremony.verify(response, of: passkey)
            #expect(other == nil || other == use)
        }
    }
}
