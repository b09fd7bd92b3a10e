import JSON
import Ledger
import LedgerMessages
import LedgerTestSupport
import Testing

@testable import LedgerAPI

/// Messages as support sees them over HTTP.
@Suite(.overBothTransports) struct MessagesTests {
    private static let account = AccountID(bits: 7)

    private func message(_ number: UInt128, _ state: SentMessage.State) -> SentMessage {
        let time = Timestamp(seconds: 1_795_000_000)
        return SentMessage(
            id: MessageID(bits: number), account: number == 1 ? nil : Self.account,
            channel: "email", template: "new_device", language: "en", state: state,
            createdAt: time, expiresAt: time.adding(seconds: 600),
            endedAt: state == .pending ? nil : time, attempts: 1,
            responseCode: state == .failed ? 550 : nil, fault: nil)
    }

    private func service() throws -> TestService {
        let messages = InMemoryMessages([
            message(1, .sent), message(2, .sent), message(3, .failed), message(4, .pending),
        ])
        return try TestService { $0.messages = messages }
    }

    private func get(
        _ query: String, _ service: TestService, as role: Role = .support
    ) async throws -> Answer {
        try await service.send(
            "GET", "/v1/audit/messages\(query)", token: try service.audit.key(role))
    }

    private func ids(_ answer: Answer) -> [String] {
        (answer.json["messages"]?.array ?? []).compactMap {
            $0.members?["message_id"]?.string.map { String($0.suffix(1)) }
        }
    }

    @Test func `messages are listed by account and state, in pages`() async throws {
        let service = try service()
        #expect(ids(try await get("", service)) == ["1", "2", "3", "4"])
        let own = try await get("?account_id=\(Self.account)&limit=2", service)
        #expect(ids(own) == ["2", "3"])
        #expect(own.body.contains(#""more":true"#))
        let next = try #require(own.json["next"]?.string)
        let rest = try await get("?account_id=\(Self.account)&after=\(next)", service)
        #expect(ids(rest) == ["4"])
        let failed = try await get("?state=failed", service, as: .admin)
        #expect(ids(failed) == ["3"])
        #expect(failed.body.contains(#""response_code":"550""#))
        #expect(try await get("?state=lost", service).status == 400)
        #expect(try await get("?account_id=x", service).status == 400)
    }

    @Test func `an auditor has no part in it, and a read is recorded`() async throws {
        let service = try service()
        #expect(try await get("", service, as: .auditor).status == 403)
        _ = try await get("?account_id=\(Self.account)", service)
        let accesses = service.audit.access.accesses(of: .default)
        #expect(accesses.map(\.action) == ["message.list", "message.list"])
        #expect(accesses.map(\.outcome) == ["refused", "allowed"])
        #expect(accesses.last?.account == Self.account)
    }
}
