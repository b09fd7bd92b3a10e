import Foundation
import LedgerTestSupport
import SoftwareAuthenticators
import Testing

/// The pages and cookies of browser flows, in a real browser and for apps with a scheme of their own.
@Suite(.timeLimit(.minutes(10))) struct FlowPageTests {
    private func begin(
        _ provider: String, returnTo: String, _ client: WireClient
    ) async throws -> String {
        let begun = try await client.call(
            "POST", "/v1/auth/flows",
            [
                "provider": provider, "purpose": "sign_in", "return_to": returnTo,
                "code_challenge": FlowTests.challenge,
            ])
        return try #require(begun.text("authorize_url"), "\(begun)")
    }

    @Test func `a real browser signs in at Google and at Apple`() async throws {
        let browser = try await Browser()
        try await Deployment.with(settings: ["LEDGER_MODE": "development", "LEDGER_PROVIDERS": ""])
        { deployment in
            let client = try await deployment.serve().client
            let returnTo = browser.origin + "/callback"
            let enter = """
                document.querySelector("[name=name]").value = "ada";
                document.querySelector("button").click()
                """
            for (provider, scripts) in [
                ("google", [enter]),
                ("apple", [enter, #"document.querySelector("button").click()"#]),
            ] {
                let address = try await browser.visit(
                    begin(provider, returnTo: returnTo, client), scripts: scripts)
                let start = returnTo + "?flow_code="
                try #require(address.hasPrefix(start), "\(address)")
                let answer = try await client.call(
                    "POST", "/v1/auth/sign-in/\(provider)",
                    [
                        "flow_code": String(address.dropFirst(start.count)),
                        "code_verifier": FlowTests.verifier,
                    ])
                #expect(answer.status == 200, "\(answer)")
            }
        }
    }

    /// A browser sends no cookie with the form of another site, as Apple's is: the redirection gets it.
    @Test func `the form of another site finds its flow in a real browser`() async throws {
        let browser = try await Browser()
        try await Deployment.with(settings: ["LEDGER_MODE": "development"]) { deployment in
            _ = try deployment.write(
                """
                {"return_to":["http://localhost/callback"],"providers":[
                  {"name":"apple","type":"oidc","issuer":"https://apple.example",
                   "jwks_uri":"https://apple.example/keys","audiences":["c"],"flow":
                     {"client_id":"c","client_secret":"s","form_post":true,
                      "authorization_url":"\(browser.origin)/authorize",
                      "token_url":"https://apple.example/token"}}]}
                """, to: "providers.json")
            let client = try await deployment.serve().client
            let returnTo = browser.origin + "/callback"
            let cancel = """
                const query = new URLSearchParams(location.search);
                const form = document.createElement("form");
                form.method = "post";
                form.action = query.get("redirect_uri");
                const fields = { state: query.get("state"), error: "user_cancelled_authorize" };
                for (const [name, value] of Object.entries(fields)) {
                  form.append(Object.assign(document.createElement("input"), { name, value }));
                }
                document.body.append(form);
                form.submit()
                """
            let address = try await browser.visit(
                begin("apple", returnTo: returnTo, client), scripts: [cancel])
            #expect(address == returnTo + "?error=access_denied")
        }
    }

    @Test func `a person is asked before a flow that returns to an app's scheme`() async throws {
        try await Deployment.with(settings: ["LEDGER_MODE": "development"]) { deployment in
            _ = try deployment.write(
                """
                {"return_to":["com.example.app:/cb"],"app_name":"<Example> & Co","providers":[
                  {"name":"x","type":"oauth2","preset":"x","client_id":"c","client_secret":"s",
                   "flow":{"authorization_url":"https://x.example/authorize"}}]}
                """, to: "providers.json")
            let client = try await deployment.serve().client
            let address = try await begin("x", returnTo: "com.example.app:/cb", client)
            var browser = FlowBrowser(client: client)
            let page = try await browser.open(address)
            let text = String(decoding: page.body, as: UTF8.self)
            #expect(page.status == 200 && text.contains("&lt;Example&gt; &amp; Co"), "\(text)")
            #expect(
                page.header("Content-Security-Policy")?.contains("frame-ancestors 'none'") == true)
            let cookie = try #require(page.header("Set-Cookie"))
            for attribute in ["__Host-", "Secure", "HttpOnly", "SameSite=Lax", "Path=/"] {
                #expect(cookie.contains(attribute), "\(attribute)")
            }
            let start = "\(client.base)/v1/auth/flows/start"
            // Another site's form comes without the cookie, and knows no state.
            var stranger = FlowBrowser(client: client)
            #expect(try await stranger.submit(page, to: start).status == 400)
            #expect(try await browser.send("POST", start, ["state": "guess"]).status == 400)
            #expect(try await browser.send("POST", start).status == 400)
            let agreed = try await browser.submit(page, to: start)
            #expect(agreed.status == 303)
            #expect(agreed.header("Location")?.hasPrefix("https://x.example/authorize?") == true)
        }
    }

    @Test func `a production server with flows needs its public address`() async throws {
        try await Deployment.with { deployment in
            _ = try deployment.write(
                """
                {"providers":[{"name":"x","type":"oauth2","preset":"x","client_id":"c",
                  "client_secret":"s","flow":{}}]}
                """, to: "providers.json")
            let refused = try await deployment.tool.run(["serve"])
            #expect(refused.status != 0)
            #expect(
                refused.errors.contains(
                    "tenant default has browser flows, but LEDGER_PUBLIC_URL is not set"),
                "\(refused.errors)")
        }
    }
}
