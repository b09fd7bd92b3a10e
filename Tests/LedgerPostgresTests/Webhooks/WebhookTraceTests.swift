import Ledger
import LedgerEngine
import LedgerTestSupport
import StandardWebhooks
import Testing

@testable import LedgerPostgres

/// The traces of requests on their way to the receivers of webhooks.
@Suite struct WebhookTraceTests {
    private func signIn(
        _ fixture: WebhookFixture, _ name: String, trace: TraceContext?
    ) async throws {
        var generator = SeededGenerator(seed: UInt64.random(in: 0...(.max)))
        _ = try await fixture.sequencer.submit(
            .signIn(
                SignIn(
                    proof(
                        subject("apple", name),
                        authenticatedAt: Timestamp(seconds: 1_000_000_000)),
                    createAccount: true, refreshToken: digest(generator.bytes(32)),
                    newAccount: generator.id(), newIdentity: generator.id(),
                    newSession: generator.id())), trace: trace
        ).get()
    }

    @Test func `each event is sent with the span of its request`() async throws {
        try await WebhookFixture.with { fixture in
            _ = try await fixture.add()
            let first = TraceContext(traceID: 0xA1, spanID: 0xB1, flags: 1)
            let second = TraceContext(traceID: 0xA2, spanID: 0xB2, flags: 0)
            try await signIn(fixture, "ada", trace: first)
            try await signIn(fixture, "bob", trace: nil)
            try await signIn(fixture, "eve", trace: second)
            try await fixture.running(fixture.dispatcher()) { try await fixture.settled() }
            let sent = fixture.receiver.requests.sorted { ($0.position ?? 0) < ($1.position ?? 0) }
            let events = (sent.count - 1) / 3
            #expect(events == 3)
            let expected =
                [nil]
                + [first?.text, nil, second?.text].flatMap {
                    Array(repeating: $0, count: events)
                }
            #expect(sent.map { $0.field("traceparent") } == expected)
        }
    }

    @Test func `a trace is forgotten after three days, and its event is sent without it`()
        async throws
    {
        try await WebhookFixture.with { fixture in
            _ = try await fixture.add()
            let trace = TraceContext(traceID: 0xA1, spanID: 0xB1, flags: 1)
            try await signIn(fixture, "ada", trace: trace)
            let sweeper = Sweeper(url: fixture.database.runtimeURL) { _ in }
            _ = try await sweeper.sweep()
            let count = "SELECT count(*)::text FROM event_traces"
            #expect(try await fixture.texts(count) == ["3"])
            try await fixture.database.asSuperuser.execute(
                "UPDATE event_traces SET recorded_at = recorded_at - interval '73 hours'")
            _ = try await sweeper.sweep()
            #expect(try await fixture.texts(count) == ["0"])
            try await fixture.running(fixture.dispatcher()) { try await fixture.settled() }
            #expect(fixture.receiver.requests.allSatisfy { $0.field("traceparent") == nil })
        }
    }

    @Test func `without a webhook no trace is stored`() async throws {
        try await WebhookFixture.with { fixture in
            let trace = TraceContext(traceID: 0xA1, spanID: 0xB1, flags: 1)
            try await signIn(fixture, "ada", trace: trace)
            #expect(try await fixture.texts("SELECT traceparent FROM event_traces") == [])
        }
    }

    @Test func `a position that is used again gets the trace of its new event`() async throws {
        try await WebhookFixture.with { fixture in
            _ = try await fixture.add()
            try await fixture.database.asSuperuser.execute(
                """
                INSERT INTO event_traces (tenant_id, position, traceparent, recorded_at)
                SELECT 'default', p, 'former', statement_timestamp() FROM generate_series(0, 9) p
                """)
            let trace = TraceContext(traceID: 0xA1, spanID: 0xB1, flags: 1)
            try await signIn(fixture, "ada", trace: trace)
            let texts = try await fixture.texts(
                "SELECT traceparent FROM event_traces WHERE position BETWEEN 1 AND 3")
            #expect(texts == Array(repeating: trace?.text, count: 3))
        }
    }
}
