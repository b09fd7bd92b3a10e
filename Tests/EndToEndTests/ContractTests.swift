import Foundation
import LedgerTestSupport
import Testing

/// The parts of the contract that the five stories do not cover, over a socket.
@Suite struct ContractTests {
    @Test func `a sign-in that must not open an account reports that none exists`() async throws {
        try await Deployment.with { deployment in
            let server = try await deployment.serve()
            let answer = try await server.client.call(
                "POST", "/v1/auth/sign-in/google",
                ["id_token": deployment.google.token(subject: "new"), "create_account": false])
            #expect(answer.status == 404 && answer.errorCode == "ACCOUNT_NOT_FOUND")
        }
    }

    @Test func `the documents are served unless the setting says off`() async throws {
        try await Deployment.with { deployment in
            for (setting, status) in [("", 200), ("on", 200), ("off", 404)] {
                let server = try await deployment.serve(settings: ["LEDGER_DOCS": setting])
                for path in ["/openapi.json", "/docs"] {
                    #expect(try await server.client.call("GET", path).status == status)
                }
            }
        }
    }

    @Test func `refresh tokens rotate, allow for a lost answer, and a stolen one ends the session`()
        async throws
    {
        try await Deployment.with { deployment in
            let server = try await deployment.serve()
            var phone = Device(server.client)
            try await phone.signIn(deployment.apple, as: "a")
            let first = phone.refreshToken
            let one = try await phone.refresh()
            #expect(one.status == 200 && one.json["is_new_user"] as? Bool == false)
            let second = phone.refreshToken
            #expect(first != second)
            let again = try await server.client.call(
                "POST", "/v1/auth/refresh", ["refresh_token": first])
            #expect(again.text("refresh_token") == second, "the same successor within 10 s")
            try await phone.refresh()
            let stolen = try await server.client.call(
                "POST", "/v1/auth/refresh", ["refresh_token": first])
            #expect(stolen.status == 401 && stolen.errorCode == "INVALID_REFRESH_TOKEN")
            #expect(try await phone.refresh().status == 401, "the whole family has ended")
            let ended = try await phone.account()
            #expect(ended.status == 401 && ended.errorCode == "INVALID_ACCESS_TOKEN")
            try await expectVerified(deployment)
        }
    }

    @Test func `concurrent refreshes get the same successor`() async throws {
        try await Deployment.with { deployment in
            let first = try await deployment.serve()
            let second = try await deployment.serve()
            var phone = Device(first.client)
            try await phone.signIn(deployment.apple, as: "a")
            let token = phone.refreshToken
            let answers = try await withThrowingTaskGroup(of: String?.self) { group in
                for index in 0..<12 {
                    let client = index % 2 == 0 ? first.client : second.client
                    group.addTask {
                        try await client.call("POST", "/v1/auth/refresh", ["refresh_token": token])
                            .text("refresh_token")
                    }
                }
                return try await group.reduce(into: Set<String?>()) { $0.insert($1) }
            }
            #expect(answers.count == 1 && answers.first != .some(nil))
        }
    }

    @Test func `sign-out ends one session, or all of them`() async throws {
        try await Deployment.with { deployment in
            let server = try await deployment.serve()
            var devices = [Device(server.client), Device(server.client), Device(server.client)]
            for index in devices.indices {
                try await devices[index].signIn(deployment.apple, as: "a")
            }
            let out = try await server.client.call(
                "POST", "/v1/auth/sign-out", token: devices[0].accessToken)
            #expect(out.status == 200 && out.json.isEmpty)
            #expect(try await devices[0].account().status == 401)
            #expect(try await devices[1].account().status == 200)
            let all = try await server.client.call(
                "POST", "/v1/auth/sign-out", ["everywhere": true], token: devices[1].accessToken)
            #expect(all.status == 200)
            #expect(try await devices[2].account().status == 401)
            #expect(try await devices[2].refresh().status == 401)
            try await expectVerified(deployment)
        }
    }

