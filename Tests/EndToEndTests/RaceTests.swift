import LedgerTestSupport
import Testing

/// Races that lock users out of other systems, over HTTP against two processes on one database.
@Suite struct RaceTests {
    private static let trials = 200
    /// The number of concurrent trials; each is two simultaneous requests.
    private static let width = 10

    @Test func `both identities unlinked at the same instant leave exactly one`() async throws {
        try await withTwoServers { deployment, first, second in
            try await trials { trial in
                var phone = Device(first)
                try await phone.signIn(deployment.apple, as: "unlink-\(trial)")
                let linked = try await phone.link(deployment.google, as: "unlink-\(trial)")
                #expect(linked.status == 200)
                var laptop = Device(second)
                try await laptop.signIn(deployment.google, as: "unlink-\(trial)")

                let (phone2, laptop2) = (phone, laptop)
                async let one = phone2.unlink(deployment.google)
                async let other = laptop2.unlink(deployment.apple)
                let statuses = try await [one, other].map(\.status).sorted()
                // The loser is told that it is the only one, or that its session went with the identity.
                #expect(statuses == [200, 400] || statuses == [200, 401], "trial \(trial)")
                var back = Device(first)
                let google = try await back.signIn(deployment.google, as: "unlink-\(trial)")
                let apple = try await back.signIn(deployment.apple, as: "unlink-\(trial)")
                let same = [google, apple].filter { $0.text("user_id") == phone.userID }
                #expect(same.count == 1, "exactly one identity still opens the account")
            }
        }
    }

    @Test func `two accounts that link one identity give one 200 and one 409`() async throws {
        try await withTwoServers { deployment, first, second in
            try await trials { trial in
                var one = Device(first)
                var two = Device(second)
                try await one.signIn(deployment.apple, as: "left-\(trial)")
                try await two.signIn(deployment.apple, as: "right-\(trial)")
                let (left, right) = (one, two)
                async let a = left.link(deployment.google, as: "wanted-\(trial)")
                async let b = right.link(deployment.google, as: "wanted-\(trial)")
                let statuses = try await [a, b].map(\.status).sorted()
                #expect(statuses == [200, 409], "trial \(trial)")
            }
        }
    }

    @Test func `one identity that signs up twice at once opens one account`() async throws {
        try await withTwoServers { deployment, first, second in
            try await trials { trial in
                let devices = [Device(first), Device(second)]
                let token = deployment.google.token(subject: "twice-\(trial)")
                async let a = devices[0].client.call(
                    "POST", "/v1/auth/sign-in/google", ["id_token": token])
                async let b = devices[1].client.call(
                    "POST", "/v1/auth/sign-in/google", ["id_token": token])
                let answers = try await [a, b]
                #expect(answers.map(\.status) == [200, 200])
                #expect(Set(answers.map { $0.text("user_id") }).count == 1)
                let news = answers.filter { $0.json["is_new_user"] as? Bool == true }
                #expect(news.count == 1)
            }
        }
    }

    @Test func `one idempotency key at the same instant is one event and one answer`() async throws
    {
        try await withTwoServers { deployment, first, second in
            try await trials { trial in
                var phone = Device(first)
                try await phone.signIn(deployment.apple, as: "key-\(trial)")
                let token = deployment.google.token(subject: "key-\(trial)")
                let (access, body) = (phone.accessToken, ["id_token": token])
                async let a = first.call(
                    "POST", "/v1/auth/link/google", body, token: access, key: "k")
                async let b = second.call(
                    "POST", "/v1/auth/link/google", body, token: access, key: "k")
                let answers = try await [a, b]
                #expect(answers.map(\.status) == [200, 200])
                #expect(answers[0].text("message") == answers[1].text("message"))
            }
        }
    }

    @Test func `the link budget is right across processes`() async throws {
        try await withTwoServers { deployment, first, second in
            var phone = Device(first)
            try await phone.signIn(deployment.apple, as: "budget")
            let access = phone.accessToken
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for attempt in 0..<20 {
                    let client = attempt % 2 == 0 ? first : second
                    group.addTask {
                        let body = ["id_token": "not.a.token\(attempt)"]
                        return try await client.call(
                            "POST", "/v1/auth/link/google", body, token: access
                        ).status
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses.count { $0 == 401 } == 5)
            #expect(statuses.count { $0 == 429 } == 15)
        }
    }

    private func withTwoServers(
        _ body: (Deployment, WireClient, WireClient) async throws -> Void
    ) async throws {
        try await Deployment.with { deployment in
            let first = try await deployment.serve()
            let second = try await deployment.serve()
            try await body(deployment, first.persistentClient, second.persistentClient)
            try await expectVerified(deployment)
            #expect(!first.log.contains("\"status\":500") && !second.log.contains("\"status\":500"))
            try await first.stop()
            try await second.stop()
        }
    }

    private func trials(_ trial: @Sendable @escaping (Int) async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for lane in 0..<Self.width {
                group.addTask {
                    for number in stride(from: lane, to: Self.trials, by: Self.width) {
                        try await trial(number)
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}
