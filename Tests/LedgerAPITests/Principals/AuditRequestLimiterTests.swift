import Ledger
import LedgerAPI
import LedgerTestSupport
import Synchronization
import Testing

/// Slow reads of principals take no capacity from people who sign in.
@Suite(.overBothTransports) struct AuditRequestLimiterTests {
    /// A reader whose first sixteen answers wait until they are released.
    private final class HeldEvents: EventReader {
        private struct State {
            var isOpen = false
            var waiting: [CheckedContinuation<Void, Never>] = []
        }

        private let state = Mutex(State())

        var waitingCount: Int { state.withLock { $0.waiting.count } }

        func letGo() {
            let waiting = state.withLock { state in
                state.isOpen = true
                defer { state.waiting = [] }
                return state.waiting
            }
            for continuation in waiting { continuation.resume() }
        }

        func events(
            matching query: EventQuery, in tenant: TenantID, isDisclosing: Bool
        ) async throws(LedgerFault) -> CursorPage<ShownEvent> {
            await withCheckedContinuation { continuation in
                let isHeld = state.withLock { state in
                    let isHeld = !state.isOpen && state.waiting.count < 16
                    if isHeld { state.waiting.append(continuation) }
                    return isHeld
                }
                if !isHeld { continuation.resume() }
            }
            return CursorPage(elements: [], cursor: nil, hasMore: false)
        }

        func formerLink(
            of identity: IdentityID, to account: AccountID, in tenant: TenantID
        ) async throws(LedgerFault) -> FormerLink? { nil }

        func event(
            _ id: EventID, in tenant: TenantID, isDisclosing: Bool
        ) async throws(LedgerFault) -> ShownEvent? { nil }
    }

    @Test func `requests beyond sixteen are refused, and people still sign in`() async throws {
        let events = HeldEvents()
        let service = try TestService { $0.events = events }
        let key = try service.audit.key(.auditor)
        let slow = "/v1/events?provider=x&outcome=refused"
        let held = Task {
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<16 {
                    group.addTask { try await service.send("GET", slow, token: key).status }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
        }
        _ = try await eventually("sixteen requests to wait", within: .seconds(120)) {
            events.waitingCount == 16 ? true : nil
        }
        let person = try await service.signIn("google", "ada")
        for path in [slow, "/v1/log/keys", "/v1/accounts/\(person.userID)", "/v1/access-log"] {
            let answer = try await service.send("GET", path, token: key)
            #expect(answer.summary == "503 UNAVAILABLE")
            #expect(answer["Retry-After"] == "1")
        }
        #expect(service.audit.access.accesses().count == 16, "a refused request shows nothing")
        #expect(try await service.account(person.accessToken).status == 200)
        // Without a key, a request does not learn that the limit is reached.
        #expect(try await service.send("GET", slow, token: "alk_").summary == "401 INVALID_API_KEY")
        events.letGo()
        #expect(try await held.value == Array(repeating: 200, count: 16))
        // Every way out releases the permit.
        for path in [slow, "/v1/events?bogus=1", "/v1/accounts/x", "/v1/events/x"] {
            for role in Role.allCases {
                for _ in 0..<10 {
                    let answer = try await service.send(
                        "GET", path, token: try service.audit.key(role))
                    #expect(answer.status != 503)
                }
            }
        }
    }
}
