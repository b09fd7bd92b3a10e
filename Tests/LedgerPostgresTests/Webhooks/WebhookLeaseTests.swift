import Cryptography
import Encodings
import Foundation
import Ledger
import LedgerTestSupport
import Postgres
import StandardWebhooks
import Testing

@testable import LedgerEngine
@testable import LedgerPostgres

/// The right to send to an endpoint, and its signatures.
@Suite struct WebhookLeaseTests {
    @Test func `a frozen dispatcher writes nothing once another one has taken over`()
        async throws
    {
        try await WebhookFixture.with { fixture in
            for guest in 0..<6 { _ = try await fixture.signIn("guest \(guest)", times: 3) }
            _ = try await fixture.add()
            let frozen = TestReceiver()
            frozen.close()
            let first = fixture.dispatcher(to: frozen) {
                $0.renewal = .seconds(3_600)
                $0.search = .seconds(3_600)
            }
            let running = Task { await first.run() }
            try await soon("the first to send") {
                !frozen.requests.isEmpty
            }
            let stale = try await lease(fixture)
            // As if it had been frozen for longer than its lease lasts.
            try await fixture.database.asSuperuser.execute(
                "UPDATE webhook_cursors SET expires_at = clock_timestamp() - interval '1 s'")
            try await fixture.running(fixture.dispatcher()) {
                try await fixture.settled()
                #expect(try await lease(fixture) != stale)
                frozen.open()
                try await soon("the first to have released it") {
                    first.outcomes.isEmpty && first.isIdle
                }
            }
            running.cancel()
            await running.value
            let log = try await fixture.sequencer.log()
            #expect(fixture.receiver.positions.sorted() == log.indices.map(Int64.init))
            #expect(try await fixture.webhook()?.next.value == Int64(log.count))
        }
    }

    private func lease(_ fixture: WebhookFixture) async throws -> String {
        try await fixture.texts("SELECT coalesce(lease::text, '') FROM webhook_cursors")[0]
    }

