import Foundation
import HTTP
import JSON
import LedgerTestSupport
import SoftwareAuthenticators
import Testing

/// The last two ways to sign in to an account, which are removed at once, over HTTP against two processes on one
/// database.
@Suite(.timeLimit(.minutes(5))) struct LastWayRaceTests {
    /// A provider of each type that an account can have beside every other one.
    private enum Way: String, CaseIterable {
        case password
        case email
        case phone
        case passkey
        /// One of type `oauth2`.
        case company
        /// One of type `oidc`.
        case google
    }

    /// Every pair: an account is opened with the first and linked to the second.
    private static let pairs: [(Way, Way)] = Way.allCases.flatMap { first in
        Way.allCases.drop { $0 != first }.dropFirst().map { (first, $0) }
    }

    /// A person, who proves each way to sign in to the first server.
    private struct Person {
        let stage: TwoServers
        /// The person's own, and of a client network of its own.
        let number: Int

        private var name: String { "bob-\(number)" }
        private var email: String { "\(name)@example.com" }
        private var phone: String { "+491512345\(6_700 + number)" }

        /// Signs in, or links with an access token.
        func use(_ way: Way, token: String? = nil) async throws -> WireClient.Answer {
            let action = token == nil ? "sign-in" : "link"
            return try await stage.post(
                "/v1/auth/\(action)/\(way)", try await proof(of: way, token), token: token,
                to: stage.first, network: number)
        }

        /// Returns the members of a body that prove a way.
        private func proof(
            of way: Way, _ token: String?
        ) async throws -> [String: any Sendable] {
            switch way {
            case .password:
                try await stage.code(
                    "/v1/auth/sign-up/password",
                    ["email": email, "password": TwoServers.password], to: email,
                    by: stage.first, network: number)
            case .email: try await code(way, to: email, token)
            case .phone: try await code(way, to: phone, token)
            case .passkey: try await passkey(token)
            case .company: ["access_token": name]
            case .google: ["id_token": stage.deployment.google.token(subject: name)]
            }
        }

        private func code(
            _ way: Way, to address: String, _ token: String?
        ) async throws -> [String: any Sendable] {
            try await stage.code(
                "/v1/\(owner(token))/codes/\(way)", ["address": address], token: token,
                to: address, by: stage.first, network: number)
        }

        private func passkey(_ token: String?) async throws -> [String: any Sendable] {
            let begun = try await stage.post(
                "/v1/\(owner(token))/passkeys/passkey/create", [:], token: token,
                to: stage.first, network: number)
            let made = try #require(
                JSONValue(parsing: [UInt8](begun.body))?.members?["options"]?.members, "\(begun)")
            var authenticator = SoftwareAuthenticator()
            authenticator.credentialID = Array("passkey of \(name)".utf8)
            let credential = try JSONSerialization.jsonObject(
                with: Data(try authenticator.creation(made).utf8))
            return [
                "challenge_id": try #require(begun.text("challenge_id")),
                "credential": try #require(credential as? [String: any Sendable]),
            ]
        }

        private func owner(_ token: String?) -> String { token == nil ? "auth" : "account" }
    }

    /// A provider of type `oauth2`, each of whose access tokens is the name of a person.
    private func company() throws -> HTTPServer {
        try HTTPServer(
            host: "127.0.0.1", port: 0, limits: HTTPServerLimits(),
            reject: { _, _ in HTTPResponse(status: 400) },
            handler: { request in
                let form = String(decoding: request.body, as: UTF8.self)
                let person = form.prefix { $0 != "&" }.dropFirst("token=".count)
                let now = Int64(Date().timeIntervalSince1970)
                let answer = #"{"active":true,"client_id":"c","sub":"\#(person)","iat":\#(now)}"#
                return HTTPResponse(status: 200, body: Array(answer.utf8))
            })
    }

    @Test func `the last two ways to sign in, of every pair of types, never end together`()
        async throws
    {
        let company = try company()
        let further = """
            {"name":"phone","type":"phone"},
            {"name":"passkey","type":"passkey","rp_id":"example.com",
             "origins":["\(SoftwareAuthenticator.origin)"]},
            {"name":"company","type":"oauth2","client_id":"c","client_secret":"s",
             "issuer":"https://company.example",
             "introspection_url":"http://127.0.0.1:\(company.port)/introspect"}
            """
        try await TwoServers.with(
            providers: "\(Deployment.addressProviders),\(further)",
            members: #""messages":{"product":"Example","sms_countries":["DE"]},"#
        ) { stage in
            #expect(Self.pairs.count == 15)
            for (number, pair) in Self.pairs.enumerated() {
                let bob = Person(stage: stage, number: number)
                let opened = try await bob.use(pair.0)
                let token = try #require(opened.text("access_token"), "\(pair): \(opened)")
                let linked = try await bob.use(pair.1, token: token)
                #expect(linked.status == 200, "\(pair): \(linked)")
                #expect(
                    linked.texts("linked_providers") == ["\(pair.0)", "\(pair.1)"], "\(linked)")
                let (first, second) = (stage.first, stage.second)
                async let one = first.call("DELETE", "/v1/auth/link/\(pair.0)", token: token)
                async let two = second.call("DELETE", "/v1/auth/link/\(pair.1)", token: token)
                let statuses = try await [one, two].map(\.status).sorted()
                // The loser learns that it is the last one, or that its session went with the other.
                #expect(statuses == [200, 400] || statuses == [200, 401], "\(pair): \(statuses)")
            }
        }
        await company.stop(grace: .zero)
    }
}
