import Foundation
import LedgerTestSupport
import Postgres
import Testing

/// An e-mail that its provider did not verify is stored, shown and found as unverified.
@Suite struct UnverifiedEmailTests {
    private static let wanted = "ceo@corp.example"

    /// A provider's claim about an e-mail, in JSON, and whether it verifies it; nil without a claim.
    private static let claims: [(said: String?, isVerified: Bool)] = [
        ("true", true), ("\"true\"", true), ("false", false), ("\"false\"", false), (nil, false),
        ("\"TRUE\"", false),
    ]

    private func objects(_ value: (any Sendable)?) -> [[String: any Sendable]] {
        value as? [[String: any Sendable]] ?? []
    }

    /// The identities of a preview, each with its e-mail's verification.
    private func emailFlags(_ identities: (any Sendable)?) -> [String] {
        objects(identities).map { identity in
            let flag = (identity["email_verified"] as? Bool).map { "\($0)" }
            return "\(identity["provider"] as? String ?? "") \(flag ?? "-")"
        }
    }

    @Test func `an e-mail is stored and returned with its verification`() async throws {
        try await Deployment.with { deployment in
            let server = try await deployment.serve()
            let support = CaseWorker(server.client, key: try await deployment.apiKey("support"))
            for (number, claim) in Self.claims.enumerated() {
                var device = Device(server.client)
                try await device.signIn(
                    deployment.apple, as: "a-\(number)", email: Self.wanted, saying: claim.said)
                let linked = try await device.link(
                    deployment.google, as: "g-\(number)", email: Self.wanted, saying: claim.said)
                #expect(linked.status == 200)
                let identities = objects(try await device.account().json["identities"])
                #expect(
                    identities.map { $0["email_verified"] as? Bool }
                        == [claim.isVerified, claim.isVerified], "\(claim)")

                let path = "/v1/accounts/\(device.userID)"
                for (path, list) in [
                    ("\(path)/history?disclose=true", "events"),
                    ("\(path)/timeline?disclose=true", "rows"),
                    ("/v1/events?account=\(device.userID)&disclose=true", "events"),
                ] {
                    let shown = objects(try await support.get(path).json[list])
                        .compactMap { $0["disclosures"] as? [String: String] }
                        .filter { $0["email"] != nil }
                    #expect(
                        shown.map { $0["email_verified"] }
                            == ["\(claim.isVerified)", "\(claim.isVerified)"], "\(path)")
                }
                let replayed = try await deployment.tool.run([
                    "replay", "--account", device.userID, "--disclose", "--reason", "case 7",
                ])
                #expect(
                    replayed.output.split(separator: "email_verified").count == 3,
                    "\(replayed.output)")
            }
            try await server.stop()
            let verified = try await deployment.tool.run(["verify"])
            #expect(verified.status == 0, "\(verified.output)\(verified.errors)")
        }
    }

    @Test func `a later sign-in changes the e-mail together with its verification`()
        async throws
    {
        try await Deployment.with { deployment in
            let server = try await deployment.serve()
            var device = Device(server.client)
            for said in [true, false, true] {
                try await device.signIn(
                    deployment.google, as: "g", email: Self.wanted, saying: "\(said)")
                let identities = objects(try await device.account().json["identities"])
                #expect(identities.map { $0["email_verified"] as? Bool } == [said])
            }
        }
    }

    @Test func `an account with an unverified e-mail is listed after that with the verified one`()
        async throws
    {
        try await Deployment.with { deployment in
            let server = try await deployment.serve()
            let support = CaseWorker(server.client, key: try await deployment.apiKey("support"))
            // The attacker signs up first, so that the order of ids alone would list them first.
            var attacker = Device(server.client)
            try await attacker.signIn(deployment.apple, as: "attacker")
            let linked = try await attacker.link(
                deployment.google, as: "attacker", email: Self.wanted, saying: "false")
            #expect(linked.status == 200)
            var owner = Device(server.client)
            try await owner.signIn(
                deployment.google, as: "owner", email: Self.wanted, saying: "true")

            let found = try await support.get("/v1/search?q=\(Self.wanted)").json
            let accounts = objects(found["accounts"])
            #expect(accounts.map { $0["id"] as? String } == [owner.userID, attacker.userID])
            #expect(
                accounts.map { $0["matched_by"] as? [String] }
                    == [["email"], ["unverified_email"]])
            let identities = objects(found["identities"])
            #expect(identities.map { $0["email_verified"] as? Bool } == [true, false])
            #expect(
                identities.map { $0["matched_by"] as? [String] }
                    == [["email"], ["unverified_email"]])

            let preview = try await support.post(
                "/v1/accounts/\(owner.userID)/merge/preview", ["absorb": attacker.userID]
            ).json
            #expect(emailFlags(preview["kept"]) == ["google true"])
            #expect(emailFlags(preview["moved"]) == ["apple -"])
            #expect(emailFlags(preview["left_behind"]) == ["google false"])
            let reverse = try await support.post(
                "/v1/accounts/\(attacker.userID)/merge/preview", ["absorb": owner.userID]
            ).json
            #expect(emailFlags(reverse["kept"]) == ["apple -", "google false"])
            let plan = try await deployment.tool.run([
                "merge", owner.userID, attacker.userID, "--dry-run",
            ])
            #expect(
                plan.output.contains(#/  kept +google  identity [0-9a-f-]+, e-mail verified\n/#)
                    && plan.output.contains(#/  moved +apple  identity [0-9a-f-]+\n/#)
                    && plan.output.contains(
                        #/  left behind   google  identity [0-9a-f-]+, e-mail NOT verified\n/#),
                "\(plan.output)\(plan.errors)")

            #expect(try await attacker.unlink(deployment.google).status == 200)
            let later = try await support.get("/v1/search?q=\(Self.wanted)").json
            #expect(
                objects(later["accounts"]).map { $0["matched_by"] as? [String] }
                    == [["email"], ["unverified_former_email"]])
            let printed = try await deployment.tool.run([
                "search", Self.wanted, "--reason", "case 7",
            ])
            #expect(printed.output.contains("(email)"), "\(printed.output)")
            #expect(printed.output.contains("(unverified former email)"), "\(printed.output)")
        }
    }
}

