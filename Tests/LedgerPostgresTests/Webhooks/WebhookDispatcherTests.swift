import Cryptography
import Foundation
import Ledger
import LedgerTestSupport
import Postgres
import StandardWebhooks
import Testing

@testable import LedgerEngine
@testable import LedgerPostgres

/// The requests that are sent, their order, and the fate of refused ones.
@Suite struct WebhookDispatcherTests {
    @Test func `every event is sent once, in order per account, as it is stored`() async throws {
        try await WebhookFixture.with { fixture in
            for guest in 0..<12 { _ = try await fixture.signIn("guest \(guest)", times: 3) }
            let secret = WebhookSecret.generate()
            _ = try await fixture.add(secret: secret)
            let dispatcher = fixture.dispatcher()
            try await fixture.running(dispatcher) {
                for guest in 0..<12 { _ = try await fixture.signIn("guest \(guest)", times: 3) }
                dispatcher.wake()
                try await fixture.settled()
            }
            let requests = fixture.receiver.requests
            let log = try await fixture.sequencer.log()
            #expect(requests.compactMap(\.position).sorted() == log.indices.map(Int64.init))
            expectOrder(requests)
            for request in requests {
                let event = log[Int(try #require(request.position))].recorded
                #expect(request.url == "https://receiver.example/hook")
                #expect(request.field("webhook-id") == event.id.description)
                #expect(request.field("webhook-timestamp") == "2000000000")
                #expect(
                    request.field("webhook-signature")
                        == secret.signature(
                            id: event.id.description, seconds: 2_000_000_000, body: request.body))
                let body = String(decoding: request.body, as: UTF8.self)
                let entry = String(decoding: EntryEncoding.encode(event), as: UTF8.self)
                #expect(
                    body == """
                        {"type":"\(event.event.name.rawValue)","timestamp":"\(event.recordedAt)",\
                        "data":{"tenant":"default","position":"\(event.position)",\
                        "event_id":"\(event.id)",\
                        "leaf":"\(log[Int(event.position.value)].leaf)","entry":\(entry)}}
                        """)
            }
        }
    }

    /// Checks that the first delivery of each event follows those of its accounts' earlier events.
    private func expectOrder(_ requests: [WebhookRequest]) {
        var seen: [String: [Int64]] = [:]
        for request in requests {
            for (account, sequence) in request.accounts
            where !seen[account, default: []].contains(sequence) {
                seen[account, default: []].append(sequence)
            }
        }
        for (account, sequences) in seen {
            #expect(sequences == sequences.indices.map(Int64.init), "account \(account)")
        }
    }

