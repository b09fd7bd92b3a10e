import Foundation
import Testing

@testable import LedgerClient

/// Times, digests, and texts without secrets.
struct ValueTests {
    @Test(
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
            (
                String(repeating: "a", count: 1_000),
                "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3"
            ),
        ])
    func `the digests are those of FIPS 180-4`(_ message: String, _ digest: String) {
        let hexadecimal = SHA256.hash(Array(message.utf8)).map {
            String($0 >> 4, radix: 16) + String($0 & 15, radix: 16)
        }
        #expect(hexadecimal.joined() == digest)
    }

    @Test func `the challenge of a flow is that of RFC 7636`() {
        let secret = FlowSecret(verifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
        #expect(secret.challenge == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
        let made = FlowSecret()
        #expect(made.verifier.count == 43 && made.verifier != FlowSecret().verifier)
    }

    @Test func `times are read with their fractions, and nothing else is`() throws {
        let date = try #require(ServerTime.date("2026-11-20T23:17:50.859712Z"))
        #expect(abs(date.timeIntervalSince1970 - 1_795_216_670.859712) < 0.000_01)
        #expect(ServerTime.date("1970-01-01T00:00:01Z")?.timeIntervalSince1970 == 1)
        for text in ["", "Z", "2026-11-20", "2026-11-20T23:17:50.Z", "2026-11-20T23:17:50.x1Z"] {
            #expect(ServerTime.date(text) == nil, "\(text)")
        }
        let http = ServerTime.httpDate("Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(http?.timeIntervalSince1970 == 784_111_777)
        for text in ["", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 CET"] {
            #expect(ServerTime.httpDate(text) == nil, "\(text)")
        }
    }

    private func passkeyOptions(_ challenge: String = "-_8") throws -> PasskeyRequestOptions {
        try JSONDecoder().decode(
            PasskeyRequestOptions.self,
            from: Data(
                """
                {"challenge":"\(challenge)","timeout":1,"rpId":"example.com",
                 "allowCredentials":[{"type":"public-key","id":"AQ"}],"userVerification":"preferred"}
                """.utf8))
    }

    @Test func `the options of passkeys are read, and no malformed ones`() throws {
        let options = try passkeyOptions()
        #expect(options.challenge == Data([0xFB, 0xFF]))
        #expect(options.allowedCredentials == [Data([1])])
        #expect(options.relyingPartyID == "example.com" && options.userVerification == .preferred)
        #expect(Base64URL.encode(options.challenge) == "-_8")
        for challenge in ["*", "A"] {
            #expect(throws: DecodingError.self) { try passkeyOptions(challenge) }
        }
    }

    @Test func `no text of a secret has its content`() throws {
        let sent = SentCode(challengeID: "c", expiresIn: 1)
        let passkey = PasskeyChallenge(
            challengeID: "SECRET", expiresIn: 1, options: try passkeyOptions()
        ).answered(
            by: PasskeyAssertion(
                credentialID: Data(), clientDataJSON: Data(), authenticatorData: Data(),
                signature: Data()))
        let proofs: [Proof] = [
            .idToken("SECRET", nonce: "SECRET"), .accessToken("SECRET"),
            .password(email: "SECRET", password: "SECRET"), .code(sent, "SECRET"),
            .passwordWithCode(email: "SECRET", password: "SECRET", sent, code: "SECRET"),
            .newPassword(sent, code: "SECRET", password: "SECRET"),
            .anonymous(secret: "SECRET"), .anonymous(attestation: "SECRET"),
            .flow(code: "SECRET", verifier: "SECRET"), .passkey(passkey),
        ]
        let secret = AuthenticatorAppSecret(
            secret: "SECRET", uri: "SECRET", expiresIn: 1, token: "SECRET")
        let factors: [Any] = [
            secret, passkey, FactorEnrolment(factorID: "f", recoveryCodes: ["SECRET"]),
            FactorConfirmation.authenticatorApp(secret, code: "SECRET"),
            FactorConfirmation.phone(sent, code: "SECRET"), FactorConfirmation.passkey(passkey),
        ]
        var state = StoredState()
        state.deviceToken = "SECRET"
        state.session = StoredState.Session(
            profile: Profile(userID: "u", linkedProviders: []), accessToken: "SECRET",
            refreshToken: "SECRET", expiresAt: .distantPast, lifetime: 1,
            anonymousSecret: "SECRET")
        var error = LedgerError(.secondFactorRequired, message: "m")
        error.challenge = SecondFactorChallenge(factors: [], expiresIn: 1, token: "SECRET")
        var text = ""
        for proof in proofs {
            text += "\(proof) \(String(reflecting: proof))"
            dump(proof, to: &text)
        }
        for factor in factors {
            text += "\(factor) \(String(reflecting: factor))"
            dump(factor, to: &text)
        }
        text += "\(state) \(String(reflecting: state)) \(error) \(String(reflecting: error))"
        dump(state, to: &text)
        dump(error, to: &text)
        let url = try #require(URL(string: "https://ledger.example/v1/account?x=SECRET"))
        let request = TransportRequest(
            method: "GET", url: url, headers: ["Authorization": "SECRET"],
            body: Data("SECRET".utf8), timeout: .zero)
        let response = TransportResponse(
            status: 200, headers: ["Set-Cookie": "SECRET"], body: Data("SECRET".utf8))
        text += "\(request) \(String(reflecting: request)) \(response)"
        text += String(reflecting: response)
        dump(request, to: &text)
        dump(response, to: &text)
        for mirror in [Mirror(reflecting: request), Mirror(reflecting: response)] {
            #expect(mirror.children.isEmpty)
        }
        #expect(text.contains("GET /v1/account") && text.contains("status 200 with 6 bytes"))
        #expect(!text.contains("SECRET"), "\(text)")
    }

    @Test(
        arguments: [
            ("http://127.0.0.1/cb?flow_code=x", nil),
            ("http://127.0.0.1/cb?error=access_denied", .cancelledByPerson),
            ("http://127.0.0.1/cb?error=invalid_request", .browserFailed),
            ("http://127.0.0.1/cb", .browserFailed),
            ("http://127.0.0.1/other?flow_code=x", .browserFailed),
            ("http://127.0.0.1:1/cb?flow_code=x", .browserFailed),
            ("https://127.0.0.1/cb?flow_code=x", .browserFailed),
            ("http://evil.example/cb?flow_code=x", .browserFailed),
        ] as [(String, LedgerError.Code?)])
    func `a flow's code is read from its own address alone`(
        _ text: String, _ code: LedgerError.Code?
    ) throws {
        let expected = try #require(URL(string: "http://127.0.0.1/cb"))
        let url = try #require(URL(string: text))
        do throws(LedgerError) {
            #expect(try FlowReturn.code(of: url, to: expected) == "x" && code == nil)
        } catch {
            #expect(error.code == code)
        }
    }

    @Test(
        arguments: [
            ("server_error", ": server_error"), ("Server", ""), ("call%20me", ""), ("", ""),
            ("a1", ""), (String(repeating: "a", count: 65), ""),
            (String(repeating: "a", count: 64), ": " + String(repeating: "a", count: 64)),
        ])
    func `an error of a flow is shown only if it is a code`(_ text: String, _ shown: String) throws
    {
        let expected = try #require(URL(string: "http://127.0.0.1/cb"))
        let url = try #require(URL(string: "http://127.0.0.1/cb?error=\(text)"))
        let error = #expect(throws: LedgerError.self) {
            try FlowReturn.code(of: url, to: expected)
        }
        #expect(error?.message == "The sign-in failed\(shown)")
    }
}
