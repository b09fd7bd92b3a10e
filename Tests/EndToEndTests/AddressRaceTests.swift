import Foundation
import LedgerTestSupport
import Testing

/// Races of identities that addresses find, over HTTP against two processes on one database.
@Suite(.timeLimit(.minutes(10))) struct AddressRaceTests {
    private static let trials = 8
    private static let password = TwoServers.password
    private static let other = "another horse battery staple"

    @Test func `two sign-ups of one address that are confirmed at once open one account`()
        async throws
    {
        try await TwoServers.with { stage in
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

    @Test func `no session that the former password opened outlives a change of it`()
        async throws
    {
        try await TwoServers.with { stage in
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
        try await TwoServers.with { stage in
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
        try await TwoServers.with { stage in
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
