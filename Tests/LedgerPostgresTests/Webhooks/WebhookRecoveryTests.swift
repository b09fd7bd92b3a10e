import Ledger
import LedgerEngine
import LedgerTestSupport
import StandardWebhooks
import Testing

@testable import LedgerPostgres

/// An endpoint whose dispatcher stops, loses an answer, or cannot read the log.
@Suite struct WebhookRecoveryTests {
    @Test func `a commit without an answer is noticed, and the endpoint reloaded`()
        async throws
    {
        try await WebhookFixture.with { fixture in
            _ = try await fixture.signIn("ada", times: 2)
            _ = try await fixture.add()
            fixture.receiver.close()
            let faults = TestFaults()
            let dispatcher = fixture.dispatcher(telling: faults) {
                $0.pendingMax = 1
                // Nothing in this test may depend on a lease that lapses.
                $0.leaseSeconds = 3_600
            }
            try await fixture.running(dispatcher) {
                try await soon("the first event") { fixture.receiver.requests.count == 1 }
                // Like a transaction whose COMMIT is not answered.
                try await fixture.database.asSuperuser.execute(
                    """
                    INSERT INTO webhook_deliveries (tenant_id, endpoint_id, position, event_id,
                        type, accounts, state, attempts, next_attempt_at)
                    SELECT c.tenant_id, c.endpoint_id, e.position, e.event_id, e.type,
                        ARRAY[e.account_id], 'pending', 0, to_timestamp(0)
                    FROM webhook_cursors c JOIN events e
                        ON e.tenant_id = c.tenant_id AND e.position = c.next_position;
                    UPDATE webhook_cursors SET next_position = next_position + 1
                    """)
                fixture.receiver.open()
                try await fixture.settled()
            }
            let log = try await fixture.sequencer.log()
            #expect(Set(fixture.receiver.positions) == Set(log.indices.map(Int64.init)))
            #expect(faults.all == [])
        }
    }

    @Test func `an event answered while the dispatcher stops is not sent again`() async throws {
        try await WebhookFixture.with { fixture in
            for guest in 0..<4 { _ = try await fixture.signIn("guest \(guest)") }
            _ = try await fixture.add()
            fixture.receiver.close()
            let stopping = fixture.dispatcher {
                $0.inFlightMax = 3
                $0.drainLimit = .seconds(120)
            }
            // The receiver answers only after the dispatcher was stopped.
            try await fixture.running(stopping) {
                try await soon("three requests") { fixture.receiver.requests.count == 3 }
            }
            #expect(
                try await fixture.texts("SELECT (lease IS NULL)::text FROM webhook_cursors")
                    == ["true"])
            #expect(stopping.outcomes.map(\.count) == [3])
            try await fixture.running(fixture.dispatcher()) { try await fixture.settled() }
            let log = try await fixture.sequencer.log()
            #expect(fixture.receiver.positions.sorted() == log.indices.map(Int64.init))
        }
    }

    @Test func `a pause that the receiver asked for outlasts the dispatcher`() async throws {
        try await WebhookFixture.with { fixture in
            _ = try await fixture.signIn("ada")
            _ = try await fixture.add()
            fixture.receiver.answer { _ in .answered(status: 429, retryAfterSeconds: 60) }
            try await fixture.running(fixture.dispatcher { $0.inFlightMax = 1 }) {
                try await soon("the refusal to be written") {
                    try await fixture.texts(
                        "SELECT count(*)::text FROM webhook_deliveries WHERE status = 429")
                        == ["1"]
                }
            }
            #expect(fixture.receiver.requests.count == 1)
            fixture.receiver.answer { _ in .ok }
            let dispatcher = fixture.dispatcher()
            try await fixture.running(dispatcher) {
                // The second one is read after all due events of the first one's step have begun.
                for guest in ["bob", "carol"] {
                    _ = try await fixture.signIn(guest)
                    try await soon("the events to be read") {
                        try await fixture.webhook()?.lag == 0
                    }
                }
                fixture.clock.advance(seconds: 60)
                dispatcher.wake()
                try await fixture.settled()
            }
            let times = fixture.receiver.requests.map { $0.field("webhook-timestamp") }
            #expect(times.count > 2 && times.first == "2000000000")
            #expect(times.dropFirst().allSatisfy { $0 == "2000000060" })
        }
    }

    @Test func `a receiver that never answers delays a dispatcher's stop only briefly`()
        async throws
    {
        try await WebhookFixture.with { fixture in
            _ = try await fixture.add()
            fixture.receiver.close()
            let dispatcher = fixture.dispatcher { $0.drainLimit = .milliseconds(1) }
            let running = Task { await dispatcher.run() }
            try await soon("a request") { fixture.receiver.requests.count == 1 }
            running.cancel()
            await running.value
            #expect(
                try await fixture.texts("SELECT (lease IS NULL)::text FROM webhook_cursors")
                    == ["true"])
            #expect(try await fixture.webhook()?.pending == 1)
            fixture.receiver.open()
        }
    }

    /// The damage of an event, and its reversal.
    private static let damages = [
        ("SET entry = set_byte(entry, 0, 32)", "SET entry = set_byte(entry, 0, 123)", 0),
        ("SET position = position + 1000000", "SET position = position - 1000000", 1_000_000),
    ]

    @Test(arguments: damages)
    func `a damaged or missing event is not skipped, and is reported`(
        damage: String, mending: String, moved: Int
    ) async throws {
        try await WebhookFixture.with { fixture in
            for guest in 0..<3 { _ = try await fixture.signIn("guest \(guest)") }
            let damaged: Int64 = 5
            try await fixture.tamper("UPDATE events \(damage) WHERE position = \(damaged)")
            _ = try await fixture.add()
            let faults = TestFaults()
            let dispatcher = fixture.dispatcher(telling: faults)
            try await fixture.running(dispatcher) {
                try await soon("the dispatcher to report it") {
                    faults.all.contains { $0.contains("is halted: position \(damaged):") }
                }
                // It is reported before the events before it are written, and so before they are pending.
                try await soon("the events before it to be sent") {
                    let webhook = try await fixture.webhook()
                    return webhook?.next.value == damaged && webhook?.pending == 0
                }
                #expect(fixture.receiver.positions.sorted() == Array(0..<damaged))
                try await fixture.database.asSuperuser.execute(
                    "UPDATE events \(mending) WHERE position = \(damaged + Int64(moved))")
                try await fixture.settled()
            }
            #expect(faults.all.count { $0.contains("is halted") } == 1)
        }
    }

    @Test func `events are selected by their entries, not by their rows`() async throws {
        try await WebhookFixture.with { fixture in
            for guest in 0..<3 { _ = try await fixture.signIn("guest \(guest)") }
            let log = try await fixture.sequencer.log().map(\.recorded)
            let opened = log.filter { $0.event.name == .accountOpened }.map(\.position.value)
            try await fixture.tamper(
                """
                UPDATE events SET type = CASE type WHEN 'AccountOpened' THEN 'SignedIn'
                    ELSE 'AccountOpened' END
                """)
            _ = try await fixture.add(types: [.accountOpened])
            try await fixture.running(fixture.dispatcher()) { try await fixture.settled() }
            #expect(opened.count == 3 && fixture.receiver.positions.sorted() == opened)
        }
    }
}
