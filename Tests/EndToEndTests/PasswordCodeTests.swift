import LedgerTestSupport
import Testing

/// Passwords that strangers have tried too often, over HTTP against two processes on one database.
@Suite(.timeLimit(.minutes(10))) struct PasswordCodeTests {
    private static let signIn = "/v1/auth/sign-in/password"
    private static let codes = "/v1/auth/codes/password"
    private static let victim = "ada@example.com"
    private static let unknown = "eve@example.com"
    /// The wrong passwords of an hour for an address, and of them those of one client network.
    private static let tries = (all: 100, network: 20)

    /// Uses up the tries of an address, at both processes.
    private func tryAll(_ address: String, _ stage: TwoServers) async throws {
        let body = ["email": address, "password": "not the right password"]
        try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<Self.tries.all {
                if number >= 8 { #expect(try await group.next() == 401) }
                group.addTask {
                    try await stage.post(
                        Self.signIn, body,
                        to: number.isMultiple(of: 2) ? stage.first : stage.second,
                        network: 100 + number / Self.tries.network
                    ).status
                }
            }
            for try await status in group { #expect(status == 401) }
        }
    }

    @Test func `a code to the address lifts the limit that strangers have reached`() async throws {
        try await TwoServers.with { stage in
            let ada = try await stage.signUp(Self.victim, at: stage.first, network: 1)
            var refusals: Set<String> = []
            for address in [Self.victim, Self.unknown] {
                try await tryAll(address, stage)
                let refused = try await stage.post(
                    Self.signIn, ["email": address, "password": TwoServers.password],
                    to: stage.second, network: 2)
                #expect(refused.status == 429 && refused.header("Retry-After") != nil)
                refusals.insert(String(decoding: refused.body, as: UTF8.self))
            }
            #expect(refusals.count == 1, "\(refusals)")
            #expect(try #require(refusals.first).contains(#""needs":"code""#))
            let proof = [
                "email": Self.victim, "password": TwoServers.password,
            ].merging(
                try await stage.code(
                    Self.codes, ["address": Self.victim], to: Self.victim, by: stage.first,
                    network: 2)
            ) { $1 }
            // A wrong code is one try of its challenge, and leaves it open.
            let code = try #require(proof["code"])
            let wrong = try await stage.post(
                Self.signIn, proof.merging(["code": code == "000000" ? "000001" : "000000"]) { $1 },
                to: stage.second, network: 2)
            #expect(wrong.errorCode == "INVALID_CODE")
            async let one = stage.post(Self.signIn, proof, to: stage.first, network: 2)
            async let two = stage.post(Self.signIn, proof, to: stage.second, network: 2)
            let answers = try await [one, two].sorted { $0.status < $1.status }
            #expect(answers.map(\.status) == [200, 401])
            #expect(answers[0].text("user_id") == ada.userID)
            #expect(answers[1].errorCode == "INVALID_CODE")
        }
    }
}
