import Foundation
import LedgerTestSupport
import Testing

/// Accounts with addresses over HTTP: their keys are rotated, and their holders are told of changes.
@Suite(.timeLimit(.minutes(5))) struct AddressTests {
    private static let address = "ada@example.com"
    private static let password = "correct horse battery staple"

    /// A deployment whose tenant has codes and passwords, in development mode, which keeps messages.
    private func with(
        _ body: (Deployment, ServerProcess) async throws -> Void
    ) async throws {
        try await Deployment.with(settings: ["LEDGER_MODE": "development"]) { deployment in
            try deployment.configure(providers: Deployment.addressProviders)
            let server = try await deployment.serve()
            try await body(deployment, server)
            #expect(try await server.stop() == 0)
        }
    }

    private struct Message: Decodable {
        let to: String
        let template: String
        let text: String
    }

    /// Returns the messages to the address with a template, the newest first, once there are so many.
    private func messages(
        _ template: String, count: Int, of server: ServerProcess, to address: String = address
    ) async throws -> [Message] {
        struct Outbox: Decodable {
            let messages: [Message]
        }
        return try await eventually("\(count) messages of \(template)") {
            let page = try await server.client.call("GET", "/dev/outbox")
            let outbox = try JSONDecoder().decode(Outbox.self, from: Data(page.body))
            let found = outbox.messages.filter {
                $0.to == address && $0.template == template
            }
            return found.count >= count ? found : nil
        }
    }

    private func code(in message: Message) throws -> String {
        String(try #require(message.text.firstMatch(of: /[0-9]{6}/)?.output))
    }

    /// Signs up with the password and returns the device.
    private func signUp(_ server: ServerProcess) async throws -> Device {
        let begun = try await server.client.call(
            "POST", "/v1/auth/sign-up/password",
            ["email": Self.address, "password": Self.password])
        #expect(begun.status == 200, "\(begun)")
        let mail = try await messages("sign_up_code", count: 1, of: server)
        var ada = Device(server.client)
        let opened = try await server.client.call(
            "POST", "/v1/auth/sign-in/password",
            ["challenge_id": begun.text("challenge_id") ?? "", "code": try code(in: mail[0])])
        #expect(opened.status == 200, "\(opened)")
        ada.keep(opened)
        return ada
    }

    private func signIn(
        _ server: ServerProcess, _ address: String = address
    ) async throws -> WireClient.Answer {
        try await server.client.call(
            "POST", "/v1/auth/sign-in/password",
            ["email": address, "password": Self.password])
    }

    private func keys(_ deployment: Deployment, _ use: String) async throws -> [String] {
        let listed = try await deployment.tool.run(["keys", "list"])
        #expect(listed.status == 0, "\(listed.errors)")
        return listed.output.split(separator: "\n").compactMap { line in
            let columns = line.split(separator: "\t").map(String.init)
            return columns.count == 3 && columns[0] == "encryption" && columns[2].hasPrefix(use)
                ? columns[1] : nil
        }
    }

    @Test func `a password and its address outlive the key that encrypted and named them`()
        async throws
    {
        try await with { deployment, server in
            let ada = try await signUp(server)
            let old = try #require(try await keys(deployment, "in use").first)
            let rotated = try await deployment.tool.run(
                ["keys", "rotate", "encryption", "--after", "5"])
            #expect(rotated.status == 0, "\(rotated.errors)")
            try await eventually("the new key to be in use", within: .seconds(60)) {
                try await keys(deployment, "in use").first == old ? nil : true
            }
            let rewrap = try await deployment.tool.run(["keys", "rewrap"])
            #expect(rewrap.status == 0, "\(rewrap.errors)")
            #expect(rewrap.output.contains("rewrapped 1 passwords\n"), "\(rewrap.output)")
            #expect(rewrap.output.contains("rewrapped 1 addresses\n"), "\(rewrap.output)")
            // A server that read the new key finds both.
            try await eventually("a sign-in with the new key", within: .seconds(60)) {
                let again = try await signIn(server)
                return again.status == 200 && again.text("user_id") == ada.userID ? true : nil
            }
            // Messages and digests of requests need the key for a day.
            let used = try await deployment.tool.run(["keys", "remove", "encryption", old])
            #expect(used.errors.contains("messages that are unsent or of the last day"))
            #expect(!used.errors.contains("keys rewrap"), "\(used.errors)")
        }
    }

    @Test func `a former address outlives the key that named it, and is taken back`() async throws {
        try await with { deployment, server in
            let ada = try await signUp(server)
            struct Request: Encodable {
                let address: String
                let change: Bool
            }
            let sent = try await server.client.send(
                "POST", "/v1/account/codes/password",
                headers: [
                    "Authorization": "Bearer \(ada.accessToken)",
                    "Content-Type": "application/json",
                ],
                body: JSONEncoder().encode(Request(address: "thief@example.com", change: true)))
            #expect(sent.status == 200, "\(sent)")
            let mail = try await messages(
                "confirm_address", count: 1, of: server, to: "thief@example.com")
            let changed = try await server.client.call(
                "POST", "/v1/account/addresses/password",
                [
                    "current_address": Self.address, "code": try code(in: mail[0]),
                    "challenge_id": sent.text("challenge_id") ?? "",
                ], token: ada.accessToken)
            #expect(changed.status == 200, "\(changed)")
            let token = changed.text("access_token") ?? ""
            #expect(try await shown(server, to: token) == ["thief@example.com": true])
            try await expectVerified(deployment)
            #expect(try await signIn(server).status == 401)
            let told = try await messages("address_changed", count: 1, of: server)
            #expect(told[0].text.contains("taken back for 7 days"), "\(told[0].text)")
            let old = try #require(try await keys(deployment, "in use").first)
            let rotated = try await deployment.tool.run(
                ["keys", "rotate", "encryption", "--after", "5"])
            #expect(rotated.status == 0, "\(rotated.errors)")
            try await eventually("the new key to be in use", within: .seconds(60)) {
                try await keys(deployment, "in use").first == old ? nil : true
            }
            let rewrap = try await deployment.tool.run(["keys", "rewrap"])
            #expect(rewrap.output.contains("rewrapped 2 addresses\n"), "\(rewrap)")
            try await eventually("a sign-in with the new key", within: .seconds(60)) {
                try await signIn(server, "thief@example.com").status == 200 ? true : nil
            }
            let begun = try await server.client.call(
                "POST", "/v1/auth/address-returns/password", ["address": Self.address])
            let codes = try await messages("confirm_address", count: 1, of: server)
            let returned = try await server.client.call(
                "POST", "/v1/auth/address-returns/password/complete",
                [
                    "challenge_id": begun.text("challenge_id") ?? "",
                    "code": try code(in: codes[0]), "password": Self.password,
                ])
            #expect(returned.status == 200, "\(returned)")
            let back = try await signIn(server)
            #expect(back.text("user_id") == ada.userID)
            let last = back.text("access_token") ?? ""
            #expect(try await shown(server, to: last) == [Self.address: true])
            _ = try await messages("new_device", count: 1, of: server)
            try await expectVerified(deployment)
        }
    }

    /// Returns the addresses of the identities that an account holder sees, and whether they are verified.
    private func shown(
        _ server: ServerProcess, to token: String
    ) async throws -> [String: Bool] {
        struct Account: Decodable {
            struct Identity: Decodable {
                let email: String
                let email_verified: Bool
            }
            let identities: [Identity]
        }
        let answer = try await server.client.call("GET", "/v1/account", token: token)
        let account = try JSONDecoder().decode(Account.self, from: answer.body)
        return Dictionary(
            uniqueKeysWithValues: account.identities.map { ($0.email, $0.email_verified) })
    }

    @Test func `links, unlinks and a reset are told to the address of the account`() async throws {
        try await with { deployment, server in
            let ada = try await signUp(server)
            #expect(
                try await ada.link(deployment.google, as: "ada", email: Self.address).status == 200)
            let linked = try await messages("provider_linked", count: 1, of: server)
            #expect(
                linked[0].text.contains("Google was added as a way to sign in."),
                "\(linked[0].text)")
            let page = try #require(
                linked[0].text.split(separator: "\n").first { $0.hasSuffix("/account") })
            let path = try #require(URLComponents(string: String(page))?.path)
            #expect(try await server.client.call("GET", path).status == 200)
            let known = try await server.client.call(
                "POST", "/v1/auth/sign-up/password",
                ["email": Self.address, "password": Self.password])
            #expect(known.status == 200, "\(known)")
            let told = try await messages("address_known", count: 1, of: server)
            #expect(told[0].text.contains(page))
            #expect(try await ada.unlink(deployment.google).status == 200)
            _ = try await messages("provider_unlinked", count: 1, of: server)
            let begun = try await server.client.call(
                "POST", "/v1/auth/password-resets/password", ["email": Self.address])
            let mail = try await messages("password_reset", count: 1, of: server)
            let reset = try await server.client.call(
                "POST", "/v1/auth/password-resets/password/complete",
                [
                    "challenge_id": begun.text("challenge_id") ?? "",
                    "code": try code(in: mail[0]), "password": Self.password + "!",
                ])
            #expect(reset.status == 200, "\(reset)")
            _ = try await messages("password_changed", count: 1, of: server)
            // Support on the command line tells people as well.
            var bob = Device(server.client)
            #expect(try await bob.signIn(deployment.apple, as: "bob").status == 200)
            let merged = try await deployment.tool.run([
                "merge", ada.userID, bob.userID, "--reason", "one person", "--case", "17",
            ])
            #expect(merged.status == 0, "\(merged)")
            _ = try await messages("accounts_merged", count: 1, of: server)
            let shown = try await deployment.tool.run(["messages", "--account", ada.userID])
            #expect(shown.output.contains("provider_linked  en  sent"), "\(shown.output)")
        }
    }
}
