import Encodings
import JSON
import Passkeys
import Testing

/// The options that pages get, and the relying parties and challenges in them.
@Suite struct OptionsTests {
    private func ceremony(
        _ verification: PasskeyCeremony.UserVerification
    ) throws -> PasskeyCeremony {
        let party = try #require(
            RelyingParty(
                id: "example.com", name: "Example \"1\"", origins: ["https://example.com"]))
        return try #require(
            PasskeyCeremony(
                relyingParty: party, challenge: [UInt8](repeating: 0xFB, count: 16),
                userVerification: verification))
    }

    private let descriptors = [
        PasskeyDescriptor(credentialID: [0xFF, 0xFE], transports: ["usb", "nfc"]),
        PasskeyDescriptor(credentialID: [1]),
    ]

    @Test func `creation options`() throws {
        let user = try #require(
            PasskeyCreationOptions.User(handle: [1, 2], name: "ada@example.com", displayName: ""))
        var writer = JSONWriter()
        PasskeyCreationOptions(
            for: try ceremony(.required), user: user, excluding: descriptors,
            timeout: .seconds(300)
        ).write(to: &writer)
        #expect(
            String(decoding: writer.bytes, as: UTF8.self)
                == #"{"rp":{"id":"example.com","name":"Example \"1\""},"#
                + #""user":{"id":"AQI","name":"ada@example.com","displayName":""},"#
                + #""challenge":"-_v7-_v7-_v7-_v7-_v7-w","#
                + #""pubKeyCredParams":[{"type":"public-key","alg":-7},"#
                + #"{"type":"public-key","alg":-8},{"type":"public-key","alg":-257}],"#
                + #""timeout":300000,"excludeCredentials":["#
                + #"{"type":"public-key","id":"__4","transports":["usb","nfc"]},"#
                + #"{"type":"public-key","id":"AQ"}],"#
                + #""authenticatorSelection":{"residentKey":"required","#
                + #""requireResidentKey":true,"userVerification":"required"},"#
                + #""attestation":"none"}"#)
    }

    @Test func `request options`() throws {
        for (verification, allowed, list) in [
            (PasskeyCeremony.UserVerification.preferred, [], ""),
            (.discouraged, [descriptors[1]], #"{"type":"public-key","id":"AQ"}"#),
        ] {
            var writer = JSONWriter()
            PasskeyRequestOptions(
                for: try ceremony(verification), allowing: allowed, timeout: .milliseconds(1_500)
            ).write(to: &writer)
            #expect(
                String(decoding: writer.bytes, as: UTF8.self)
                    == #"{"challenge":"-_v7-_v7-_v7-_v7-_v7-w","timeout":1500,"#
                    + #""rpId":"example.com","allowCredentials":[\#(list)],"#
                    + #""userVerification":"\#(verification.rawValue)"}"#)
        }
    }

    @Test func `user handles have 1 to 64 bytes`() {
        for (count, isAccepted) in [(0, false), (1, true), (64, true), (65, false)] {
            let user = PasskeyCreationOptions.User(
                handle: [UInt8](repeating: 0, count: count), name: "a", displayName: "A")
            #expect((user != nil) == isAccepted)
        }
    }

    @Test func `challenges are random, of at least 128 bits`() throws {
        #expect(PasskeyCeremony.newChallenge().count == 32)
        #expect(PasskeyCeremony.newChallenge() != PasskeyCeremony.newChallenge())
        let party = try ceremony(.required).relyingParty
        for (count, isAccepted) in [(15, false), (16, true), (64, true), (65, false)] {
            let made = PasskeyCeremony(
                relyingParty: party, challenge: [UInt8](repeating: 0, count: count),
                userVerification: .required)
            #expect((made != nil) == isAccepted)
        }
    }

    @Test(arguments: [
        ("example.com", ["https://example.com"]),
        ("example.com", ["https://a.b.example.com:8443", "https://example.com"]),
        ("xn--bcher-kva.example", ["https://xn--bcher-kva.example"]),
        ("localhost", ["http://localhost", "http://localhost:8080", "https://localhost"]),
        ("localhost", ["http://app.localhost:65535"]),
        ("example.com", ["android:apk-key-hash:" + String(repeating: "A", count: 43)]),
    ])
    func `relying parties`(id: String, origins: [String]) {
        #expect(RelyingParty(id: id, name: "Example", origins: origins)?.origins == origins)
    }

    @Test(arguments: [
        ("", ["https://example.com"]), ("example.com", []),
        ("Example.com", ["https://Example.com"]), ("example.com.", ["https://example.com."]),
        ("example..com", ["https://example..com"]), ("-a.example", ["https://-a.example"]),
        ("bücher.example", ["https://bücher.example"]),
        ("example.com", ["http://example.com"]), ("example.com", ["https://example.org"]),
        ("example.com", ["https://badexample.com"]), ("example.com", ["https://com"]),
        ("example.com", ["https://example.com/"]), ("example.com", ["https://example.com:443"]),
        ("example.com", ["https://example.com:"]), ("example.com", ["https://example.com:080"]),
        ("example.com", ["https://example.com:+80"]), ("example.com", ["https://example.com:0"]),
        ("example.com", ["https://example.com:65536"]),
        ("example.com", ["https://user@example.com"]), ("example.com", ["HTTPS://example.com"]),
        ("example.com", ["https://example.com", "null"]), ("example.com", ["example.com"]),
        ("localhost", ["http://localhost:80"]), ("localhost", ["http://127.0.0.1"]),
        ("example.com", ["android:apk-key-hash:"]),
        // The end of 32 bytes in base64url is one of 16 characters, and has no padding.
        ("example.com", ["android:apk-key-hash:" + String(repeating: "B", count: 43)]),
        ("example.com", ["android:apk-key-hash:" + String(repeating: "A", count: 43) + "="]),
        ("example.com", ["android:apk-key-hash-sha256:" + String(repeating: "A", count: 43)]),
        ("example.com", ["Android:apk-key-hash:" + String(repeating: "A", count: 43)]),
    ])
    func `other ids and origins are refused`(id: String, origins: [String]) {
        #expect(RelyingParty(id: id, name: "Example", origins: origins) == nil)
    }
}
