import Foundation
import JSON
import LedgerTestSupport
import SoftwareAuthenticators
import Testing

/// Sign-ins and enrolments that a restore interrupts.
extension RestoreTests {
    private static let providers = """
        {"name":"passkey","type":"passkey","rp_id":"example.com",
         "origins":["\(SoftwareAuthenticator.origin)"]},
        {"name":"github","type":"oauth2","preset":"github","client_id":"c","client_secret":"s",
         "flow":{}}
        """

    @Test func `what was begun before an accepted restore is refused by every server after it`()
        async throws
    {
        try await Deployment.with(settings: ["LEDGER_MODE": "development"]) { deployment in
            try deployment.configure(
                providers: Self.providers, members: #""return_to":["http://127.0.0.1/callback"],"#)
            let tool = tool(of: deployment)
            var server = try await deployment.serve()
            var ada = Device(server.client)
            try await ada.signIn(deployment.google, as: "ada")
            try await server.stop()
            #expect(try await tool.run(["seal", "--once"]).status == 0)

            try await run(Self.backUp, on: deployment)
            server = try await deployment.serve()
            let interrupted = try await Begun(by: ada, at: server.client)
            var bob = Device(server.client)
            try await bob.signIn(deployment.google, as: "bob")
            try await server.stop()
            #expect(try await tool.run(["seal", "--once"]).status == 0)
            try await run(Self.restore, on: deployment)
            let accepted = try await tool.run(["restore-check", "--accept"])
            #expect(accepted.status == 0, "\(accepted.output)\(accepted.errors)")

            let servers = [try await deployment.serve(), try await deployment.serve()]
            for server in servers {
                #expect(
                    try await interrupted.end(by: ada, at: server.client)
                        == ["400 ", "401 INVALID_PROVIDER_TOKEN", "401 INVALID_CODE"])
            }
            let begun = try await Begun(by: ada, at: servers[0].client)
            #expect(
                try await begun.end(by: ada, at: servers[1].client) == ["303 ", "200 ", "200 "])
            for server in servers { #expect(try await server.stop() == 0) }
            #expect(try await tool.run(["verify"]).status == 0)
        }
    }

    @Test func `an accepted restore ends the sessions of the console`() async throws {
        try await withSealedLog { deployment, tool in
            try await run(
                """
                INSERT INTO console_sessions (token_digest, staff_id, content, used_at, expires_at)
                VALUES (decode(repeat('ab', 32), 'hex'), gen_random_uuid(), 'sealed', now(),
                    now() + interval '12 hours')
                """, on: deployment)
            let staff = "SELECT staff_id::text FROM console_sessions"
            #expect(try await tool.run(["restore-check", "--accept"]).status == 0)
            #expect(try await texts(staff, on: deployment).count == 1, "nothing was restored")
            let accepted = try await tool.run(["restore-check", "--accept", "--restored"])
            #expect(accepted.status == 0, "\(accepted.output)\(accepted.errors)")
            #expect(try await texts(staff, on: deployment) == [])
        }
    }
}

/// A browser flow, a sign-in with a new passkey and the enrolment of an authenticator app, each in the middle.
private struct Begun {
    private let flow: String
    private let challenge: WireClient.Answer
    private let enrolment: WireClient.Answer

    init(by device: Device, at client: WireClient) async throws {
        let begun = try await client.call(
            "POST", "/v1/auth/flows",
            [
                "provider": "github", "purpose": "sign_in",
                "return_to": "http://127.0.0.1:3000/callback",
                "code_challenge": FlowTests.challenge,
            ])
        flow = try #require(begun.text("authorize_url"), "\(begun)")
        challenge = try await client.call("POST", "/v1/auth/passkeys/passkey/create", [:])
        enrolment = try await client.call(
            "POST", "/v1/account/factor-enrolments", ["type": "totp"], token: device.accessToken)
    }

    /// Sends the next request of each.
    ///
    /// - Returns: The statuses with the codes of errors.
    func end(by device: Device, at client: WireClient) async throws -> [String] {
        var browser = FlowBrowser(client: client)
        let opened = try await browser.send("GET", flow)
        let options = try #require(
            JSONValue(parsing: [UInt8](challenge.body))?.members?["options"]?.members,
            "\(challenge)")
        let signed = try SoftwareAuthenticator().creation(options)
        let credential = try JSONSerialization.jsonObject(with: Data(signed.utf8))
        let signedIn = try await client.call(
            "POST", "/v1/auth/sign-in/passkey",
            [
                "challenge_id": try #require(challenge.text("challenge_id")),
                "credential": try #require(credential as? [String: any Sendable]),
            ])
        let app = try #require(AuthenticatorApp(base32: enrolment.text("secret") ?? ""))
        let enrolled = try await client.call(
            "POST", "/v1/account/factors",
            [
                "enrolment_token": try #require(enrolment.text("enrolment_token")),
                "code": app.code(at: Int64(Date().timeIntervalSince1970)),
            ], token: device.accessToken)
        return [opened, signedIn, enrolled].map { "\($0.status) \($0.errorCode ?? "")" }
    }
}