    @Test func `every write requires its lease, and moves the cursor from its position`()
        async throws
    {
        try await WebhookFixture.with { fixture in
            _ = try await fixture.signIn("ada")
            let id = try await fixture.add()
            let store = PostgresDispatcherStore(
                url: fixture.database.runtimeURL, keyring: SequencerFixture.keyring,
                leaseSeconds: 60)
            let held = try #require(try await store.takeLeases().first)
            #expect(held.id == id)
            #expect(try await store.takeLeases() == [])
            let stale = LeasedWebhook(
                tenant: .default, id: id, lease: EntityID(bits: 1))
            var changes = DeliveryChanges()
            changes.moved = (from: LogPosition(0), to: LogPosition(2))
            await #expect(throws: DispatcherFault.notHeld) {
                try await store.write(changes, of: stale)
            }
            await #expect(throws: DispatcherFault.notHeld) { _ = try await store.load(stale) }
            #expect(try await fixture.webhook()?.next.value == 0)
            try await store.write(changes, of: held)
            #expect(try await fixture.webhook()?.next.value == 2)
            // The same again: the cursor is elsewhere, so the write is refused.
            await #expect(throws: DispatcherFault.notHeld) {
                try await store.write(changes, of: held)
            }
            await store.release(stale)
            #expect(try await store.takeLeases() == [])
            await store.release(held)
            #expect(try await store.takeLeases().count == 1)
            await store.close()
        }
    }

    @Test func `two dispatchers share endpoints, and one that stops leaves them to the other`()
        async throws
    {
        try await WebhookFixture.with { fixture in
            for _ in 0..<4 { _ = try await fixture.add() }
            let other = TestReceiver()
            let stopping = fixture.dispatcher(to: other)
            let running = Task { await stopping.run() }
            try await fixture.running(fixture.dispatcher()) {
                for guest in 0..<5 { _ = try await fixture.signIn("guest \(guest)", times: 2) }
                running.cancel()
                await running.value
                for guest in 0..<5 { _ = try await fixture.signIn("guest \(guest)", times: 2) }
                try await soon("all four to settle") {
                    let all = try await fixture.asOperator { try $0.webhooks() }
                    return all.allSatisfy { $0.lag == 0 && $0.pending == 0 }
                }
            }
            let log = try await fixture.sequencer.log()
            let told = (fixture.receiver.positions + other.positions).reduce(into: [:]) {
                $0[$1, default: 0] += 1
            }
            #expect(told.keys.sorted() == log.indices.map(Int64.init))
            for (position, count) in told { #expect(count >= 4, "position \(position)") }
        }
    }

    @Test func `a connection that is lost again and again loses no event`() async throws {
        try await WebhookFixture.with { fixture in
            _ = try await fixture.add()
            fixture.receiver.answer { _ in Bool.random() ? .ok : .status(500) }
            let dispatcher = fixture.dispatcher {
                $0.retries = RetrySchedule(delays: Array(repeating: 0, count: 1_000))
            }
            try await fixture.running(dispatcher) {
                for round in 0..<20 {
                    // Before the events: all of them may be sent before this test goes on.
                    let told = fixture.receiver.requests.count
                    for guest in 0..<3 { _ = try await fixture.signIn("guest \(guest)") }
                    dispatcher.wake()
                    try await soon("more in round \(round)") {
                        fixture.receiver.requests.count > told
                    }
                    _ = try await fixture.texts(
                        """
                        SELECT pg_terminate_backend(pid)::text FROM pg_stat_activity
                        WHERE datname = current_database()
                            AND application_name = 'account-ledger webhooks'
                        """)
                }
                fixture.receiver.answer { _ in .ok }
                try await fixture.settled()
            }
            let log = try await fixture.sequencer.log()
            #expect(Set(fixture.receiver.positions) == Set(log.indices.map(Int64.init)))
            var histories: [String: [Int64]] = [:]
            var seen: Set<Int64> = []
            for request in fixture.receiver.requests
            where seen.insert(try #require(request.position)).inserted {
                for (account, sequence) in request.accounts {
                    histories[account, default: []].append(sequence)
                }
            }
            for sequences in histories.values {
                #expect(sequences == sequences.indices.map(Int64.init))
            }
        }
    }

    @Test func `a secret that is replaced signs until its end`() async throws {
        try await WebhookFixture.with { fixture in
            let (old, new) = (WebhookSecret.generate(), WebhookSecret.generate())
            let id = try await fixture.add(secret: old)
            let dispatcher = fixture.dispatcher()
            try await fixture.running(dispatcher) {
                try await fixture.settled()
                let isThere = try await fixture.asOperator { store in
                    try store.rotate(
                        id, to: new, overlapSeconds: 1_000_000_000,
                        keyring: SequencerFixture.keyring)
                }
                #expect(isThere)
                _ = try await fixture.signIn("during")
                try await fixture.settled()
                let during = try #require(fixture.receiver.requests.last)
                #expect(signers(of: during, among: [old, new]) == [new, old])
                fixture.clock.advance(seconds: 1_000_000_000)
                _ = try await fixture.signIn("after")
                try await fixture.settled()
            }
            let requests = fixture.receiver.requests
            #expect(signers(of: requests[0], among: [old, new]) == [old])
            let after = try #require(requests.last)
            #expect(signers(of: after, among: [old, new]) == [new])
        }
    }

    /// Returns the secrets whose signatures a request carries, in order.
    private func signers(
        of request: WebhookRequest, among secrets: [WebhookSecret]
    ) -> [WebhookSecret] {
        let seconds = request.field("webhook-timestamp").flatMap { Int64($0) } ?? 0
        let id = request.field("webhook-id") ?? ""
        return (request.field("webhook-signature") ?? "").split(separator: " ").compactMap { one in
            secrets.first { $0.signature(id: id, seconds: seconds, body: request.body) == one }
        }
    }

    @Test func `secrets are rewrapped with another key, and unreadable without it`() async throws {
        try await WebhookFixture.with { fixture in
            let secret = WebhookSecret.generate()
            _ = try await fixture.add(secret: secret)
            let stored = try await fixture.texts(
                """
                SELECT strpos(t::text, '\(Hex.encode(Array(secret.bytes.prefix(4))))')::text
                FROM webhook_secrets t
                """)
            #expect(stored == ["0"])
            let key = try #require(SymmetricKey(bytes: Array(repeating: 1, count: 32)))
            let old = try #require(SymmetricKey(bytes: Array(repeating: 0x5A, count: 32)))
            let both = WrappingKeyring(
                currentID: "next", current: key, former: ["test": old],
                macs: SequencerFixture.keyring.macs)
            let report = try await Rewrapping(url: fixture.database.ownerURL, keyring: both) {
                _, _, _ in []
            }
            .run()
            #expect(report.rewrapped(.webhookSecrets) == 1 && report.isComplete)
            let store = PostgresDispatcherStore(
                url: fixture.database.runtimeURL,
                keyring: WrappingKeyring(
                    currentID: "next", current: key, macs: SequencerFixture.keyring.macs),
                leaseSeconds: 60)
            let held = try #require(try await store.takeLeases().first)
            #expect(try await store.load(held).secrets.map(\.secret) == [secret])
            await store.close()
            let without = PostgresDispatcherStore(
                url: fixture.database.runtimeURL, keyring: SequencerFixture.keyring,
                leaseSeconds: 60)
            await #expect(throws: DispatcherFault.secretUnreadable) {
                _ = try await without.load(held)
            }
            await without.close()
        }
    }

    @Test func `each change is in the access log, without addresses and secrets`() async throws {
        try await WebhookFixture.with { fixture in
            let id = try await fixture.add(types: [.accountsMerged])
            try await fixture.asOperator { store in
                _ = try store.setEnabled(false, id)
                _ = try store.setEnabled(true, id)
                _ = try store.rotate(
                    id, to: .generate(), overlapSeconds: 0, keyring: SequencerFixture.keyring)
                _ = try store.replay(id, position: nil)
                _ = try store.remove(id)
                #expect(try store.setEnabled(true, id) == false)
            }
            let lines = try await fixture.texts(
                "SELECT action || ' ' || details FROM access_log ORDER BY position")
            #expect(
                lines == [
                    #"webhook.add {"from":"0","types":"AccountsMerged","webhook":"\#(id)"}"#,
                    #"webhook.disable {"webhook":"\#(id)"}"#,
                    #"webhook.enable {"webhook":"\#(id)"}"#,
                    #"webhook.rotate_secret {"overlap_seconds":"0","webhook":"\#(id)"}"#,
                    #"webhook.replay {"position":"all","webhook":"\#(id)"}"#,
                    #"webhook.remove {"webhook":"\#(id)"}"#,
                ])
            let beyond = try await fixture.asOperator { store in
                try store.add(
                    id, url: "https://receiver.example/", types: [], from: LogPosition(99),
                    secret: .generate(), keyring: SequencerFixture.keyring)
            }
            #expect(beyond == nil)
            for change in [
                "INSERT INTO webhook_endpoints SELECT * FROM webhook_endpoints",
                "UPDATE webhook_endpoints SET url = ''", "DELETE FROM webhook_secrets",
                "DELETE FROM webhook_cursors",
            ] {
                let refusal = try await fixture.database.asRuntime.refusal(of: change)
                #expect(refusal == .insufficientPrivilege, "\(change)")
            }
        }
    }
}