    @Test func `link keeps sessions, unlink ends those that the identity opened`() async throws {
        try await Deployment.with { deployment in
            let server = try await deployment.serve()
            var phone = Device(server.client)
            try await phone.signIn(deployment.apple, as: "a")
            _ = try await phone.link(deployment.google, as: "a")
            var laptop = Device(server.client)
            try await laptop.signIn(deployment.google, as: "a")
            #expect(try await laptop.account().status == 200)
            #expect(try await phone.unlink(deployment.google, key: "u").status == 200)
            #expect(try await laptop.account().status == 401)
            #expect(try await laptop.refresh().status == 401)
            #expect(try await phone.account().texts("linked_providers") == ["apple"])
            var other = Device(server.client)
            try await other.signIn(deployment.google, as: "a")
            #expect(other.userID != phone.userID, "the identity is free again")
            try await expectVerified(deployment)
        }
    }

    @Test func `an unlink needs a fresh proof`() async throws {
        try await Deployment.with { deployment in
            let server = try await deployment.serve(
                settings: ["LEDGER_REAUTHENTICATION_SECONDS": "600"])
            let old = Int(Date().timeIntervalSince1970) - 1000
            let signedIn = try await server.client.call(
                "POST", "/v1/auth/sign-in/apple",
                ["id_token": deployment.apple.token(subject: "a", changes: ["auth_time": "\(old)"])]
            )
            let access = signedIn.text("access_token")
            let linked = try await server.client.call(
                "POST", "/v1/auth/link/google",
                ["id_token": deployment.google.token(subject: "a")], token: access)
            #expect(linked.status == 200)
            let refused = try await server.client.call(
                "DELETE", "/v1/auth/link/google", token: access)
            #expect(refused.status == 403 && refused.errorCode == "REAUTHENTICATION_REQUIRED")
            var fresh = Device(server.client)
            try await fresh.signIn(deployment.google, as: "a")
            #expect(try await fresh.unlink(deployment.apple).status == 200)
            try await expectVerified(deployment)
        }
    }

    @Test func `a key returns the same answer again, even when its command ended the session`()
        async throws
    {
        try await Deployment.with { deployment in
            let server = try await deployment.serve()
            var phone = Device(server.client)
            try await phone.signIn(deployment.apple, as: "a")
            let body = ["id_token": deployment.google.token(subject: "a")]
            let link = { (key: String, body: [String: String]) in
                try await server.client.call(
                    "POST", "/v1/auth/link/google", body, token: phone.accessToken, key: key)
            }
            let first = try await link("k1", body)
            let again = try await link("k1", body)
            #expect(first.status == 200 && again.body == first.body)
            let other = try await link("k1", ["id_token": "something.else.entirely"])
            #expect(other.status == 422 && other.errorCode == "IDEMPOTENCY_KEY_REUSED")

            var laptop = Device(server.client)
            try await laptop.signIn(deployment.google, as: "a")
            let unlinked = try await laptop.unlink(deployment.google, key: "k2")
            #expect(unlinked.status == 200)
            #expect(try await laptop.account().status == 401, "the session went with the identity")
            let repeated = try await laptop.unlink(deployment.google, key: "k2")
            #expect(repeated.status == 200 && repeated.body == unlinked.body)
            try await expectVerified(deployment)
        }
    }

    @Test func `the sixth link attempt of an hour waits, and a retried token counts once`()
        async throws
    {
        try await Deployment.with { deployment in
            let server = try await deployment.serve()
            var holder = Device(server.client)
            try await holder.signIn(deployment.google, as: "held")
            var phone = Device(server.client)
            try await phone.signIn(deployment.apple, as: "a")
            let token = deployment.google.token(subject: "held")
            for _ in 0..<8 {
                let answer = try await server.client.call(
                    "POST", "/v1/auth/link/google", ["id_token": token], token: phone.accessToken)
                #expect(answer.status == 409, "the same token counts once")
            }
            for number in 1..<5 {
                let answer = try await server.client.call(
                    "POST", "/v1/auth/link/google", ["id_token": "bad.token.\(number)"],
                    token: phone.accessToken)
                #expect(answer.status == 401 && answer.errorCode == "INVALID_PROVIDER_TOKEN")
            }
            let limited = try await phone.link(deployment.google, as: "fresh")
            #expect(limited.status == 429 && limited.errorCode == "RATE_LIMITED")
            let wait = limited.header("Retry-After").flatMap { Int($0) } ?? 0
            #expect(wait > 3500 && wait <= 3600)
            let log = try await deployment.tool.run(["replay", "--account", phone.userID])
            #expect(log.output.ranges(of: "ConflictRejected").count == 1, "\(log.output)")
            #expect(log.output.ranges(of: "LinkRejected").count == 4)
            try await expectVerified(deployment)
        }
    }

