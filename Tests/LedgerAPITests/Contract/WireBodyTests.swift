import FoundationEssentials
import JSON
import LedgerWire
import Testing

@testable import LedgerAPI

/// The server writes the bodies by hand and the SDK decodes them with `Codable`: both must agree.
@Suite(.overBothTransports) struct WireBodyTests {
    private static let strange = "a\"b\\c/\u{1}\n\u{7F}é\u{1F600}\u{2028}"

    private func expectTwins<Body: Codable & Hashable & JSONWritable>(_ body: Body) throws {
        var writer = JSONWriter()
        body.write(to: &writer)
        let decoder = JSONDecoder()
        #expect(try decoder.decode(Body.self, from: Data(writer.bytes)) == body)
        let encoded = try decoder.decode(Body.self, from: JSONEncoder().encode(body))
        #expect(encoded == body)
    }

    @Test func `Codable reads every answer`() throws {
        try expectTwins(
            SessionAnswer(
                accessToken: "a", refreshToken: "r", expiresIn: 600, userID: Self.strange,
                isNewUser: true, linkedProviders: ["apple", "google"]))
        try expectTwins(
            LinkedProvidersAnswer(linkedProviders: [], message: Self.strange))
        try expectTwins(RecoveryAnswer(linkedProviders: [Self.strange], deviceToken: "d"))
        try expectTwins(RecoveryAnswer(linkedProviders: [], deviceToken: nil))
        try expectTwins(
            AccountAnswer(
                userID: "u", linkedProviders: ["apple"],
                identities: [
                    .init(
                        identityID: "i", provider: "apple", email: nil, emailVerified: nil,
                        linkedAt: "t"),
                    .init(
                        identityID: "j", provider: "google", email: Self.strange,
                        emailVerified: false, linkedAt: "t"),
                    .init(
                        identityID: "k", provider: "google", email: "e", emailVerified: nil,
                        linkedAt: "t"),
                ]))
        try expectTwins(AccountAnswer(userID: "u", linkedProviders: [], identities: []))
        try expectTwins(
            AccountAnswer(
                userID: "u", linkedProviders: [], identities: [],
                factorRemovals: [FactorAnswer(factorID: "f", type: "totp", removalDue: "t")]))
        try expectTwins(StatusAnswer(status: "ok"))
        for code in ErrorCode.allCases {
            try expectTwins(ErrorBody(error: .init(code: code, message: Self.strange)))
        }
        try expectTwins(
            ErrorBody(
                error: .init(
                    code: .invalidRequest, message: "m",
                    details: [
                        "a": "b", "c": .text(Self.strange), "d": .number(300),
                        "t": .texts(["x", Self.strange]),
                        "e": .factors([FactorAnswer(factorID: "f", type: "totp")]),
                    ])))
    }

    @Test func `characters that require an escape are escaped everywhere`() throws {
        for count in 0...70 {
            let plain = String(repeating: "x", count: count)
            for strange in ["\"", "\\", "\u{1F}", "\0", "é\u{7F}"] {
                try expectTwins(
                    LinkedProvidersAnswer(linkedProviders: [], message: plain + strange + plain))
            }
        }
    }

    @Test func `requests match what the routes read`() async throws {
        let service = try TestService()
        let request = SignInRequest(
            idToken: service.idToken("apple", "ada"), nonce: nil, createAccount: true)
        let body = String(decoding: try JSONEncoder().encode(request), as: UTF8.self)
        let answer = try await service.send("POST", "/v1/auth/sign-in/apple", body)
        let session = try JSONDecoder().decode(
            SessionAnswer.self, from: Data(answer.body.utf8))
        let refresh = RefreshRequest(refreshToken: session.refreshToken)
        let refreshed = try await service.send(
            "POST", "/v1/auth/refresh",
            String(decoding: try JSONEncoder().encode(refresh), as: UTF8.self))
        #expect(refreshed.status == 200)
        let link = LinkRequest(idToken: service.idToken("google", "g"))
        let linked = try await service.send(
            "POST", "/v1/auth/link/google",
            String(decoding: try JSONEncoder().encode(link), as: UTF8.self),
            token: session.accessToken)
        #expect(linked.status == 200)
        let signOut = SignOutRequest(everywhere: true)
        let ended = try await service.send(
            "POST", "/v1/auth/sign-out",
            String(decoding: try JSONEncoder().encode(signOut), as: UTF8.self),
            token: session.accessToken)
        #expect(ended.status == 200)
    }
}
