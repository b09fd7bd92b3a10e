import Ledger
import LedgerTestSupport

@testable import LedgerAPI

extension RefusalTests {
    /// The refusals of erasures that need two administrators.
    static let ofErasures: [String: [Attempt]] = [
        "403 SECOND_ADMINISTRATOR_REQUIRED": [
            Attempt(isPrepared: false) { run in
                let token = try run.service.audit.key(.admin)
                try await run.askErasure(by: token)
                return try await run.send(token: token)
            }
        ],
        "404 ERASURE_REQUEST_NOT_FOUND": [
            Attempt {
                try await $0.send(
                    "0190a1b2-ffff-7000-8000-000000000001", for: ExampleValue.erasureRequest)
            }
        ],
        "409 ERASURE_PLAN_CHANGED": [
            Attempt { try await $0.send("x", for: ExampleValue.planDigest) }
        ],
        "409 ERASURE_REQUESTED": [
            Attempt(options: { $0.eraseNeedsTwo = true }) { run in
                _ = try await run.send(token: try run.service.audit.key(.admin))
                return try await run.send()
            }
        ],
        "409 LEGAL_HOLD": [
            Attempt { run in
                _ = try await run.support("/v1/accounts/\(run.ada.userID)/holds", nil)
                let plan = try await run.support(
                    "/v1/accounts/\(run.ada.userID)/erasure/preview", nil)
                return try await run.send(
                    plan.text("plan_digest") ?? "", for: ExampleValue.planDigest)
            }
        ],
        "410 ACCOUNT_ERASED": [
            Attempt { run in
                // An operator, who needs no second person.
                guard let account = AccountID(run.ada.userID) else { return try await run.send() }
                _ = try await run.service.ledger.submit(
                    Command(
                        id: CommandID(bits: 1), tenant: .default,
                        origin: Command.Origin(request: nil, clientIP: nil, userAgent: nil),
                        intent: .eraseAccount(
                            EraseAccount(account: account, basis: .operator, actor: .system))))
                return try await run.send()
            }
        ],
    ]
}
