import LedgerTestSupport
import Testing

/// The five stories of the contract, over a socket, with real signatures, against a real database.
@Suite struct AcceptanceTests {
    @Test func `AC1 Google is linked to an account opened with Apple`() async throws {
        try await Deployment.with { deployment in
            let server = try await deployment.serve()
            var phone = Device(server.client)
            let signedIn = try await phone.signIn(deployment.apple, as: "ada")
            #expect(signedIn.status == 200)
            #expect(signedIn.json["is_new_user"] as? Bool == true)
            #expect(signedIn.texts("linked_providers") == ["apple"])
            #expect(signedIn.text("token_type") == "Bearer")
            #expect(signedIn.json["expires_in"] as? Int == 600)

            let linked = try await phone.link(deployment.google, as: "ada")
            #expect(linked.status == 200)
            #expect(linked.texts("linked_providers") == ["apple", "google"])
            #expect(linked.text("message") == "Google account linked successfully")
            try await expectVerified(deployment)
        }
    }

    @Test func `AC2 Apple is linked to an account opened with Google`() async throws {
        try await Deployment.with { deployment in
            let server = try await deployment.serve()
            var phone = Device(server.client)
            try await phone.signIn(deployment.google, as: "bob", email: "bob@example.org")
            let linked = try await phone.link(deployment.apple, as: "bob", email: "b@relay.example")
            #expect(linked.texts("linked_providers") == ["google", "apple"])
            #expect(linked.text("message") == "Apple account linked successfully")

            let account = try await phone.account()
            #expect(account.text("user_id") == phone.userID)
            let identities = try #require(account.json["identities"] as? [[String: any Sendable]])
            #expect(identities.map { $0["provider"] as? String } == ["google", "apple"])
            #expect(
                identities.map { $0["email"] as? String } == ["bob@example.org", "b@relay.example"])
            try await expectVerified(deployment)
        }
    }

    @Test func `AC3 an identity of another account is refused and stays where it is`() async throws
    {
        try await Deployment.with { deployment in
            let server = try await deployment.serve()
            var ada = Device(server.client)
            var eve = Device(server.client)
            try await ada.signIn(deployment.google, as: "ada-google")
            try await eve.signIn(deployment.apple, as: "eve")

            let refused = try await eve.link(deployment.google, as: "ada-google")
            #expect(refused.status == 409)
            #expect(refused.errorCode == "PROVIDER_CONFLICT")
            #expect(refused.errorMessage == "This account is already in use")
            let body = String(decoding: refused.body, as: UTF8.self)
            #expect(!body.contains(ada.userID), "the answer tells who holds the identity")
            #expect(try await ada.account().texts("linked_providers") == ["google"])
            #expect(try await eve.account().texts("linked_providers") == ["apple"])

            let mine = try await ada.link(deployment.google, as: "ada-google")
            #expect(mine.status == 409 && mine.errorCode == "PROVIDER_CONFLICT")
            let taken = try await ada.link(deployment.google, as: "ada-second-google")
            #expect(taken.status == 409 && taken.errorCode == "PROVIDER_CONFLICT")
            try await expectVerified(deployment)
        }
    }

    @Test func `AC4 the only provider cannot be unlinked`() async throws {
        try await Deployment.with { deployment in
            let server = try await deployment.serve()
            var phone = Device(server.client)
            try await phone.signIn(deployment.apple, as: "ada")
            let refused = try await phone.unlink(deployment.apple)
            #expect(refused.status == 400)
            #expect(refused.errorCode == "CANNOT_UNLINK_ONLY_PROVIDER")
            #expect(refused.errorMessage == "Cannot unlink your only authentication method")
            let absent = try await phone.unlink(deployment.google)
            #expect(absent.status == 404 && absent.errorCode == "PROVIDER_NOT_LINKED")

            _ = try await phone.link(deployment.google, as: "ada")
            let unlinked = try await phone.unlink(deployment.google)
            #expect(unlinked.status == 200)
            #expect(unlinked.texts("linked_providers") == ["apple"])
            #expect(unlinked.text("message") == "Google account unlinked")
            try await expectVerified(deployment)
        }
    }

    @Test func `AC5 the other provider on another device opens the same account`() async throws {
        try await Deployment.with { deployment in
            let server = try await deployment.serve()
            var phone = Device(server.client)
            try await phone.signIn(deployment.apple, as: "ada")
            _ = try await phone.link(deployment.google, as: "ada")

            var laptop = Device(server.client)
            let signedIn = try await laptop.signIn(deployment.google, as: "ada")
            #expect(laptop.userID == phone.userID)
            #expect(signedIn.json["is_new_user"] as? Bool == false)
            #expect(signedIn.texts("linked_providers") == ["apple", "google"])
            let refreshed = try await phone.refresh()
            #expect(refreshed.texts("linked_providers") == ["apple", "google"])
            try await expectVerified(deployment)
        }
    }

    @Test func `the log contains the executed commands`() async throws {
        try await Deployment.with { deployment in
            let server = try await deployment.serve()
            var phone = Device(server.client)
            var other = Device(server.client)
            try await phone.signIn(deployment.apple, as: "ada")
            try await other.signIn(deployment.google, as: "bob")
            _ = try await phone.link(deployment.google, as: "bob")
            _ = try await phone.link(deployment.google, as: "ada")
            _ = try await phone.unlink(deployment.apple)

            let text = try await deployment.tool.run(["replay", "--account", phone.userID])
            #expect(text.status == 0, "\(text.errors)")
            let told = [
                "AccountOpened", "ProviderLinked", "SignedIn", "ConflictRejected",
                "ProviderLinked", "ProviderUnlinked",
            ]
            var rest = text.output[...]
            for name in told {
                let found = try #require(rest.firstRange(of: name), "\(name) in \(text.output)")
                rest = rest[found.upperBound...]
            }
            let json = try await deployment.tool.run([
                "replay", "--account", other.userID, "--format", "json",
            ])
            #expect(json.status == 0, "\(json.errors)")
            #expect(json.output.contains("ConflictRejected"), "a conflict is in both histories")
        }
    }
}

/// Runs `account-ledger verify`, which has to hold.
func expectVerified(
    _ deployment: Deployment, sourceLocation: SourceLocation = #_sourceLocation
) async throws {
    let verified = try await eventually("the projections to catch up") {
        let outcome = try await deployment.tool.run(["verify"])
        return outcome.status == 0 ? outcome : nil
    }
    #expect(
        verified.status == 0, "\(verified.output)\(verified.errors)", sourceLocation: sourceLocation
    )
}
