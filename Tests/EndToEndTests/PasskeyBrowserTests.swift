import Foundation
import LedgerTestSupport
import SoftwareAuthenticators
import Testing

/// Passkeys of a real browser with a virtual authenticator, against a real server.
@Suite(.timeLimit(.minutes(10))) struct PasskeyBrowserTests {
    /// Answers the options of a route with the browser.
    private func answer(
        _ path: String, _ browser: Browser, _ client: WireClient, token: String? = nil,
        body: [String: any Sendable] = [:]
    ) async throws -> [String: any Sendable] {
        let begun = try await client.call("POST", path, body, token: token)
        #expect(begun.status == 200, "\(begun)")
        let options = [UInt8](
            try JSONSerialization.data(withJSONObject: try #require(begun.json["options"])))
        let credential =
            path.hasSuffix("create") || path.hasSuffix("factor-enrolments/passkey")
            ? try await browser.create(options) : try await browser.get(options)
        let parsed = try JSONSerialization.jsonObject(with: Data(credential))
        return [
            "challenge_id": try #require(begun.text("challenge_id")),
            "credential": try #require(parsed as? [String: any Sendable]),
        ]
    }

    /// Enrols a security key as a second factor, and signs in with it.
    private func finishByPasskey(
        _ browser: Browser, _ client: WireClient, _ deployment: Deployment
    ) async throws {
        try await browser.plugIn(transport: "usb", storesCredentials: false)
        var bob = Device(client)
        try await bob.signIn(deployment.google, as: "bob")
        let created = try await answer(
            "/v1/account/factor-enrolments/passkey", browser, client, token: bob.accessToken)
        let enrolled = try await client.call(
            "POST", "/v1/account/factors", created, token: bob.accessToken)
        #expect(enrolled.status == 200, "\(enrolled)")
        let refused = try await bob.signIn(deployment.google, as: "bob")
        let error = refused.json["error"] as? [String: any Sendable]
        let details = error?["details"] as? [String: any Sendable]
        let step: [String: any Sendable] = [
            "sign_in_token": try #require(details?["sign_in_token"] as? String, "\(refused)"),
            "factor_id": try #require(enrolled.text("factor_id")),
        ]
        let used = try await answer("/v1/auth/second-factor/passkey", browser, client, body: step)
        let finished = try await client.call(
            "POST", "/v1/auth/second-factor", step.merging(used) { $1 })
        #expect(finished.status == 200 && finished.text("user_id") == bob.userID, "\(finished)")
    }

    @Test func `a browser signs up, signs in, links a passkey and enrols one as a second factor`()
        async throws
    {
        let browser = try await Browser()
        try await Deployment.with(settings: ["LEDGER_MODE": "development"]) { deployment in
            let file = Deployment.providersFile(
                google: deployment.google, apple: deployment.apple)
            _ = try deployment.write(
                file.replacing(
                    #"{"providers":["#,
                    with: """
                        {"providers":[{"name":"passkey","type":"passkey","rp_id":"localhost",
                          "origins":["\(browser.origin)"]},
                        """), to: "providers.json")
            let server = try await deployment.serve()
            let client = server.client
            try await browser.plugIn(transport: "internal")
            let create = try await answer("/v1/auth/passkeys/passkey/create", browser, client)
            let ada = try await client.call("POST", "/v1/auth/sign-in/passkey", create)
            #expect(ada.status == 200, "\(ada)")
            let get = try await answer("/v1/auth/passkeys/passkey/get", browser, client)
            let again = try await client.call("POST", "/v1/auth/sign-in/passkey", get)
            #expect(again.status == 200 && again.text("user_id") == ada.text("user_id"))
            // The same response a second time.
            let repeated = try await client.call("POST", "/v1/auth/sign-in/passkey", get)
            #expect(repeated.status == 401)
            let token = again.text("access_token")
            // The authenticator has a passkey of the account already.
            await #expect(throws: Browser.Failure.self) {
                try await answer(
                    "/v1/account/passkeys/passkey/create", browser, client, token: token)
            }
            try await browser.plugIn(transport: "usb")
            let second = try await answer(
                "/v1/account/passkeys/passkey/create", browser, client, token: token)
            let linked = try await client.call(
                "POST", "/v1/auth/link/passkey", second, token: token)
            #expect(linked.status == 200, "\(linked)")
            let other = try await answer("/v1/auth/passkeys/passkey/get", browser, client)
            let third = try await client.call("POST", "/v1/auth/sign-in/passkey", other)
            #expect(third.text("user_id") == ada.text("user_id"), "\(third)")
            try await finishByPasskey(browser, client, deployment)
            #expect(try await server.stop() == 0)
            try await expectVerified(deployment)
        }
    }
}
