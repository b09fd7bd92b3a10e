import Foundation
import LedgerTestSupport
import Testing

/// Invalid ID tokens: each is refused with the same answer, and the valid one is accepted.
@Suite struct BadTokenTests {
    private struct Row: Sendable {
        let name: String
        let token: @Sendable (TestIdentityProvider) -> String
    }

    private static let now = Int(Date().timeIntervalSince1970)
    private static let audience = "\"\(TestIdentityProvider.audience)\""
    private static let severalAudiences = "[\"other\",\(audience)]"

    private static let rows: [Row] = [
        Row(name: "an expired token") {
            $0.token(subject: "s", changes: ["exp": "\(now - 120)", "iat": "\(now - 600)"])
        },
        Row(name: "no exp") { $0.token(subject: "s", changes: ["exp": nil]) },
        Row(name: "exp as a text") {
            $0.token(subject: "s", changes: ["exp": "\"\(now + 600)\""])
        },
        Row(name: "not before a later time") {
            $0.token(subject: "s", changes: ["nbf": "\(now + 600)"])
        },
        Row(name: "issued in the future") {
            $0.token(subject: "s", changes: ["iat": "\(now + 600)"])
        },
        Row(name: "another issuer") {
            $0.token(subject: "s", changes: ["iss": "\"https://evil.example\""])
        },
        Row(name: "the issuer and more") {
            $0.token(subject: "s", changes: ["iss": "\"\($0.issuer)/\""])
        },
        Row(name: "another audience") { $0.token(subject: "s", changes: ["aud": "\"other\""]) },
        Row(name: "no audience") { $0.token(subject: "s", changes: ["aud": nil]) },
        Row(name: "an empty list of audiences") {
            $0.token(subject: "s", changes: ["aud": "[]"])
        },
        Row(name: "several audiences without azp") {
            $0.token(subject: "s", changes: ["aud": severalAudiences])
        },
        Row(name: "several audiences and another azp") {
            $0.token(subject: "s", changes: ["aud": severalAudiences, "azp": "\"other\""])
        },
        Row(name: "an empty subject") { $0.token(subject: "") },
        Row(name: "a subject of 256 bytes") {
            $0.token(subject: String(repeating: "x", count: 256))
        },
        Row(name: "a subject with U+0000") { $0.token(subject: "a\u{0}b") },
        Row(name: "a subject that is a number") { $0.token(subject: "s", changes: ["sub": "7"]) },
        Row(name: "no subject") { $0.token(subject: "s", changes: ["sub": nil]) },
        Row(name: "alg none") { $0.token(subject: "s", header: ["alg": "none"]) },
        Row(name: "alg none without a signature") {
            unsigned($0.token(subject: "s", header: ["alg": "none"]))
        },
        Row(name: "alg HS256") { $0.token(subject: "s", header: ["alg": "HS256"]) },
        Row(name: "alg ES256 with an RSA key") { $0.token(subject: "s", header: ["alg": "ES256"]) },
        Row(name: "an unknown kid") { $0.token(subject: "s", header: ["kid": "nobody's"]) },
        Row(name: "a changed payload") { swapped($0) },
        Row(name: "a cut signature") { String($0.token(subject: "s").dropLast(4)) },
        Row(name: "padding") { $0.token(subject: "s") + "==" },
        Row(name: "four parts") { $0.token(subject: "s") + ".x" },
        Row(name: "two parts") {
            $0.token(subject: "s").split(separator: ".").prefix(2).joined(separator: ".")
        },
        Row(name: "no token at all") { _ in "hello" },
        Row(name: "a nonce that the client does not know") { $0.token(subject: "s", nonce: "n") },
    ]

    @Test func `every bad token has the same exact answer and leaves nothing`() async throws {
        try await Deployment.with { deployment in
            let server = try await deployment.serve()
            for row in Self.rows {
                let answer = try await server.client.call(
                    "POST", "/v1/auth/sign-in/google",
                    ["id_token": row.token(deployment.google)])
                #expect(answer.status == 401, "\(row.name)")
                #expect(answer.errorCode == "INVALID_PROVIDER_TOKEN", "\(row.name)")
                #expect(answer.header("WWW-Authenticate") != nil, "\(row.name)")
            }
            var good = Device(server.client)
            #expect(try await good.signIn(deployment.google, as: "s").status == 200)
            let log = try await deployment.tool.run(["replay", "--from", "0", "--to", "100"])
            #expect(!log.output.contains("LinkRejected"))
            #expect(log.output.count { $0 == "\n" } < 20, "nothing unauthenticated is in the log")
        }
    }

