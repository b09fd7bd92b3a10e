import Foundation
import LedgerTestSupport
import SoftwareAuthenticators
import Testing

/// Passkeys of a real browser with a virtual authenticator, against a real server.
@Suite(.timeLimit(.minutes(10))) struct PasskeyBrowserTests {
    /// Answers the options of a route with the browser.
    private func answer(
        _ path: String, _ browser: Browser, _ client: WireClient, token: String? = nil
    ) async throws -> [String: any Sendable] {
        let begun = try await client.call("POST", path, [:], token: token)
        #expect(begun.status == 200, "\(begun)")
        let options = [UInt8](
            try JSONSerialization.data(withJSONObject: try #require(begun.json["options"])))
        let credential =
            path.hasSuffix("create")
            ? try await browser.create(options) : try await browser.get(options)
        let parsed = try JSONSerialization.jsonObject(with: Data(credential))
        return [
            "challenge_id": try #require(begun.text("challenge_id")),
            "credential": try #require(parsed as? [String: any Sendable]),
        ]
    }

    @Test func `a browser signs up, signs in and links another passkey`() async throws {
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
            #expect(try await server.stop() == 0)
            try await expectVerified(deployment)
        }
    }
}
