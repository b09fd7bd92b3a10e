import Foundation
import LedgerTestSupport
import Testing

/// The providers that the development mode imitates.
@Suite struct DevelopmentProviderTests {
    @Test func `a server creates the missing keys of its providers and keeps the others`()
        async throws
    {
        try await Deployment.with(settings: ["LEDGER_MODE": "development"]) { deployment in
            let directory = try #require(deployment.tool.environment["LEDGER_KEYS"])
            let (google, apple) = (
                "\(directory)/dev-idp-google.jwk", "\(directory)/dev-idp-apple.jwk"
            )
            let kept = try #require(FileManager.default.contents(atPath: google))
            try FileManager.default.removeItem(atPath: apple)
            _ = try await deployment.serve()
            #expect(FileManager.default.contents(atPath: google) == kept)
            #expect(FileManager.default.contents(atPath: apple)?.isEmpty == false)
            let names = try FileManager.default.contentsOfDirectory(atPath: directory)
            #expect(
                names.filter { $0.hasPrefix("dev-idp-") }.sorted()
                    == ["dev-idp-apple.jwk", "dev-idp-google.jwk", "dev-idp-staff.jwk"])
        }
    }

    @Test func `the development identity provider plays both providers`() async throws {
        try await Deployment.with(settings: ["LEDGER_MODE": "development", "LEDGER_PROVIDERS": ""])
        {
            deployment in
            let server = try await deployment.serve()
            for name in ["google", "apple"] {
                let base = "/dev/idp/\(name)"
                let discovery = try await server.client.call(
                    "GET", base + "/.well-known/openid-configuration")
                #expect(discovery.text("issuer")?.hasSuffix(base) == true)
                let keys = try await server.client.call("GET", base + "/jwks")
                #expect((keys.json["keys"] as? [any Sendable])?.isEmpty == false)
                let page = try await server.client.call("GET", base + "/")
                #expect(String(decoding: page.body, as: UTF8.self).contains("<form"))
                let minted = try await server.client.call(
                    "POST", base + "/token?name=ada&nonce=n-1")
                let token = try #require(minted.text("id_token"))
                let answer = try await server.client.call(
                    "POST", "/v1/auth/sign-in/\(name)", ["id_token": token, "nonce": "n-1"])
                #expect(answer.status == 200, "\(String(decoding: answer.body, as: UTF8.self))")
            }
        }
    }

    @Test func `an ID token states the methods of its form, and when they were used`()
        async throws
    {
        try await Deployment.with(settings: ["LEDGER_MODE": "development", "LEDGER_PROVIDERS": ""])
        {
            deployment in
            let client = try await deployment.serve().client
            for (path, hasField) in [("google/", true), ("apple/", true), ("facebook/", false)] {
                let page = try await client.call("GET", "/dev/idp/\(path)")
                let text = String(decoding: page.body, as: UTF8.self)
                #expect(text.contains("<input name=\"amr\">") == hasField, "\(path)")
            }
            for (fields, methods) in [
                ("", ["fed"]), ("&amr=", ["fed"]), ("&amr=pwd", ["fed"]),
                ("&amr=pwd%20mfa", ["fed", "fed_mfa", "mfa"]),
                ("&amr=mfa&auth_time=7", ["fed", "fed_mfa", "mfa"]),
            ] {
                let minted = try await client.call(
                    "POST", "/dev/idp/google/token?name=ada\(fields)")
                let token = try #require(minted.text("id_token"))
                let session = try await client.call(
                    "POST", "/v1/auth/sign-in/google", ["id_token": token])
                let claims = session.accessTokenClaims
                let stated = (claims["amr"] as? [any Sendable])?.compactMap { $0 as? String }
                #expect(stated == methods, "\(fields) \(session)")
                let isOld = fields.hasSuffix("auth_time=7")
                #expect((claims["auth_time"] as? Int == 7) == isOld, "\(fields) \(claims)")
            }
            let long = String(repeating: "x", count: 101)
            let refused = try await client.call("GET", "/dev/idp/google/token?name=a&amr=\(long)")
            #expect(refused.status == 400 && refused.errorMessage?.contains("amr") == true)
        }
    }

    @Test func `a network whose access tokens providers refuse calls no provider for an hour`()
        async throws
    {
        let settings = [
            "LEDGER_MODE": "development", "LEDGER_PROVIDERS": "",
            "LEDGER_TRUSTED_PROXIES": "127.0.0.1",
        ]
        try await Deployment.with(settings: settings) { deployment in
            let client = try await deployment.serve().client
            func signIn(_ token: String, from network: String) async throws -> WireClient.Answer {
                try await client.call(
                    "POST", "/v1/auth/sign-in/github", ["access_token": token],
                    headers: ["X-Forwarded-For": network])
            }
            let minted = try await client.call("GET", "/dev/idp/github/token?name=ada")
            let token = try #require(minted.text("access_token"))
            // Accepted ones use up nothing, and nor do those that no provider is asked about.
            for _ in 0..<2 {
                #expect(try await signIn(token, from: "203.0.113.7").status == 200)
                #expect(try await signIn("a b", from: "203.0.113.7").status == 401)
            }
            for number in 0..<100 {
                let refused = try await signIn("made-up-\(number)", from: "203.0.113.7")
                #expect(refused.errorCode == "INVALID_PROVIDER_TOKEN")
            }
            let limited = try await signIn(token, from: "203.0.113.7")
            #expect(limited.status == 429 && limited.header("Retry-After") != nil)
            #expect(try await signIn(token, from: "203.0.113.8").status == 200)
        }
    }

    @Test func `an account is reached by access tokens of Facebook and GitHub`() async throws {
        try await Deployment.with(settings: ["LEDGER_MODE": "development", "LEDGER_PROVIDERS": ""])
        {
            deployment in
            let client = try await deployment.serve().client
            func token(_ provider: String, _ name: String, _ rest: String = "") async throws
                -> String
            {
                let minted = try await client.call(
                    "GET", "/dev/idp/\(provider)/token?name=\(name)\(rest)")
                return try #require(minted.text("access_token"))
            }
            func post(
                _ path: String, _ token: String, by session: String? = nil,
                _ rest: [String: any Sendable] = [:]
            ) async throws -> WireClient.Answer {
                try await client.call(
                    "POST", path, rest.merging(["access_token": token]) { $1 }, token: session)
            }
            let signIn = "/v1/auth/sign-in/facebook"
            let ada = try await post(signIn, token("facebook", "ada"))
            #expect(ada.status == 200 && ada.json["is_new_user"] as? Bool == true)
            let again = try await post(signIn, token("facebook", "ada"))
            #expect(again.text("user_id") == ada.text("user_id"))

            // Tokens of another app, of another provider and made-up ones open no account.
            let foreign = try await token("facebook", "ada", "&audience=other-app")
            for bad in [foreign, try await token("github", "ada"), "EAAB"] {
                let refused = try await post(signIn, bad)
                #expect(refused.status == 401 && refused.errorCode == "INVALID_PROVIDER_TOKEN")
            }
            let misplaced = try await client.call(
                "POST", signIn, ["id_token": token("facebook", "ada")])
            #expect(misplaced.status == 400 && misplaced.errorCode == "INVALID_REQUEST")
            let long = try await post(signIn, String(repeating: "x", count: 4_097))
            #expect(long.status == 400 && long.errorMessage?.contains("4096") == true)
            // The members of another type's credential are ignored.
            let idToken = try await client.call("GET", "/dev/idp/google/token?name=ada")
            let google = try await client.call(
                "POST", "/v1/auth/sign-in/google",
                ["id_token": idToken.text("id_token") ?? "", "access_token": 7])
            #expect(google.status == 200)

            let session = try #require(ada.text("access_token"))
            let linked = try await post(
                "/v1/auth/link/github", token("github", "ada"), by: session)
            #expect(linked.texts("linked_providers") == ["facebook", "github"])
            let ben = try await post("/v1/auth/sign-in/github", token("github", "ben"))
            let taken = try await post(
                "/v1/auth/link/github", token("github", "ben"), by: session)
            #expect(taken.status == 409 && taken.errorCode == "PROVIDER_CONFLICT")

            // A merge takes a token that was issued after its plan was shown, in a later second.
            let preview = try await post(
                "/v1/account/merge/preview", token("github", "ben"), by: session,
                ["provider": "github"])
            let plan = try #require(preview.text("plan_digest"))
            let merged = try await eventually("a token that is newer than the plan") {
                let answer = try await post(
                    "/v1/account/merge", token("github", "ben"), by: session,
                    ["provider": "github", "plan_digest": plan])
                return answer.status == 401 ? nil : answer
            }
            #expect(merged.status == 200, "\(merged.json)")
            #expect(merged.text("absorbed_user_id") == ben.text("user_id"))
            try await expectVerified(deployment)
        }
    }

    /// A page whose name resolves to this machine can send requests, but with its own name.
    @Test func `the development identity provider answers only to a name of this machine`()
        async throws
    {
        try await Deployment.with(settings: ["LEDGER_MODE": "development", "LEDGER_PROVIDERS": ""])
        {
            deployment in
            let client = try await deployment.serve().client
            let path = "/dev/idp/google/token?name=ada"
            for host in ["rebound.example", "rebound.example:8080", "10.0.0.1", "localhost.x", ""] {
                let refused = try await client.call("GET", path, headers: ["Host": host])
                #expect(refused.status == 421 && refused.text("id_token") == nil, "\(host)")
                #expect(refused.errorMessage?.contains("loopback") == true, "\(host)")
            }
            for host in ["localhost", "LOCALHOST:1", "127.0.0.1:8080", "127.9.9.9", "[::1]:80"] {
                let minted = try await client.call("GET", path, headers: ["Host": host])
                #expect(minted.status == 200 && minted.text("id_token") != nil, "\(host)")
            }
        }
    }
}