extension UnverifiedEmailTests {
    @Test func `a preview omits e-mail verification where it can't be read`()
        async throws
    {
        try await Deployment.with { deployment in
            let server = try await deployment.serve()
            let support = CaseWorker(server.client, key: try await deployment.apiKey("support"))
            let database = Session(url: deployment.superuserURL, applicationName: "test")
            var (ada, other) = (Device(server.client), Device(server.client))
            try await ada.signIn(deployment.apple, as: "ada", email: Self.wanted, saying: "true")
            #expect(try await ada.account().status == 200)
            try await database.run { connection in
                try connection.execute(
                    "UPDATE projections SET failure = 'stopped' WHERE name = 'user_providers'")
            }
            await database.close()
            try await other.signIn(
                deployment.google, as: "other", email: Self.wanted, saying: "true")
            let preview = try await support.post(
                "/v1/accounts/\(ada.userID)/merge/preview", ["absorb": other.userID])
            #expect(preview.text("plan_digest") != nil, "\(preview.json)")
            for name in ["kept", "moved"] {
                let identities = objects(preview.json[name])
                #expect(identities.map { $0["email_verified"] is NSNull } == [true], "\(name)")
            }
        }
    }
}

extension Device {
    fileprivate mutating func signIn(
        _ provider: TestIdentityProvider, as subject: String, email: String,
        saying claim: String?
    ) async throws {
        let answer = try await client.call(
            "POST", "/v1/auth/sign-in/\(provider.name)",
            ["id_token": token(provider, subject, email, claim)])
        #expect(answer.status == 200)
        keep(answer)
    }

    fileprivate func link(
        _ provider: TestIdentityProvider, as subject: String, email: String,
        saying claim: String?
    ) async throws -> WireClient.Answer {
        try await client.call(
            "POST", "/v1/auth/link/\(provider.name)",
            ["id_token": token(provider, subject, email, claim)], token: accessToken)
    }

    private func token(
        _ provider: TestIdentityProvider, _ subject: String, _ email: String,
        _ claim: String?
    ) -> String {
        provider.token(subject: subject, email: email, changes: ["email_verified": claim])
    }
}
