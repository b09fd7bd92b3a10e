import Ledger
import LedgerEngine
import LedgerTestSupport
import Testing

@testable import LedgerPostgres

/// The dependencies between deliveries.
@Suite struct WebhookFlowTests {
    @Test func `one refused account uses no capacity of the others`() async throws {
        try await WebhookFixture.with { fixture in
            let ada = try await fixture.signIn("ada", times: 40)
            _ = try await fixture.add()
            fixture.receiver.answer { $0.accounts["\(ada)"] == nil ? .ok : .status(500) }
            let dispatcher = fixture.dispatcher { $0.pendingMax = 4 }
            try await fixture.running(dispatcher) {
                for guest in 0..<6 { _ = try await fixture.signIn("guest \(guest)", times: 2) }
                dispatcher.wake()
                let log = try await fixture.sequencer.log().map(\.recorded)
                let hers = Set(
                    log.filter { $0.accounts.contains { $0.id == ada } }.map(\.position.value))
                #expect(hers.count >= 40)
                try await soon("everybody else's events") {
                    guard let webhook = try await fixture.webhook(), webhook.lag == 0 else {
                        return false
                    }
                    return webhook.pending == Int64(hers.count) && webhook.dead == 0
                }
                let told = fixture.receiver.positions
                #expect(told.filter { !hers.contains($0) }.count == log.count - hers.count)
                #expect(told.filter(hers.contains) == [hers.min()])
                fixture.receiver.answer { _ in .ok }
                fixture.clock.advance(seconds: 5)
                dispatcher.wake()
                try await fixture.settled()
                #expect(
                    fixture.receiver.positions.filter(hers.contains).dropFirst().elementsEqual(
                        hers.sorted()))
            }
        }
    }

    @Test func `a receiver that recovers is noticed although no more events are read`() async throws
    {
        try await WebhookFixture.with { fixture in
            for guest in 0..<8 { _ = try await fixture.signIn("guest \(guest)") }
            _ = try await fixture.add()
            fixture.receiver.answer { _ in .status(500) }
            let dispatcher = fixture.dispatcher {
                $0.pendingMax = 4
                $0.retries = RetrySchedule(delays: [86_400], jitter: { 1 })
            }
            try await fixture.running(dispatcher) {
                try await soon("the first events to be refused") {
                    try await fixture.texts(
                        "SELECT 'x' FROM webhook_deliveries WHERE attempts = 1"
                    ).count >= 3
                }
                fixture.clock.advance(seconds: 600)
                dispatcher.wake()
                try await soon("one to be sent again") {
                    let positions = fixture.receiver.positions
                    return Set(positions).count < positions.count
                }
                #expect(
                    try await fixture.texts("SELECT max(attempts)::text FROM webhook_deliveries")
                        == ["1"], "it is no attempt of the plan")
                #expect(try await fixture.webhook()?.lag != 0)
                fixture.receiver.answer { _ in .ok }
                fixture.clock.advance(seconds: 600)
                dispatcher.wake()
                try await fixture.settled()
            }
        }
    }

    @Test func `a restore is sent to every endpoint, between the events before and after it`()
        async throws
    {
        try await WebhookFixture.with { fixture in
            for guest in 0..<3 { _ = try await fixture.signIn("early \(guest)") }
            let restore = try await fixture.restore()
            for guest in 0..<3 { _ = try await fixture.signIn("late \(guest)") }
            _ = try await fixture.add(types: [.signedIn])
            fixture.receiver.close()
            let dispatcher = fixture.dispatcher()
            try await fixture.running(dispatcher) {
                try await soon("the first three") { fixture.receiver.requests.count == 3 }
                fixture.receiver.answer { $0.position == restore ? .status(500) : .ok }
                fixture.receiver.open()
                try await soon("the restore to be refused") {
                    try await fixture.texts(
                        "SELECT position || ' ' || attempts FROM webhook_deliveries")
                        == ["\(restore) 1"]
                }
                #expect(try await fixture.webhook()?.lag != 0)
                fixture.receiver.answer { _ in .ok }
                fixture.clock.advance(seconds: 5)
                dispatcher.wake()
                try await fixture.settled()
            }
            let told = fixture.receiver.positions
            #expect(told.count == 8 && told.prefix(3).allSatisfy { $0 < restore })
            #expect(told.dropFirst(3).prefix(2) == [restore, restore])
            #expect(told.dropFirst(5).allSatisfy { $0 > restore })
            #expect(Set(told).count == 7)
        }
    }
}
