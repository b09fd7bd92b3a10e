import Foundation
import LedgerTestSupport
import Testing

/// Races of identities that addresses find, over HTTP against two processes on one database.
@Suite(.timeLimit(.minutes(10))) struct AddressRaceTests {
    private static let trials = 8
    fileprivate static let password = "correct horse battery staple"
    private static let other = "another horse battery staple"

    /// A deployment with two servers in development mode, which keeps messages.
    private func withTwoServers(
        _ body: (Stage) async throws -> Void
    ) async throws {
        let settings = ["LEDGER_MODE": "development", "LEDGER_TRUSTED_PROXIES": "127.0.0.1"]
        try await Deployment.with(settings: settings) { deployment in
            try deployment.addAddressProviders()
            let servers = [try await deployment.serve(), try await deployment.serve()]
            try await body(
                Stage(
                    deployment: deployment, first: servers[0].client, second: servers[1].client))
            for server in servers { #expect(try await server.stop() == 0) }
            try await expectVerified(deployment)
        }
    }

    @Test func `two sign-ups of one address that are confirmed at once open one account`()
        async throws
    {
        try await withTwoServers { stage in
            let (first, second) = (stage.first, stage.second)
            for trial in 0..<Self.trials {
                let address = "ada-\(trial)@example.com"
                var answers: [[String: String]] = []
                for (client, password) in [(first, Self.password), (second, Self.other)] {
                    answers.append(
                        try await stage.code(
                            "/v1/auth/sign-up/password", ["email": address, "password": password],
                            to: address, by: client, network: trial))
                }
                let (left, right) = (answers[0], answers[1])
                async let one = stage.post(
                    "/v1/auth/sign-in/password", left, to: first, network: trial)
                async let two = stage.post(
                    "/v1/auth/sign-in/password", right, to: second, network: trial)
                let statuses = try await [one, two].map(\.status)
                #expect(statuses.sorted() == [200, 401], "trial \(trial)")
                let winner = statuses[0] == 200 ? Self.password : Self.other
                for password in [Self.password, Self.other] {
                    let signedIn = try await stage.post(
                        "/v1/auth/sign-in/password", ["email": address, "password": password],
                        to: first, network: trial)
                    #expect(signedIn.status == (password == winner ? 200 : 401))
                }
            }
        }
    }

    @Test func `the last two ways to sign in, of every pair of types, never end together`()
        async throws
    {
        try await withTwoServers { stage in
            let (deployment, first, second) = (stage.deployment, stage.first, stage.second)
            for (trial, pair) in [
                ["password", "email"], ["password", "google"], ["email", "google"],
            ].enumerated() {
                let address = "bob-\(trial)@example.com"
                let device =
                    if pair[0] == "password" {
                        try await stage.signUp(address, at: first, network: trial)
                    } else {
                        try await stage.signInByCode(address, at: first, network: trial)
                    }
                if pair[1] == "email" {
                    let answer = try await stage.code(
                        "/v1/account/codes/email", ["address": address],
                        token: device.accessToken, to: address, by: first, network: trial)
                    let linked = try await stage.post(
                        "/v1/auth/link/email", answer, token: device.accessToken, to: first,
                        network: trial)
                    #expect(linked.status == 200, "\(linked)")
                } else {
                    let linked = try await device.link(deployment.google, as: "bob-\(trial)")
                    #expect(linked.status == 200, "\(linked)")
                }
                let token = device.accessToken
                async let one = first.call("DELETE", "/v1/auth/link/\(pair[0])", token: token)
                async let two = second.call("DELETE", "/v1/auth/link/\(pair[1])", token: token)
                let statuses = try await [one, two].map(\.status).sorted()
                // The loser learns that it is the last one, or that its session went with the other.
                #expect(statuses == [200, 400] || statuses == [200, 401], "\(pair): \(statuses)")
            }
        }
    }

    @Test func `no session that the former password opened outlives a change of it`()
        async throws
    {
        try await withTwoServers { stage in
            let (first, second) = (stage.first, stage.second)
            for trial in 0..<Self.trials {
                let address = "eve-\(trial)@example.com"
                let ada = try await stage.signUp(address, at: first, network: trial)
                let former = ["email": address, "password": Self.password]
                async let changed = stage.post(
                    "/v1/account/password",
                    [
                        "email": address, "password": Self.other,
                        "current_password": Self.password,
                    ],
                    token: ada.accessToken, to: first, network: trial)
                async let before = stage.post(
                    "/v1/auth/sign-in/password", former, to: second, network: trial)
                async let between = stage.post(
                    "/v1/auth/sign-in/password", former, to: first, network: trial)
                let change = try await changed
                #expect(change.status == 200, "\(change)")
                for answer in try await [before, between] where answer.status == 200 {
                    let account = try await second.call(
                        "GET", "/v1/account", token: answer.text("access_token"))
                    #expect(account.status == 401, "trial \(trial)")
                }
                let kept = try await second.call(
                    "GET", "/v1/account", token: change.text("access_token"))
                #expect(kept.status == 200, "\(kept)")
            }
        }
    }

    @Test func `of two changes to one address one succeeds, and of two returns`() async throws {
        try await withTwoServers { stage in
            let clients = [stage.first, stage.second]
            for trial in 0..<Self.trials {
                let new = "new-\(trial)@example.com"
                var devices: [Device] = []
                var answers: [[String: String]] = []
                for (number, client) in clients.enumerated() {
                    let address = "fay-\(trial)-\(number)@example.com"
                    let device = try await stage.signInByCode(
                        address, at: client, network: 2 * trial + number)
                    var answer = try await stage.code(
                        "/v1/account/codes/email", ["address": new, "change": true],
                        token: device.accessToken, to: new, by: client,
                        network: 2 * trial + number)
                    answer["current_address"] = address
                    devices.append(device)
                    answers.append(answer)
                }
                let (left, right) = (answers[0], answers[1])
                let tokens = devices.map(\.accessToken)
                async let one = stage.post(
                    "/v1/account/addresses/email", left, token: tokens[0], to: clients[0],
                    network: 2 * trial)
                async let two = stage.post(
                    "/v1/account/addresses/email", right, token: tokens[1], to: clients[1],
                    network: 2 * trial + 1)
                let statuses = try await [one, two].map(\.status)
                #expect(statuses.sorted() == [200, 409], "trial \(trial)")
                let winner = statuses[0] == 200 ? 0 : 1
                let former = "fay-\(trial)-\(winner)@example.com"
                var back = try await stage.code(
                    "/v1/auth/address-returns/email", ["address": former], to: former,
                    by: clients[0], network: 100 + trial)
                back["password"] = Self.password
                let answer = back
                async let first = stage.post(
                    "/v1/auth/address-returns/email/complete", answer, to: clients[0],
                    network: 100 + trial)
                async let second = stage.post(
                    "/v1/auth/address-returns/email/complete", answer, to: clients[1],
                    network: 100 + trial)
                #expect(try await [first, second].map(\.status).sorted() == [200, 401])
                let again = try await stage.signInByCode(
                    former, at: clients[1], network: 100 + trial)
                #expect(again.userID == devices[winner].userID)
            }
        }
    }

    @Test func `no session outlives a disabling`() async throws {
        try await withTwoServers { stage in
            let (deployment, first, second) = (stage.deployment, stage.first, stage.second)
            for trial in 0..<Self.trials {
                var ada = Device(first)
                try await ada.signIn(deployment.google, as: "ada-\(trial)")
                let token = deployment.google.token(subject: "ada-\(trial)")
                let id = ada.userID
                async let disabled = deployment.tool.run([
                    "disable", id, "--reason", "stolen phone", "--case", "T-6",
                ])
                var sessions = [ada.accessToken]
                for attempt in 0..<20 {
                    let client = attempt.isMultiple(of: 2) ? first : second
                    let answer = try await client.call(
                        "POST", "/v1/auth/sign-in/google", ["id_token": token])
                    #expect([200, 403].contains(answer.status), "\(answer)")
                    sessions += answer.text("access_token").map { [$0] } ?? []
                }
                #expect(try await disabled.status == 0)
                for session in sessions {
                    let account = try await second.call("GET", "/v1/account", token: session)
                    #expect(account.status == 401, "trial \(trial)")
                }
            }
        }
    }
}

/// Two servers on one database.
private struct Stage: Sendable {
    let deployment: Deployment
    let first: WireClient
    let second: WireClient

    /// Sends a request from a client network of its own, since a network gets few codes an hour.
    func post(
        _ path: String, _ body: [String: any Sendable], token: String? = nil, to client: WireClient,
        network: Int
    ) async throws -> WireClient.Answer {
        var headers = [
            "Content-Type": "application/json", "X-Forwarded-For": "10.1.\(network).1",
        ]
        if let token { headers["Authorization"] = "Bearer \(token)" }
        return try await client.send(
            "POST", path, headers: headers, body: JSONSerialization.data(withJSONObject: body))
    }

    /// Requests a code and returns the members that answer it.
    func code(
        _ path: String, _ body: [String: any Sendable], token: String? = nil, to address: String,
        by client: WireClient, network: Int
    ) async throws -> [String: String] {
        struct Outbox: Decodable {
            struct Message: Decodable {
                let to: String
                let text: String
                let message_id: String
            }
            let messages: [Message]
        }
        func outbox() async throws -> [Outbox.Message] {
            // Each process keeps what it has sent, whichever wrote it.
            var messages: [Outbox.Message] = []
            for server in [first, second] {
                let page = try await server.call("GET", "/dev/outbox")
                messages += try JSONDecoder().decode(Outbox.self, from: page.body).messages
            }
            return messages.filter { $0.to == address && $0.text.contains(/[0-9]{6}/) }
        }
        let before = Set(try await outbox().map(\.message_id))
        let asked = try await post(path, body, token: token, to: client, network: network)
        #expect(asked.status == 200, "\(asked)")
        let text = try await eventually("a code to \(address)") {
            try await outbox().first { !before.contains($0.message_id) }?.text
        }
        let found = try #require(text.firstMatch(of: /[0-9]{6}/)?.output)
        return ["challenge_id": asked.text("challenge_id") ?? "", "code": String(found)]
    }

    func signUp(
        _ address: String, at client: WireClient, network: Int
    ) async throws -> Device {
        let answer = try await code(
            "/v1/auth/sign-up/password", ["email": address, "password": AddressRaceTests.password],
            to: address, by: client, network: network)
        var device = Device(client)
        device.keep(
            try await post("/v1/auth/sign-in/password", answer, to: client, network: network))
        try #require(!device.userID.isEmpty)
        return device
    }

    func signInByCode(
        _ address: String, at client: WireClient, network: Int
    ) async throws -> Device {
        let answer = try await code(
            "/v1/auth/codes/email", ["address": address], to: address, by: client, network: network)
        var device = Device(client)
        device.keep(
            try await post("/v1/auth/sign-in/email", answer, to: client, network: network))
        try #require(!device.userID.isEmpty)
        return device
    }
}