    @Test func `tokens of real providers are accepted`() async throws {
        try await Deployment.with { deployment in
            let server = try await deployment.serve()
            let google = deployment.google
            let tokens = [
                google.token(subject: "a", changes: ["iss": "\"google.example\""]),
                google.token(subject: "b", changes: ["aud": "[\(Self.audience)]"]),
                google.token(
                    subject: "c",
                    changes: ["aud": Self.severalAudiences, "azp": Self.audience]),
                google.token(
                    subject: "d", changes: ["iat": "\(Self.now + 20)", "nbf": "\(Self.now + 20)"]),
                google.token(subject: String(repeating: "x", count: 255)),
                google.token(
                    subject: "ünïcode|sub/with+signs", changes: ["email_verified": "\"true\""]),
                google.token(subject: "e", changes: ["extra": #"{"deep":{"er":1}}"#]),
            ]
            for token in tokens {
                let answer = try await server.client.call(
                    "POST", "/v1/auth/sign-in/google", ["id_token": token])
                #expect(answer.status == 200)
            }
        }
    }

    @Test func `nonces are compared in the provider's mode`() async throws {
        try await Deployment.with { deployment in
            let server = try await deployment.serve()
            // SHA-256 of "test".
            let hashed = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
            let rows: [(TestIdentityProvider, token: String?, sent: String?, status: Int)] = [
                (deployment.google, "n", "n", 200), (deployment.google, "n", "m", 401),
                (deployment.google, nil, "n", 401), (deployment.google, "n", nil, 401),
                (deployment.google, hashed, "test", 401), (deployment.google, nil, nil, 200),
                (deployment.apple, hashed, "test", 200), (deployment.apple, "test", "test", 401),
                (deployment.apple, hashed, hashed, 401), (deployment.apple, hashed, nil, 401),
                (deployment.apple, nil, "test", 401), (deployment.apple, nil, nil, 200),
            ]
            for row in rows {
                var body: [String: any Sendable] = [
                    "id_token": row.0.token(subject: "n", nonce: row.token)
                ]
                body["nonce"] = row.sent
                let answer = try await server.client.call(
                    "POST", "/v1/auth/sign-in/\(row.0.name)", body)
                #expect(
                    answer.status == row.status,
                    "\(row.0.name): token \(row.token ?? "-"), sent \(row.sent ?? "-")")
            }
        }
    }

    @Test func `a rotated key is found at once and a provider that is down does no harm`()
        async throws
    {
        try await Deployment.with { deployment in
            let server = try await deployment.serve()
            var phone = Device(server.client)
            #expect(try await phone.signIn(deployment.google, as: "a").status == 200)
            deployment.google.rotate()
            #expect(try await phone.signIn(deployment.google, as: "b").status == 200)
            let fetches = deployment.google.fetchCount
            for number in 0..<20 {
                let token = deployment.google.token(
                    subject: "s", header: ["kid": "made-up-\(number)"])
                let answer = try await server.client.call(
                    "POST", "/v1/auth/sign-in/google", ["id_token": token])
                #expect(answer.status == 401)
            }
            #expect(deployment.google.fetchCount <= fetches + 5, "made-up key names cost a burst")

            deployment.google.setDown(true)
            #expect(try await phone.signIn(deployment.google, as: "c").status == 200)
            // The keys of the other provider are not cached, and it is unavailable.
            deployment.apple.setDown(true)
            let unknown = try await phone.signIn(deployment.apple, as: "a")
            #expect(unknown.status == 503 && unknown.errorCode == "UNAVAILABLE")
            #expect(unknown.header("Retry-After") != nil)
        }
    }

    private static func unsigned(_ token: String) -> String {
        token.split(separator: ".").prefix(2).joined(separator: ".") + "."
    }

    private static func swapped(_ provider: TestIdentityProvider) -> String {
        let one = provider.token(subject: "mine").split(separator: ".")
        let other = provider.token(subject: "theirs").split(separator: ".")
        return [one[0], other[1], one[2]].joined(separator: ".")
    }
}