    @Test func `a refused event is retried as planned, given up, and sent again on request`()
        async throws
    {
        try await WebhookFixture.with { fixture in
            let ada = try await fixture.signIn("ada")
            let first = try #require(
                try await fixture.sequencer.log().first { $0.recorded.accounts.first?.id == ada }
            ).recorded.position.value
            let id = try await fixture.add()
            fixture.receiver.answer { $0.position == first ? .status(500) : .ok }
            let dispatcher = fixture.dispatcher()
            try await fixture.running(dispatcher) {
                for (attempt, pause) in [(1, Int64(5)), (2, 30)] {
                    try await attempted(attempt, first, fixture)
                    // An unrelated account is not delayed.
                    _ = try await fixture.signIn("bob \(attempt)")
                    try await delivered(fixture)
                    fixture.clock.advance(seconds: pause - 1)
                    _ = try await fixture.signIn("carol \(attempt)")
                    try await delivered(fixture)
                    #expect(fixture.receiver.positions.count { $0 == first } == attempt)
                    fixture.clock.advance(seconds: 1)
                    dispatcher.wake()
                }
                try await fixture.settled(1)
                let letters = try await fixture.asOperator { try $0.deadLetters(of: id) }
                let letter = try #require(letters.first)
                #expect(letters.count == 1 && letter.position.value == first)
                #expect(letter.attempts == 3 && letter.reason == "500")
                #expect(letter.accounts == [ada])
                let later = fixture.receiver.requests.filter { $0.accounts["\(ada)"] != nil }
                #expect(Set(later.compactMap(\.position)).count > 1, "later events flow")

                let wrong = try await fixture.asOperator { store in
                    try store.replay(id, position: LogPosition(first + 1))
                }
                #expect(wrong == 0)
                fixture.receiver.answer { _ in .ok }
                let again = try await fixture.asOperator { try $0.replay(id, position: nil) }
                #expect(again == 1)
                try await fixture.settled()
            }
            let attempts = fixture.receiver.requests.filter { $0.position == first }
            #expect(attempts.count == 4 && Set(attempts.map(\.body)).count == 1)
            #expect(Set(attempts.map { $0.field("webhook-id") }).count == 1)
            #expect(Set(attempts.map { $0.field("webhook-signature") }).count == 3)
            #expect(dispatcher.outcomes.first { $0.outcome == "refused" }?.count == 3)
            #expect(try await unknown(fixture) == nil)
        }
    }

    private func unknown(_ fixture: WebhookFixture) async throws -> Int? {
        try await fixture.asOperator { try $0.replay(WebhookID(bits: 1), position: nil) }
    }

    private func attempted(
        _ count: Int, _ position: Int64, _ fixture: WebhookFixture
    ) async throws {
        try await soon("attempt \(count)") {
            let attempts = try await fixture.texts(
                "SELECT attempts::text FROM webhook_deliveries WHERE position = \(position)")
            return attempts == ["\(count)"]
        }
    }

    /// Waits until only Ada's events are pending.
    private func delivered(_ fixture: WebhookFixture) async throws {
        try await soon("other accounts' events") {
            guard let webhook = try await fixture.webhook(), webhook.lag == 0 else { return false }
            let others = try await fixture.texts(
                """
                SELECT position::text FROM webhook_deliveries d WHERE NOT accounts && (
                    SELECT accounts FROM webhook_deliveries ORDER BY position LIMIT 1)
                """)
            return others.isEmpty
        }
    }

    @Test func `a receiver gets the requested pause`() async throws {
        try await WebhookFixture.with { fixture in
            _ = try await fixture.signIn("ada")
            let id = try await fixture.add()
            fixture.receiver.answer { _ in .answered(status: 429, retryAfterSeconds: 100) }
            let dispatcher = fixture.dispatcher { $0.inFlightMax = 1 }
            try await fixture.running(dispatcher) {
                try await attempted(1, 0, fixture)
                let first = fixture.receiver.requests.count
                #expect(first == 1)
                fixture.receiver.answer { _ in .ok }
                fixture.clock.advance(seconds: 99)
                // Makes the dispatcher poll the log, and so the due events.
                _ = try await fixture.signIn("bob")
                dispatcher.wake()
                try await soon("another look") {
                    try await fixture.webhook()?.lag == 0
                }
                #expect(fixture.receiver.requests.count == 1)
                fixture.clock.advance(seconds: 1)
                dispatcher.wake()
                try await fixture.settled()
            }
            #expect(try await fixture.asOperator { try $0.deadLetters(of: id) } == [])
        }
    }

    @Test func `a receiver that is gone gets nothing more until it is enabled`() async throws {
        try await WebhookFixture.with { fixture in
            let id = try await fixture.add()
            fixture.receiver.answer { _ in .status(410) }
            let dispatcher = fixture.dispatcher { $0.inFlightMax = 1 }
            try await fixture.running(dispatcher) {
                _ = try await fixture.signIn("ada")
                dispatcher.wake()
                try await soon("the webhook to be gone") {
                    try await fixture.webhook()?.state == .gone
                }
                try await soon("its lease to be released") {
                    try await fixture.texts(
                        "SELECT (lease IS NULL)::text FROM webhook_cursors") == ["true"]
                }
                #expect(fixture.receiver.requests.count == 1)
                fixture.receiver.answer { _ in .ok }
                #expect(try await fixture.asOperator { try $0.setEnabled(true, id) })
                try await fixture.settled()
            }
            expectOrder(fixture.receiver.requests)
            #expect(Set(fixture.receiver.positions).count == fixture.receiver.requests.count - 1)
        }
    }

    @Test func `pending events are sent immediately once the webhook is enabled`()
        async throws
    {
        try await WebhookFixture.with { fixture in
            let id = try await fixture.add()
            fixture.receiver.answer { _ in .status(500) }
            let dispatcher = fixture.dispatcher {
                $0.retries = RetrySchedule(delays: [86_400], jitter: { 1 })
            }
            try await fixture.running(dispatcher) {
                _ = try await fixture.signIn("ada")
                dispatcher.wake()
                try await soon("an attempt") {
                    try await fixture.texts(
                        "SELECT DISTINCT 'x' FROM webhook_deliveries WHERE attempts > 0") == ["x"]
                }
                fixture.receiver.answer { _ in .ok }
                #expect(try await fixture.asOperator { try $0.setEnabled(true, id) })
                try await fixture.settled()
            }
        }
    }

    @Test func `a disabled endpoint gets nothing, and everything afterwards`() async throws {
        try await WebhookFixture.with { fixture in
            let id = try await fixture.add()
            #expect(try await fixture.asOperator { try $0.setEnabled(false, id) })
            let ada = try await fixture.signIn("ada", times: 4)
            let dispatcher = fixture.dispatcher()
            try await fixture.running(dispatcher) {
                // Another endpoint shows that the dispatcher has polled.
                let other = try await fixture.add(types: [.accountOpened])
                try await soon("the other webhook") {
                    let webhooks = try await fixture.asOperator { try $0.webhooks() }
                    return webhooks.first { $0.id == other }?.lag == 0
                }
                #expect(fixture.receiver.positions.allSatisfy { $0 == 1 })
                #expect(try await fixture.asOperator { try $0.remove(other) })
                #expect(try await fixture.asOperator { try $0.setEnabled(true, id) })
                try await fixture.settled()
            }
            let told = Set(fixture.receiver.requests.compactMap { $0.accounts["\(ada)"] })
            #expect(told.count == Int(told.max() ?? 0) + 1 && told.count >= 4)
            #expect(try await fixture.asOperator { try $0.remove(id) })
            #expect(try await fixture.asOperator { try $0.remove(id) } == false)
            for table in ["endpoints", "cursors", "secrets", "deliveries"] {
                #expect(
                    try await fixture.texts("SELECT count(*)::text FROM webhook_\(table)")
                        == ["0"])
            }
        }
    }

    @Test func `events of other types are skipped, and none before the first is sent`()
        async throws
    {
        try await WebhookFixture.with { fixture in
            _ = try await fixture.signIn("early")
            _ = try await fixture.add(types: [.signedIn, .accountOpened], from: nil)
            let size = Int64(try await fixture.sequencer.log().count)
            for guest in 0..<3 { _ = try await fixture.signIn("guest \(guest)", times: 2) }
            try await fixture.running(fixture.dispatcher()) { try await fixture.settled() }
            let log = try await fixture.sequencer.log()
            let wanted = log.map(\.recorded).filter {
                $0.position.value >= size
                    && [.signedIn, .accountOpened].contains($0.event.name)
            }
            #expect(fixture.receiver.positions.sorted() == wanted.map(\.position.value))
            #expect(try await fixture.webhook()?.next.value == Int64(log.count))
        }
    }

    @Test func `a receiver that is slow makes the log wait, within bounds`() async throws {
        try await WebhookFixture.with { fixture in
            for guest in 0..<30 { _ = try await fixture.signIn("guest \(guest)") }
            _ = try await fixture.add()
            fixture.receiver.close()
            let dispatcher = fixture.dispatcher {
                $0.pendingMax = 7
                $0.behindMax = 4
                $0.inFlightMax = 3
            }
            try await fixture.running(dispatcher) {
                try await soon("three requests") {
                    fixture.receiver.requests.count == 3
                }
                // Commands continue; no more events are enqueued than there is capacity for.
                _ = try await fixture.signIn("another")
                dispatcher.wake()
                let webhook = try #require(try await fixture.webhook())
                #expect(webhook.pending == 7 && webhook.next.value == 7 && webhook.lag > 20)
                #expect(fixture.receiver.requests.count == 3)
                fixture.receiver.open()
                try await fixture.settled()
            }
            let log = try await fixture.sequencer.log()
            #expect(fixture.receiver.positions.sorted() == log.indices.map(Int64.init))
        }
    }
}
