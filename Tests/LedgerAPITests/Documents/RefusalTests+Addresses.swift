import Ledger
import LedgerTestSupport
import Testing

@testable import LedgerAPI

extension RefusalTests {
    /// The refusals of changes of addresses.
    static let ofAddresses: [String: [Attempt]] = [
        "400 WEAK_PASSWORD": [
            Attempt { run in
                try await run.send(
                    body: run.body?.replacing(ExampleValue.password, with: "short"))
            }
        ],
        "401 INVALID_CODE": [Attempt { try await $0.send("000000", for: "270831") }],
        "401 INVALID_PASSWORD": [
            Attempt { run in
                try await run.send(
                    body: run.body?.replacing(
                        "}", with: ",\"current_password\":\"another horse\"}"))
            }
        ],
        "403 REAUTHENTICATION_REQUIRED": [
            Attempt { run in
                run.service.clock.advance(seconds: 300)
                try await run.sendChange(to: "new@example.com", by: run.caller)
                run.service.clock.advance(seconds: 301)
                let refreshed = try await run.service.refresh(run.caller.refreshToken)
                run.accessToken = refreshed.text("access_token") ?? ""
                return try await run.send()
            }
        ],
        "403 ADDRESS_UNUSED": [Attempt { try await $0.sendUnusedNumber() }],
        "404 PROVIDER_NOT_LINKED": [
            Attempt { run in
                try await run.send(body: run.body?.replacing("ada@", with: "eve@"))
            }
        ],
        "409 PROVIDER_CONFLICT": [
            Attempt { run in
                let sent = try await run.service.send(
                    "POST", "/v1/account/codes/email", "{\"address\":\"bob@example.com\"}",
                    token: run.bob.accessToken)
                _ = try await run.service.send(
                    "POST", "/v1/auth/link/email", run.answer(to: sent),
                    token: run.bob.accessToken)
                try await run.sendChange(to: "bob@example.com", by: run.caller)
                return try await run.send()
            }
        ],
    ]
}

extension ExampleRun {
    /// Sends the code of Ada's number after half a year without use, for the plan if the example has one.
    fileprivate mutating func sendUnusedNumber() async throws -> Answer {
        let number = "\"address\":\"+4915123456789\""
        let linking = try await service.send(
            "POST", "/v1/account/codes/phone", "{\(number)}", token: ada.accessToken)
        _ = try await service.send(
            "POST", "/v1/auth/link/phone", answer(to: linking), token: ada.accessToken)
        service.clock.advance(seconds: 181 * 86_400)
        accessToken = try await service.signIn("apple", "bob").accessToken
        let plan = values[ExampleValue.planDigest].map { ",\"plan_digest\":\"\($0)\"" } ?? ""
        let place = operation.id == "sign_in" ? "auth" : "account"
        let sent = try await service.send(
            "POST", "/v1/\(place)/codes/phone", "{\(number)\(plan)}", token: accessToken)
        return try await send(
            body: "{\"provider\":\"phone\"\(plan),\(answer(to: sent).dropFirst())",
            target: target.replacing("/google", with: "/phone"))
    }

    /// Sends the code of a change of address, which the example then answers.
    mutating func sendChange(to address: String, by person: Person) async throws {
        let sent = try await service.send(
            "POST", "/v1/account/codes/email", "{\"address\":\"\(address)\",\"change\":true}",
            token: person.accessToken)
        values[ExampleValue.challenge] = sent.text("challenge_id")
        values["270831"] = service.challenges.sent.last?.message.code
    }
}