    @Test func `sign-ins of one identity have a budget`() async throws {
        try await Deployment.with { deployment in
            let server = try await deployment.serve(settings: ["LEDGER_SIGN_IN_LIMIT": "3"])
            var phone = Device(server.client)
            for _ in 0..<3 {
                #expect(try await phone.signIn(deployment.apple, as: "a").status == 200)
            }
            let limited = try await phone.signIn(deployment.apple, as: "a")
            #expect(limited.status == 429 && limited.header("Retry-After") != nil)
            #expect(try await phone.signIn(deployment.apple, as: "b").status == 200)
        }
    }

    @Test func `access tokens can be checked by others, and are good for their tenant only`()
        async throws
    {
        try await Deployment.with { deployment in
            let created = try await deployment.tool.run(["keys", "init"])
            #expect(created.status == 0, "\(created.errors)")
            let tenant = try await deployment.tool.run(["tenant", "create", "acme"])
            #expect(tenant.status == 0, "\(tenant.errors)")
            let server = try await deployment.serve()
            var phone = Device(server.client)
            try await phone.signIn(deployment.apple, as: "a")
            let parts = phone.accessToken.split(separator: ".").map(String.init)
            let claims = try object(parts[1])
            let header = try object(parts[0])
            #expect(header["typ"] as? String == "at+jwt" && header["alg"] as? String == "ES256")
            #expect(claims["sub"] as? String == phone.userID)
            #expect(claims["tid"] as? String == "default")
            #expect(claims["iss"] as? String == "https://ledger.example")
            let issued = try #require(claims["iat"] as? Int)
            #expect(claims["exp"] as? Int == issued + 600)
            #expect((claims["auth_time"] as? Int ?? .max) <= issued)
            #expect(
                claims["sid"] is String && claims["amr"] as? [String] == ["fed"]
                    && claims["aud"] != nil)
            let keys = try await server.client.call("GET", "/.well-known/jwks.json")
            let published = (keys.json["keys"] as? [[String: any Sendable]])?.map {
                $0["kid"] as? String
            }
            #expect(published?.contains(header["kid"] as? String) == true)

            let foreign = try await server.client.call(
                "GET", "/t/acme/v1/account", token: phone.accessToken)
            #expect(foreign.status == 401)
            let own = try await server.client.call(
                "GET", "/t/default/v1/account", token: phone.accessToken)
            #expect(own.status == 200)
            let refreshed = try await server.client.call(
                "POST", "/t/acme/v1/auth/refresh", ["refresh_token": phone.refreshToken])
            #expect(refreshed.status == 401)
            #expect(try await phone.refresh().status == 200)
        }
    }

    @Test func `a later sign-in updates the e-mail, and e-mail links nothing`() async throws {
        try await Deployment.with { deployment in
            let server = try await deployment.serve()
            var phone = Device(server.client)
            try await phone.signIn(deployment.google, as: "a", email: "old@example.org")
            try await phone.signIn(deployment.google, as: "a", email: "new@example.org")
            let account = try await phone.account()
            let identities = account.json["identities"] as? [[String: any Sendable]]
            #expect(identities?.first?["email"] as? String == "new@example.org")
            var other = Device(server.client)
            try await other.signIn(deployment.apple, as: "b", email: "new@example.org")
            #expect(other.userID != phone.userID)
            try await expectVerified(deployment)
        }
    }

    @Test func `clients read their own writes through any process`() async throws {
        try await Deployment.with { deployment in
            let first = try await deployment.serve()
            let second = try await deployment.serve()
            for number in 0..<30 {
                var phone = Device(first.client)
                try await phone.signIn(deployment.apple, as: "r\(number)")
                _ = try await phone.link(deployment.google, as: "r\(number)")
                let seen = try await second.client.call(
                    "GET", "/v1/account", token: phone.accessToken)
                #expect(seen.texts("linked_providers") == ["apple", "google"])
            }
        }
    }

    private func object(_ part: String) throws -> [String: Any] {
        var text = part.replacing("-", with: "+").replacing("_", with: "/")
        text += String(repeating: "=", count: (4 - text.count % 4) % 4)
        let data = try #require(Data(base64Encoded: text))
        return try #require(JSONSerialization.jsonObject(with: data) as? [String: Any])
    }
}
